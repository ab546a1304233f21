"""What a bare audit measures, for data as people have it."""

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import audit
from unskew.audits.audit import Audit
from unskew.audits.kinds import MOST, suggested
from unskew.core.batch import Batch

CHANCE = np.random.default_rng(5)
N = 600


def chat(i: int) -> dict[str, Any]:
    system = [{"role": "system", "content": "Be brief."}] if i % 3 == 0 else []
    question = {"role": "user", "content": f"What is {i} plus {i % 7}?"}
    tools = [{"role": "assistant", "content": None}, {"role": "tool", "content": "7"}] * (
        i % 5 == 0
    )
    return {
        "id": f"chat-{i:05}",
        "messages": [*system, question, *tools, {"role": "assistant", "content": str(i + i % 7)}],
        "meta": {"lang": str(CHANCE.choice(["en", "en", "de"])), "score": CHANCE.random()},
        "tags": CHANCE.permutation(["math", "python", "easy"])[: i % 3].tolist(),
    }


def rlvr(i: int) -> dict[str, Any]:
    level = ["easy", "hard"][i % 4 == 0]
    return {
        "prompt": f"Add {i} and {i * i}, and think before you answer.",
        "answer": str(i % 5),
        "info": json.dumps({"difficulty": level, "source": {"year": 2020 + i % 3}}),
        "extra_info": {"split": "train", "index": i},
        "verification_info": json.dumps({"ground_truth": f"{i}", "tests": ["a"] * (i % 2)}),
    }


def task(i: int) -> dict[str, Any]:
    metadata = {"source_dataset": "gcd", "source_index": i, "difficulty": {"num_terms": [2, 3]}}
    return {
        "question": f"Find the greatest common divisor of {2 * i} and {3 * i}.",
        "answer": "1" if i % 3 else "2",
        "metadata": metadata | {"numbers": [2 * i, 3 * i], "result": i % 9},
    }


