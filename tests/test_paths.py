"""Paths and measures: Arrow columns, Python examples and the slow twin give the same values."""

import datetime
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew
from tests.naive import paths as naive
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.column import column_variable

SPACE = st.sampled_from(["", " ", "a", "b é", "  x\ty ", "\u3000z\x1cw\n", "名 前"])
TEXT = SPACE | st.text(max_size=5)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system", "", None]),
        "content": st.none() | TEXT,
    }
)
PARTS = st.fixed_dictionaries(
    {
        "from": st.sampled_from(["human", "gpt"]),
        "value": st.none() | st.lists(st.fixed_dictionaries({"text": st.none() | TEXT})),
    }
)
NUMBER = st.none() | st.integers(-3, 3)
JSON = (
    st.none()
    | TEXT
    | st.fixed_dictionaries(
        {}, optional={"k": NUMBER, "l": st.lists(NUMBER, max_size=2), "m": st.lists(MESSAGE)}
    ).map(json.dumps)
    | st.lists(st.sampled_from(["x", "y"]), max_size=3).map(json.dumps)
)
INNER = {
    "i": NUMBER,
    "f": st.none() | st.sampled_from([0.5, -0.0, 0.0, float("nan"), float("inf")]),
    "b": st.none() | st.booleans(),
    "t": st.none() | TEXT,
    "j": JSON,
    "d": st.none() | st.dates().map(str),
    "numbers": st.none() | st.lists(NUMBER, max_size=3),
    "texts": st.none() | st.lists(st.none() | st.sampled_from(["x", "y", "3"]), max_size=3),
    "pair": st.none() | st.lists(NUMBER, min_size=2, max_size=2),
    "deep": st.none() | st.lists(st.none() | st.lists(TEXT, max_size=2), max_size=2),
    "messages": st.none() | st.lists(st.none() | MESSAGE, max_size=4),
    "parts": st.none() | st.lists(PARTS, max_size=3),
    "map": st.none() | st.dictionaries(st.sampled_from(["p", "q"]), NUMBER, max_size=2),
}
STRUCT = st.none() | st.fixed_dictionaries(INNER)
ROW = st.fixed_dictionaries(
    {**INNER, "s": STRUCT, "list": st.none() | st.lists(STRUCT, max_size=3)}
)

MESSAGE_TYPE = pa.struct([("role", pa.string()), ("content", pa.large_string())])
PARTS_TYPE = pa.struct(
    [("from", pa.string()), ("value", pa.list_(pa.struct([("text", pa.string())])))]
)
INNER_TYPES = [
    ("i", pa.int16()),
    ("f", pa.float64()),
    ("b", pa.bool_()),
    ("t", pa.string()),
    ("j", pa.large_string()),
    ("d", pa.string()),
    ("numbers", pa.large_list(pa.int32())),
    ("texts", pa.list_(pa.string())),
    ("pair", pa.list_(pa.int8(), 2)),
    ("deep", pa.list_(pa.list_(pa.string()))),
    ("messages", pa.list_(MESSAGE_TYPE)),
    ("parts", pa.large_list(PARTS_TYPE)),
    ("map", pa.map_(pa.string(), pa.int64())),
]
STRUCT_TYPE = pa.struct(INNER_TYPES)
SCHEMA = pa.schema([*INNER_TYPES, ("s", STRUCT_TYPE), ("list", pa.list_(STRUCT_TYPE))])

HOLDERS = ("", "s.", "list[0].", "list[-1].")
LEAVES = (
    *("i", "f", "b", "t", "d", "j.k", "j.l[0]", "j[1]", "numbers[0]", "numbers[-2]", "pair[1]"),
    *("map.p", "map.q", "messages[-1].role", "messages[1].content", "parts[0].value[0].text"),
    "deep[0][-1]",
)
MEASURED = (
    *(f"{measure}({path})" for measure in ("characters", "words") for path in ("t", "texts")),
    *(f"{measure}({path})" for measure in ("characters", "words") for path in ("deep", "parts")),
    *("characters(messages)", "words(messages)", "characters(messages[0])", "words(j.m)"),
    *("count(numbers)", "count(pair)", "count(j)", "count(j.l)", "count(deep)", "count(messages)"),
    *(f"{measure}(messages)" for measure in ("turns", "roles", "last_role")),
    *(f"{measure}(parts)" for measure in ("turns", "roles", "last_role")),
    *(f"{measure}(j.m)" for measure in ("turns", "roles", "last_role")),
    *("has(texts, x)", "has(texts, 3)", "has(numbers, 3)", "has(j, y)", "has(deep[0], a)"),
    *("year(d)", "month(d)", "weekday(d)"),
)
WRONG = ("characters(numbers)", "count(t)", "turns(numbers)", "roles(texts)", "hour(d)")
NAMES = LEAVES + MEASURED + WRONG