def table() -> pa.Table:
    rng = np.random.default_rng(1)
    start = datetime.datetime(2023, 1, 1)
    times = [start + datetime.timedelta(hours=37 * i, minutes=i) for i in range(N)]
    days = [time.date() if i % 50 else None for i, time in enumerate(times)]
    return pa.table(
        {
            "when": pa.array(times, pa.timestamp("ns")),
            "day": pa.array([day and day.replace(day=1) for day in days]),
            "kind": pa.array(["a", "b", "b"] * (N // 3)).dictionary_encode(),
            "score": pa.array(rng.normal(0, 1, N)),
            "stars": pa.array([i % 5 if i % 10 else None for i in range(N)], pa.int8()),
            "spam": pa.array([i % 4 == 0 for i in range(N)]),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(rng.random(4 * N)), 4),
            "labels": pa.array([[["x"], ["x", "y"], [], None][i % 4] for i in range(N)]),
            "picture": pa.array([bytes(i) for i in range(N)]),
            "same": pa.array(["v1"] * N),
            "empty": pa.nulls(N),
        }
    )


def as_arrow(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows)


def of_both(rows: list[dict[str, Any]], folder: Path) -> list[Audit]:
    """Return the audits of the rows as Python dicts, as JSONL and as Parquet."""
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pq.write_table(as_arrow(rows), folder / "rows.parquet")
    return [audit(rows), audit(folder / "rows.jsonl"), audit(folder / "rows.parquet")]


def counts(result: Audit, name: str) -> dict[Any, int]:
    return dict(result.variables[name].counts)


def test_chats(tmp_path: Path) -> None:
    rows = [chat(i) for i in range(N)]
    for result in of_both(rows, tmp_path):
        assert {name: v.doc for name, v in result.variables.items()} == {
            "characters(id)": "length in characters",
            "turns(messages)": "number of messages",
            "roles(messages)": "different roles, in order of first appearance",
            "last_role(messages)": "role of the last message",
            "characters(messages)": "length in characters",
            "meta.lang": "by value",
            "meta.score": "by value, in 20 bins of 0.05",
            "count(tags)": "number of items",
            "has(tags, python)": "yes or no: does tags hold 'python'",
            "has(tags, math)": "yes or no: does tags hold 'math'",
            "has(tags, easy)": "yes or no: does tags hold 'easy'",
        }
        assert result.left_out == {}
        assert counts(result, "roles(messages)") == {
            "system user assistant": 160,
            "system user assistant tool": 40,
            "user assistant": 320,
            "user assistant tool": 80,
        }
        assert counts(result, "last_role(messages)") == {"assistant": N}
        assert counts(result, "turns(messages)") == {2: 320, 3: 160, 4: 80, 5: 40}
        assert counts(result, "characters(id)") == {10: N}
        languages = [row["meta"]["lang"] for row in rows]
        assert counts(result, "meta.lang") == {x: languages.count(x) for x in ("de", "en")}
        python = sum("python" in row["tags"] for row in rows)
        assert counts(result, "has(tags, python)") == {False: N - python, True: python}


def test_tasks_with_verifiable_answers(tmp_path: Path) -> None:
    rows = [rlvr(i) for i in range(N)]
    for result in of_both(rows, tmp_path):
        assert list(result.variables) == [
            "characters(prompt)",
            "words(prompt)",
            "answer",
            "info.difficulty",
            "info.source.year",
            "extra_info.split",
            "extra_info.index",
            "characters(verification_info.ground_truth)",
            "count(verification_info.tests)",
        ]
        assert counts(result, "info.difficulty") == {"easy": 450, "hard": 150}
        assert counts(result, "info.source.year") == {2020: 200, 2021: 200, 2022: 200}
        assert counts(result, "extra_info.split") == {"train": N}
        assert counts(result, "words(prompt)") == {9: N}
        assert counts(result, "count(verification_info.tests)") == {0: 300, 1: 300}
        assert result.variables["extra_info.index"].edges


def test_tasks_of_reasoning_gym() -> None:
    rows = [task(i) for i in range(N)]
    for data in (rows, as_arrow(rows)):
        batch = Batch.of(rows) if data is rows else Batch.from_arrow(data)
        variables, left_out = suggested(batch)
        assert [variable.name for variable in variables] == [
            "characters(question)",
            "words(question)",
            "answer",
            "metadata.source_dataset",
            "metadata.source_index",
            "count(metadata.difficulty.num_terms)",
            "count(metadata.numbers)",
            "metadata.result",
        ]
        assert left_out == {}


def test_a_table_with_dates_categories_and_numbers(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "table.parquet")
    result = audit(tmp_path / "table.parquet")
    assert list(result.variables) == [
        "year(when)",
        "month(when)",
        "weekday(when)",
        "hour(when)",
        "day",
        "year(day)",
        "month(day)",
        "weekday(day)",
        "kind",
        "score",
        "stars",
        "spam",
        "count(vector)",
        "count(labels)",
        "has(labels, x)",
        "has(labels, y)",
        "count(picture)",
        "same",
        "empty",
    ]
    assert counts(result, "kind") == {"a": 200, "b": 400}
    assert counts(result, "stars") == {0: 60, 1: 120, 2: 120, 3: 120, 4: 120, None: 60}
    assert counts(result, "spam") == {False: 450, True: 150}
    assert counts(result, "count(labels)") == {0: 150, 1: 150, 2: 150, None: 150}
    assert counts(result, "has(labels, y)") == {False: 300, True: 150, None: 150}
    assert counts(result, "year(when)") == {2023: 237, 2024: 237, 2025: 126}
    assert counts(result, "month(day)")[None] == 12
    assert counts(result, "same") == {"v1": N}
    assert counts(result, "empty") == {None: N}
    assert result.variables["score"].edges


def test_texts_as_messages_and_lists_as_text() -> None:
    rows = [{"chat": json.dumps(chat(i)["messages"]), "ids": f"[{i}, {i}]"} for i in range(60)]
    result = audit(rows)
    assert list(result.variables) == [
        *("turns(chat)", "roles(chat)", "last_role(chat)", "characters(chat)"),
        *("count(ids)", "characters(ids)"),
    ]
    assert counts(result, "count(ids)") == {2: 60}


def test_examples_that_are_no_dicts() -> None:
    assert counts(audit([1, 2, 2]), "example") == {1: 1, 2: 2}
    assert list(audit(f"row {i}" for i in range(50)).variables) == [
        "characters(example)",
        "words(example)",
    ]
    assert counts(audit([[1], [1, 2], []]), "count(example)") == {0: 1, 1: 1, 2: 1}


def test_values_of_numpy_and_tuples() -> None:
    rows = [{"grid": np.arange(i % 3), "at": (i % 2, 0), "path": (i, i), 5: i} for i in range(90)]
    assert list(audit(rows).variables) == ["count(grid)", "at", "count(path)"]
    assert counts(audit(rows), "count(grid)") == {0: 30, 1: 30, 2: 30}


def test_mixed_kinds_are_measured_as_most_of_them_suggest() -> None:
    mixed = [
        {"x": [1] * (i % 3) if i % 10 else "none", "y": i if i % 2 else "n"} for i in range(90)
    ]
    result = audit(mixed)
    assert list(result.variables) == ["count(x)", "y"]
    assert counts(result, "count(x)")[None] == 9
    assert counts(result, "y")["n"] == 45


def test_later_rows_of_another_kind_do_not_stop_an_audit() -> None:
    rows: list[dict[str, Any]] = [
        {"a": "x", "t": f"{i} text", "l": [i], "d": {"k": i % 2}} for i in range(5000)
    ]
    rows += [{"a": [1], "t": 7, "l": "none", "d": None}, {"a": {}, "t": [], "l": {}, "d": [3]}]
    result = audit(rows)
    assert counts(result, "a") == {"x": 5000, "[1]": 1, "{}": 1}
    assert [counts(result, name)[None] for name in ("characters(t)", "count(l)", "d.k")] == [
        1,
        2,
        2,
    ]


def test_no_more_than_forty_variables_and_the_rest_is_named() -> None:
    rows = [{"wide": {f"k{j}": i % 2 for j in range(50)}, "last": i % 3} for i in range(30)]
    result = audit(rows)
    assert len(result.variables) == MOST
    assert list(result.variables)[-1] == "last"
    assert list(result.left_out) == [f"wide.k{j}" for j in range(39, 50)]
    assert result.left_out["wide.k49"] == "beyond the first 40 variables; name it to measure it"


def test_what_is_too_wide_or_too_deep_is_named() -> None:
    deep: Any = 1
    for _ in range(7):
        deep = {"k": deep}
    rows = [{"deep": deep, "odd": {"a[": 1}, "x": 1}]
    result = audit(rows)
    assert list(result.variables) == ["x"]
    assert result.left_out == {
        "deep.k.k.k.k": "dicts in dicts in dicts; name what is inside: deep.k.k.k.k.k",
        "odd.a[": "path 'odd.a[' has brackets that do not match; write it as meta.lang or "
        "messages[-1].role",
    }


VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=3)
    | st.dates()
    | st.decimals(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner)
        | st.lists(st.fixed_dictionaries({"role": inner, "content": inner}), max_size=2)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), VALUE), min_size=1, max_size=8))
def test_a_bare_audit_never_fails(rows: list[dict[str, Any]]) -> None:
    rows[0]["number"] = 1
    result = audit(rows)
    assert result.n == len(rows)
    assert all(v.n == len(rows) for v in result.variables.values())
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize("form", ["python", "arrow"])
def test_the_choice_is_the_same_each_time(form: str) -> None:
    rows = [chat(i) | rlvr(i) for i in range(100)]
    batch = Batch.of(rows) if form == "python" else Batch.from_arrow(as_arrow(rows))
    first, second = ([v.name for v in suggested(batch)[0]] for _ in range(2))
    assert first == second