def with_paths(name: str, holder: str) -> str:
    measure, bracket, path = name.rpartition("(")
    return f"{measure}{bracket}{holder}{path}"


def given_values(batch: Batch, name: str) -> list[Any]:
    variable = column_variable(name)
    variable.measure(batch.head(0))
    try:
        return variable.measure(batch).tolist()
    except UnskewError as error:  # no row has the right kind
        return [None if " needs " in str(error) else error] * len(batch)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(ROW, min_size=1, max_size=6),
    st.sampled_from(NAMES),
    st.sampled_from(HOLDERS),
    st.integers(0, 2),
)
def test_arrow_python_and_the_twin_agree(
    rows: list[dict[str, Any]], name: str, holder: str, skipped: int
) -> None:
    name = with_paths(name, holder)
    table = pa.Table.from_pylist(rows, SCHEMA)
    sliced = Batch.from_arrow(table).slice(skipped, len(rows))
    expected = [naive.value(row, name) for row in rows]
    assert given_values(Batch.of(rows), name) == expected
    assert given_values(sliced, name) == expected[skipped:]


@pytest.mark.parametrize("holder", HOLDERS)
def test_every_name_agrees_on_many_rows(holder: str) -> None:
    rng = np.random.default_rng(0)
    rows = [row(rng) for _ in range(300)]
    batch = Batch.from_arrow(pa.Table.from_pylist(rows, SCHEMA))
    for name in (with_paths(name, holder) for name in NAMES):
        expected = [naive.value(row, name) for row in rows]
        assert given_values(Batch.of(rows), name) == expected, name
        assert given_values(batch, name) == expected, name
        assert given_values(batch.slice(7, 200), name) == expected[7:207], name
    measured = {
        name: {str(naive.value(row, with_paths(name, holder))) for row in rows} for name in NAMES
    }
    assert [name for name, values in measured.items() if values == {"None"}] == [
        "count(t)",
        "hour(d)",
    ]


def row(rng: np.random.Generator, depth: int = 1) -> dict[str, Any]:
    """Return a random row of the schema, with nulls on every level."""

    def maybe(make: Any) -> Any:
        return None if rng.random() < 0.15 else make()

    def text() -> str:
        return "".join(rng.choice(list("ab é\t "), int(rng.integers(6))).tolist())

    def items(make: Any, most: int = 3) -> list[Any]:
        return [make() for _ in range(int(rng.integers(most + 1)))]

    def number() -> Any:
        return maybe(lambda: int(rng.integers(-3, 4)))

    def message() -> Any:
        role = maybe(lambda: str(rng.choice(["user", "assistant", "system"])))
        return maybe(lambda: {"role": role, "content": maybe(text)})

    def part() -> Any:
        value = maybe(lambda: items(lambda: {"text": maybe(text)}))
        return {"from": str(rng.choice(["human", "gpt"])), "value": value}

    def opened() -> Any:
        if rng.random() < 0.3:
            return items(lambda: str(rng.choice(["x", "y"])))
        return {"k": number(), "l": items(number), "m": items(message)}

    made = {
        "i": number(),
        "f": maybe(lambda: float(rng.choice([0.5, -1.5, np.nan]))),
        "b": maybe(lambda: bool(rng.random() < 0.5)),
        "t": maybe(text),
        "j": maybe(lambda: json.dumps(opened()) if rng.random() < 0.8 else "none"),
        "d": maybe(lambda: str(datetime.date.fromordinal(int(rng.integers(1, 3_000_000))))),
        "numbers": maybe(lambda: items(number)),
        "texts": maybe(lambda: items(lambda: maybe(lambda: str(rng.choice(["x", "y", "3"]))))),
        "pair": maybe(lambda: [number(), number()]),
        "deep": maybe(lambda: items(lambda: maybe(lambda: items(text)))),
        "messages": maybe(lambda: items(message, 4)),
        "parts": maybe(lambda: items(part)),
        "map": maybe(lambda: {key: number() for key in "pq" if rng.random() < 0.6}),
    }
    if depth:
        made["s"] = maybe(lambda: row(rng, 0))
        made["list"] = maybe(lambda: items(lambda: maybe(lambda: row(rng, 0))))
    return made


@given(
    st.lists(
        st.none()
        | st.text(st.sampled_from("ab é名😀\x1c\x1f\x85\xa0\u1680\u2003\u2028\u3000\u200b"))
    )
)
def test_characters_and_words_are_pythons(texts: list[str | None]) -> None:
    for kind in (pa.string(), pa.large_string()):
        batch = Batch({"t": pa.array([*texts, "x", None], kind)[: len(texts)]})
        for name, of in {"characters(t)": len, "words(t)": lambda text: len(text.split())}.items():
            expected = [None if text is None else of(text) for text in texts]
            assert column_variable(name).measure(batch).tolist() == expected


def test_every_space_of_python_divides_words() -> None:
    texts = [f"a{chr(code)}b" for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    batch = Batch.from_arrow(pa.table({"t": texts}))
    expected = [len(text.split()) for text in texts]
    assert column_variable("words(t)").measure(batch).tolist() == expected


LAYOUTS = {
    "dictionary": pa.array(["b", "a", None, "b"]).dictionary_encode(),
    "view": pa.array(["b", "a", None, "b"], pa.string_view()),
    "large": pa.array(["b", "a", None, "b"], pa.large_string()),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 2, 3, 4], pa.array(["b", "a", None, "b"])),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_texts_of_every_layout(layout: str) -> None:
    column = LAYOUTS[layout]
    batch = Batch({"t": column, "s": pa.StructArray.from_arrays([column], ["t"])})
    for name in ("t", "s.t"):
        assert column_variable(name).measure(batch).tolist() == ["b", "a", None, "b"]
        assert column_variable(f"characters({name})").measure(batch).tolist() == [1, 1, None, 1]


def test_numbers_keep_their_kinds() -> None:
    table = pa.table({"i": [1, 2], "f": [1.0, 2.0], "b": [True, False], "n": [1, None]})
    kinds = {name: column_variable(name).measure(Batch.from_arrow(table)) for name in "ifbn"}
    assert [kinds[name].dtype.kind for name in "ifb"] == ["i", "f", "b"]
    assert [type(value) for value in kinds["n"].tolist()] == [int, type(None)]


TIMES = [datetime.datetime(2024, 1, 1, 5, 30), None, datetime.datetime(2023, 12, 31, 23)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TIMES, pa.timestamp("ns")),
        pa.array(TIMES, pa.timestamp("s")),
        pa.array(["2024-01-01 05:30", None, "2023-12-31T23:00:00.5Z"]),
        np.array(TIMES, dtype=object),
    ],
    ids=["nanoseconds", "seconds", "text", "Python"],
)
def test_parts_of_dates(column: Any) -> None:
    batch = Batch({"d": column, "x": np.arange(3)})
    expected = {"year": [2024, None, 2023], "month": [1, None, 12], "hour": [5, None, 23]}
    expected["weekday"] = [1, None, 7]
    for measure, values in expected.items():
        assert column_variable(f"{measure}(d)").measure(batch).tolist() == values
    with pytest.raises(UnskewError, match=r"characters\(x\) needs text, but x is 0; measure x"):
        column_variable("characters(x)").measure(batch)


def test_days_have_no_hour() -> None:
    batch = Batch({"d": pa.array([datetime.date(2024, 1, 1)])})
    with pytest.raises(UnskewError, match=r"hour\(d\) needs dates with a time"):
        column_variable("hour(d)").measure(batch)


def test_the_longest_name_wins() -> None:
    rows = [{"a.b": 1, "a": {"b": 2, "c.d": {"e[0]": 3}}, "m[0]": 4, "count(l)": 5, "l": [1]}]
    expected = {"a.b": 1, "a.c.d.e[0]": 3, "m[0]": 4, "count(l)": 5}
    for batch in (Batch.of(rows), Batch.from_arrow(pa.Table.from_pylist(rows))):
        for name, value in expected.items():
            assert column_variable(name).measure(batch).tolist() == [value]


def test_a_column_of_any_name_can_be_measured() -> None:
    for batch in (Batch.of([{"a[": "xy"}]), Batch.from_arrow(pa.table({"a[": ["xy"]}))):
        assert column_variable("characters(a[)").measure(batch).tolist() == [2]


def test_arrays_of_numpy_have_items() -> None:
    batch = Batch({"grid": np.arange(6.0).reshape(2, 3)})
    assert column_variable("grid[-1]").measure(batch).tolist() == [2.0, 5.0]
    assert column_variable("count(grid)").measure(batch).tolist() == [3, 3]


def test_examples_that_are_no_dicts_are_called_example() -> None:
    batch = Batch.of(["a b", "c"])
    assert column_variable("example").measure(batch).tolist() == ["a b", "c"]
    assert column_variable("words(example)").measure(batch).tolist() == [2, 1]
    with pytest.raises(UnskewError, match="an example is 'a b', which has no 'x'; name a function"):
        column_variable("x").measure(batch)


ROWS = [
    {"meta": {"lang": "en"}, "tags": ["x", "y"], "text": "no", "n": 1, "info": '{"level": 3}'},
    {"meta": {"lang": None}, "tags": [], "text": "json", "n": 2, "info": '{"level": 4}'},
]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lenth(tags)", "unknown measure 'lenth'; choose from characters, words, count, turns"),
        ("charcters(text)", "unknown measure 'charcters'; did you mean 'characters'"),
        ("meta[0", "path 'meta\\[0' has brackets that do not match; write it as meta.lang"),
        ("meta..lang", "path 'meta..lang' cannot be read from '..lang' on; write it as"),
        ("has(tags)", "'has\\(tags\\)' names no label; write it as has\\(tags, python\\)"),
        ("count()", "'count\\(\\)' names nothing to measure"),
        ("mta", "unknown column 'mta'; did you mean 'meta'"),
        ("meta.lnag", "unknown path 'meta.lnag'; did you mean 'meta.lang'"),
        ("meta.zzzzzzzz", "unknown path 'meta.zzzzzzzz'; choose from meta.lang"),
        ("tags[2]", "tags is a list of at most 2 items: name one, as in tags\\[0\\]"),
        ("tags.x", "unknown path 'tags.x'; tags is a list of at most 2 items"),
        ("n.x", "unknown path 'n.x'; n is 1, which has nothing inside: measure n itself"),
        ("text.x", "text holds text that is no JSON \\('no'\\): measure text itself or char"),
        ("info.levle", "unknown path 'info.levle'; did you mean 'info.level'"),
        ("characters(n)", "characters\\(n\\) needs text, but n is 1; measure n itself"),
        ("count(text)", "count\\(text\\) needs a list, but text is 'no'; measure text itself"),
        (
            "year(meta)",
            "year\\(meta\\) needs dates, but meta is .*; name what is inside \\(meta.la",
        ),
        ("meta", "column 'meta' holds dicts; name what is inside \\(meta.lang\\), or a function"),
        (
            "tags",
            "column 'tags' holds lists; measure count\\(tags\\), an item: tags\\[0\\], or a f",
        ),
    ],
)
def test_a_wrong_name_is_one_line_with_what_is_there(name: str, message: str) -> None:
    for batch in (Batch.of(ROWS), Batch.from_arrow(pa.Table.from_pylist(ROWS))):
        with pytest.raises(UnskewError, match=message) as caught:
            column_variable(name, known=False).measure(batch)
        assert "\n" not in str(caught.value)


def test_only_the_first_batch_is_checked() -> None:
    variable = column_variable("meta.lang", known=False)
    measure = column_variable("characters(text)", known=False)
    value = column_variable("text", known=False)
    first, later = Batch.of(ROWS), Batch.of([{"text": 5}, {"meta": 3, "text": [1]}])
    assert variable.measure(first).tolist() == ["en", None]
    assert variable.measure(later).tolist() == [None, None]
    assert [measure.measure(batch).tolist() for batch in (first, later)] == [[2, 4], [None, None]]
    assert [value.measure(batch).tolist() for batch in (first, later)] == [
        ["no", "json"],
        [5, "[1]"],
    ]


DATA = [{"meta": {"n": n, "lang": "en" if n % 3 else "de"}, "text": "x" * n} for n in range(12)]


@pytest.mark.parametrize(
    ("by", "counts"),
    [
        ("meta.lang", {"meta.lang": {"de": 4, "en": 8}}),
        (["meta.lang", len], {"meta.lang": {"de": 4, "en": 8}, "len": {2: 12}}),
        ({"lang": "meta.lang"}, {"lang": {"de": 4, "en": 8}}),
        (unskew.clip("meta.n", 3, 5), {"meta.n": {3: 4, 4: 1, 5: 7}}),
        (unskew.bins("characters(text)", [6]), {"characters(text)": {"< 6": 6, "≥ 6": 6}}),
        ({"big": unskew.bins("meta.n", [9])}, {"big": {"< 9": 9, "≥ 9": 3}}),
        (unskew.over("meta.lang", ["de", "en", "fr"]), {"meta.lang": {"de": 4, "en": 8, "fr": 0}}),
    ],
)
def test_a_name_goes_wherever_a_variable_goes(by: Any, counts: dict[str, Any]) -> None:
    for data in (DATA, iter(DATA)):
        audit = unskew.audit(data, by=by)
        assert {name: dict(v.counts) for name, v in audit.variables.items()} == counts


def test_a_sampler_is_homogenized_by_a_path() -> None:
    def draw(rng: np.random.Generator) -> dict[str, Any]:
        return {"meta": {"n": int(min(rng.geometric(0.5), 4))}}

    kept = unskew.homogenize(draw, by="meta.n", epsilon=0.01)
    values = [next(kept)["meta"]["n"] for _ in range(400)]
    assert min(np.bincount(values)[1:]) > 70
    with pytest.raises(UnskewError, match=r"unknown path 'meta.m'; did you mean 'meta.n'"):
        next(unskew.homogenize(draw, by="meta.m"))
