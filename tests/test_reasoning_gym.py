"""reasoning-gym's tasks as sources. What needs the library is skipped where it is not installed.

Statistical tests have fixed seeds; each would fail by chance once in a million seeds (ALARM).
"""

import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from tests.commands import python
from tests.statistics import fits
from tests.waiting import HANG
from unskew.balance import theory
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.rng import generator
from unskew.domains import domain_names, load_domain
from unskew.domains.reasoning_gym import library, sources
from unskew.domains.reasoning_gym.examples import as_batch, as_row
from unskew.domains.reasoning_gym.sources import Items

ALARM = 1e-6
DOMAIN = load_domain("reasoning-gym")
gym = pytest.mark.skipif(
    find_spec("reasoning_gym") is None, reason="needs pip install 'unskew[reasoning-gym]'"
)
ITEM = {
    "question": "2 and 4?",
    "answer": "2",
    "metadata": {"source_dataset": "gcd", "source_index": 7, "numbers": [2, 4], "num_terms": 2},
}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def drawn(task: str, n: int, seed: int = 0, **settings) -> unskew.Batch:
    return DOMAIN.source(task, settings).draw(generator(seed, task), n)[0]


def column(batch: unskew.Batch, name: str) -> list:
    return batch.columns[name].to_pylist()


# Without the library.


@pytest.fixture
def absent(monkeypatch):
    """The library is not installed: Python finds no module of its name."""
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    library.task_names.cache_clear()
    yield
    library.task_names.cache_clear()


def test_the_folder_gives_the_name():
    assert "reasoning-gym" in domain_names()
    assert load_domain("reasoning-gym") is DOMAIN
    assert DOMAIN.name == "reasoning-gym"


def test_without_the_library_list_says_how_to_get_it(run, absent):
    code, out, _ = run("list")
    assert code == 0
    (line,) = [line for line in out.splitlines() if "pip install" in line]
    assert line.startswith("  reasoning-gym/…  questions with answers")
    assert line.endswith("pip install 'unskew[reasoning-gym]'")
    facts = json.loads(run("list", "--json")[1])
    assert not any(name.startswith("reasoning-gym/") for name in facts["sources"])
    assert set(facts["not_installed"]) == {"reasoning-gym"}


def test_a_list_of_everything_does_not_load_the_library():
    """It takes more than a second. The tasks are listed for whoever names the domain."""
    code = (
        "import sys; from unskew.cli import command_line; "
        "command_line()(['list'], standalone_mode=False); "
        "print('reasoning_gym' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG)
    assert "unskew list reasoning-gym shows each" in run.stdout
    assert run.stdout.endswith("False\n")


@pytest.mark.parametrize("command", [("show",), ("audit",), ("generate", "-o", "d")])
def test_without_the_library_naming_a_task_says_how_to_get_it(run, absent, command):
    code, _, err = run(command[0], "reasoning-gym/gcd", *command[1:])
    assert (code, err) == (
        2,
        "error: reasoning-gym/gcd needs the library reasoning-gym, which is not installed; "
        "install it: pip install 'unskew[reasoning-gym]'\n",
    )
    assert not Path("d").exists()


def test_opening_a_file_does_not_load_the_library():
    Path("x.jsonl").write_text(json.dumps(ITEM))
    code = (
        "import sys, unskew; found = unskew.audit('x.jsonl'); "
        "print(list(found.variables), 'reasoning_gym' in sys.modules)"
    )
    done = python(code)
    assert done.stdout.strip() == "['answer', 'answer_length', 'question_length'] False", done


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_files_of_the_librarys_own_items_are_read_without_it(run, absent, form):
    noted = [{**ITEM["metadata"], "source_index": i, "k": i % 2} for i in range(60)]
    items = [{**ITEM, "answer": str(i % 3), "metadata": m} for i, m in enumerate(noted)]
    if form == "jsonl":
        Path("x.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    else:
        pq.write_table(pa.Table.from_pylist(items), "x.parquet")
    data = json.loads(run("audit", f"x.{form}", "--json")[1])
    assert data["distinct"] == 6  # where an item stood does not make it another one
    assert data["variables"]["answer"]["histogram"] == [[0, 20], [1, 20], [2, 20]]
    assert data["variables"]["metadata.k"]["histogram"] == [[0, 30], [1, 30]]
    assert "2 and 4?\n→ 0" in run("show", f"x.{form}", "-n", 1)[1]
    assert run("convert", f"x.{form}", "y.jsonl")[0] == 0
    back = [json.loads(line) for line in Path("y.jsonl").read_text().splitlines()]
    assert back[0]["metadata"] == {
        "source_dataset": "gcd",
        "numbers": [2, 4],
        "num_terms": 2,
        "k": 0,
    }
    assert run("resample", f"x.{form}", "--homogenize", "metadata.k", "-o", "z.parquet")[0] == 0


@pytest.mark.parametrize(
    "row",
    [
        {"question": "x", "answer": "y"},
        {**ITEM, "more": 1},
        {**ITEM, "question": 3},
        {**ITEM, "metadata": "{"},
        {**ITEM, "metadata": {"task": "gcd"}},
        {**ITEM, "metadata": "[1]"},
    ],
)
def test_rows_of_others_are_left_to_others(row):
    assert DOMAIN.formats.read_row(row) is None


def test_rows_come_back_as_they_were():
    read = DOMAIN.formats.read_row(ITEM)
    assert DOMAIN.formats.read_row(read) == read
    assert DOMAIN.formats.read_row(DOMAIN.formats.write_row(read)) == read
    no_answer = DOMAIN.formats.read_row({**ITEM, "answer": None})
    assert no_answer["answer"] is None
    assert DOMAIN.show(no_answer).endswith("→ (no single answer)")


def batch_of(*metadata: dict, answers: list | None = None) -> unskew.Batch:
    rows = [
        as_row({"question": "q" * 10, "answer": answer, "metadata": {"source_dataset": "x", **m}})
        for m, answer in zip(metadata, answers or ["7"] * len(metadata), strict=True)
    ]
    return as_batch(rows)


def test_whole_numbers_are_numbers_and_the_rest_is_text():
    answers = ["12", "-3", "007", "2.5", "", None, "-0", "٣", "9" * 30]
    batch = batch_of(*({} for _ in answers), answers=answers)
    expected = [12, -3, "007", "2.5", "", None, "-0", "٣", "9" * 30]
    assert DOMAIN.variable("answer").measure(batch).tolist() == expected
    assert DOMAIN.variable("answer_length").measure(batch)[:6].tolist() == [2, 2, 3, 3, 0, 0]
    assert set(DOMAIN.variable("question_length").measure(batch).tolist()) == {10}


def test_fields_of_the_metadata_go_by_name():
    batch = batch_of({"a": {"b": 1}, "l": [1]}, {"a": {"b": 2}, "c": "x", "l": []})
    assert DOMAIN.variable("metadata.a.b").measure(batch).tolist() == [1, 2]
    assert DOMAIN.variable("metadata.c").measure(batch).tolist() == [None, "x"]
    with pytest.raises(UnskewError, match=r"unknown path 'metadata.cc'; did you mean 'metadata.c'"):
        DOMAIN.variable("metadata.cc").measure(batch)
    for path, kind in (("a", "dicts"), ("l", "lists")):
        with pytest.raises(UnskewError, match=f"'metadata.{path}' holds {kind}; .* a function"):
            DOMAIN.variable(f"metadata.{path}").measure(batch)
    with pytest.raises(UnskewError, match="unknown variable of reasoning-gym 'anser'"):
        DOMAIN.variable("anser")


def test_an_audit_finds_the_fields_that_differ():
    rows = [
        {"same": 1, "two": i % 2, "id": i, "text": "x" * 50 + str(i % 2), "again": i % 3}
        | {"deep": {"level": i % 4}, "list": [i]}
        | ({"some": 1} if i else {})
        for i in range(100)
    ]
    batch = batch_of(*rows, answers=[str(i % 3) for i in range(100)])
    shown, rest = DOMAIN.find_variables(batch)
    assert [v.name for v in shown] == [
        "answer",
        "answer_length",
        "question_length",
        "metadata.two",
        "metadata.deep.level",
    ]
    why = "100 values in the first 100 rows, too many for a histogram"
    assert rest == {"metadata.id": why}


# With the library: seeds.


@gym
def test_the_librarys_own_seeds_overlap():
    from reasoning_gym import create_dataset

    first, second = (create_dataset("gcd", size=500, seed=seed) for seed in (42, 43))
    shared = [a["question"] == b["question"] for a, b in zip(list(first)[1:], second, strict=False)]
    if not all(shared):
        pytest.skip("this version of the library has mended its seeds")
    assert len(shared) == 499


@pytest.fixture
def seeds():
    """A task of the library whose answer is the seed of the item, and that may fail at some."""
    from reasoning_gym.factory import DATASETS, ProceduralDataset, register_dataset

    @dataclass
    class Config:
        seed: int | None = None
        size: int = 500
        fails_at_multiples_of: int = 0

    class Seeds(ProceduralDataset):
        def __init__(self, config):
            super().__init__(config=config, seed=config.seed, size=config.size)

        def __getitem__(self, number):
            seed = self.seed + number
            every = self.config.fails_at_multiples_of
            if every and seed % every == 0:
                raise IndexError("no")
            return {"question": "?", "answer": str(seed), "metadata": {}}

    register_dataset("seeds", Seeds, Config)
    library.task_names.cache_clear()
    yield "seeds"
    del DATASETS["seeds"]
    library.task_names.cache_clear()


@gym
def test_two_streams_have_no_seed_in_common(seeds):
    every = [
        int(answer) for seed in (42, 43) for answer in column(drawn(seeds, 2000, seed), "answer")
    ]
    assert len(every) == len(set(every)) == 4000
    assert min(abs(a - b) for a, b in zip(sorted(every)[1:], sorted(every), strict=False)) > 1
    # Seeds are even over 63 bits: their highest four.
    counts = np.bincount([seed >> 59 for seed in every], minlength=16)
    assert fits(counts, np.full(16, 1 / 16)) > ALARM
    added = [42 + i for i in range(4000)]  # planted: the library's way
    assert fits(np.bincount([s >> 59 for s in added], minlength=16), np.full(16, 1 / 16)) < ALARM


@gym
def test_neighbouring_seeds_share_what_chance_makes_equal():
    # A question of number_sorting has three to ten numbers: none ever comes twice.
    first, second = (column(drawn("number_sorting", 400, seed), "question") for seed in (42, 43))
    assert not set(first) & set(second)
    again = column(drawn("number_sorting", 400, 42), "question")
    assert again == first
    assert set(first[1:]) & set(again[:-1])  # planted: the same items moved by one


@gym
def test_batch_sizes_change_nothing():
    source = DOMAIN.source("chain_sum")
    rng = generator(0, "x")
    parts = [source.draw(rng, n)[0] for n in (1, 4, 5)]
    whole, _ = source.draw(generator(0, "x"), 10)
    assert [q for part in parts for q in column(part, "question")] == column(whole, "question")


TASKS = ("gcd", "lcm", "word_sorting", "gsm_symbolic", "list_functions", "acre", "survo", "bf")


@gym
@pytest.mark.parametrize("task", [*TASKS, "pool_matrix", "spell_backward"])
def test_an_item_is_the_librarys_own_of_its_seed(task):
    from reasoning_gym import create_dataset

    items = Items(task, {})
    with library.quiet():
        for seed in (3, 2**31 + 5, 12):
            row = items.row(seed)
            library.seed_shared(seed)
            assert row == as_row(create_dataset(task, seed=seed, size=1)[0])


@gym
def test_nothing_of_the_library_gets_out(capsys):
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    expected = (random.Random(5).random(), np.random.RandomState(5).random())  # noqa: S311
    drawn("bf", 3)  # prints
    drawn("pool_matrix", 3)  # seeds NumPy's generator
    drawn("list_functions", 20)  # draws from Python's
    assert (random.random(), np.random.random()) == expected  # noqa: NPY002, S311
    assert capsys.readouterr().out == ""


@gym
def test_what_the_library_fails_to_make_is_drawn_again_and_counted(seeds):
    source = DOMAIN.source(seeds, {"fails_at_multiples_of": 3})
    batch, dropped = source.draw(generator(0, "x"), 100)
    assert len(batch) == 100
    assert 20 < dropped.pop("the library raised IndexError") < 90
    assert not dropped
    with pytest.raises(UnskewError, match=r"seeds failed on 100 items in a row \(IndexError: no"):
        drawn(seeds, 1, fails_at_multiples_of=1)


@gym
def test_a_task_that_orders_by_hash_says_so(monkeypatch):
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    with pytest.warns(HealthWarning, match="ransom_note gives other items in every process"):
        drawn("ransom_note", 1)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    drawn("ransom_note", 1)


# The distributions that the page is about.


def gcd_law(top: int = 1000) -> dict[int, float]:
    """The library's: pairs are drawn up to three times until their divisor is above one."""
    counts = Counter(math.gcd(a, b) for a, b in product(range(1, top + 1), repeat=2))
    p = {g: count / top**2 for g, count in counts.items()}
    q = p[1]
    return {g: q**3 if g == 1 else x * (1 + q + q * q) for g, x in p.items()}


@gym
def test_gcd_is_as_skewed_as_the_library_has_it_and_one_command_mends_it(run):
    law = gcd_law()
    assert sum(law.values()) == pytest.approx(1)
    counts = Counter(map(int, column(drawn("gcd", 20_000), "answer")))
    assert fits([counts[g] for g in law], list(law.values())) > ALARM
    once = Counter(math.gcd(a, b) for a, b in product(range(1, 201), repeat=2))
    planted = [once[g] / 200**2 for g in law]  # pairs drawn once, of numbers up to 200
    assert fits([counts[g] for g in law], [max(p, 1e-9) for p in planted]) < ALARM
    assert law[2] == pytest.approx(0.303, abs=0.003)  # field: 30.3 % in 20,000 items
    assert sum(sorted(law.values())[-3:]) == pytest.approx(0.658, abs=0.005)
    code, _, _ = run(
        "generate", "reasoning-gym/gcd", "--homogenize", "answer", "-n", 4000, "-o", "d"
    )
    assert code == 0
    before = unskew.audit("reasoning-gym/gcd", "answer", 4000).variables["answer"]
    after = unskew.audit("d", "answer").variables["answer"]
    limit = dict(zip(law, theory.homogenized(list(law.values()), 0.025), strict=True))
    assert after.counts[2] / 4000 == pytest.approx(limit[2], abs=0.025)
    assert dict(before.most_frequent)[2] > 0.28
    assert max(share for _, share in after.most_frequent) < 0.12


@gym
def test_lcm_has_too_few_questions_and_larger_numbers_mend_it():
    few = len(set(column(drawn("lcm", 20_000), "question")))
    assert abs(few - 7044) < 150  # of 10,000 pairs; a standard deviation is below 40
    more = len(set(column(drawn("lcm", 20_000, max_value=1000), "question")))
    assert more > 19_500


# Settings, recipes, commands.


@gym
def test_every_task_but_a_mixture_is_a_source():
    from reasoning_gym.factory import DATASETS

    assert set(DATASETS) - set(DOMAIN.sources) == {"composite"}
    assert len(DOMAIN.sources) == len(list(DOMAIN.sources)) > 100
    with pytest.raises(UnskewError, match=r"unknown source 'reasoning-gym/gdc'; did you mean 'rea"):
        DOMAIN.source("gdc")


@gym
def test_settings_are_numbers_choices_and_yes_or_no():
    batch = drawn("gcd", 50, max_value="9", min_value=2)
    numbers = [n for row in map(json.loads, column(batch, "metadata")) for n in row["numbers"]]
    assert (min(numbers), max(numbers)) == (2, 9)
    source = DOMAIN.source(
        "basic_arithmetic", {"format_style": "natural", "allow_parentheses": False}
    )
    assert source.parameters["format_style"] == "natural"
    assert source.parameters["allow_parentheses"] == "false"
    assert not any("(" in q for q in column(source.draw(generator(0, "x"), 60)[0], "question"))
    assert "(" in "".join(column(drawn("basic_arithmetic", 60), "question"))
    upper = drawn("word_sorting", 20, transformation="uppercase")
    assert all(answer == answer.upper() for answer in column(upper, "answer"))


@gym
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("max_value=1", "reasoning-gym/gcd: max_value must be > min_value; change the settings"),
        ("max_value=x", "reasoning-gym/gcd max_value is 'x'; give a whole number"),
        ("max_valu=1", "unknown parameter of reasoning-gym/gcd 'max_valu'; did you mean"),
        ("seed=1", "unknown parameter of reasoning-gym/gcd 'seed'"),
        ("version=0.0.1", "reasoning-gym/gcd version is '0.0.1'; give one of"),
    ],
)
def test_settings_that_are_refused(run, setting, message):
    code, _, err = run("show", "reasoning-gym/gcd", "--set", setting)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


@gym
def test_the_commands_work_on_a_task(run):
    code, out, _ = run(
        *("generate", "reasoning-gym/chain_sum", "--homogenize", "metadata.num_terms"),
        *("--set", "max_terms=4", "-n", 300, "--distinct", "-o", "d", "--json"),
    )
    assert code == 0
    assert [v for v, *_ in json.loads(out)["tally"]["values"]["metadata.num_terms"]] == [2, 3, 4]
    recipe = json.loads(Path("d/recipe.json").read_text())
    assert recipe["parameters"]["max_terms"] == 4
    assert recipe["parameters"]["version"] == version("reasoning-gym")
    assert run("verify", "d")[0] == 0
    code, out, _ = run("audit", "reasoning-gym/chain_sum", "--after", "d", "-n", 300)
    assert code == 0
    assert "metadata.num_terms" in out
    run("generate", "d/recipe.json", "-o", "e")
    assert [p.read_bytes() for p in sorted(Path("e/data").iterdir())] == [
        p.read_bytes() for p in sorted(Path("d/data").iterdir())
    ]
    assert run("show", "reasoning-gym/bf", "-n", 1, "--json")[1].startswith("[\n  {")
    out = run("list", "reasoning-gym")[1]
    assert "reasoning-gym/gcd" in out
    assert "max_value=1000        a whole number: the library's" in out


@gym
def test_a_task_without_answers_goes_through_a_file(run):
    assert run("convert", "reasoning-gym/graph_color", "x.parquet", "-n", 5)[0] == 0
    assert pq.read_table("x.parquet")["answer"].null_count == 5
    code, out, _ = run("audit", "x.parquet", "--json")
    assert code == 0
    assert json.loads(out)["variables"]["answer"]["histogram"] == [[None, 5]]
    assert DOMAIN.check(drawn("graph_color", 3)).all()


@gym
@pytest.mark.parametrize("task", ["gcd", "arc_1d", "rearc", "word_sorting", "binary_matrix"])
def test_the_librarys_scorer_gives_full_marks(task):
    assert DOMAIN.check(drawn(task, 5)).all()


@gym
def test_a_wrong_answer_is_found():
    batch = drawn("word_sorting", 6)
    answers = column(batch, "answer")
    answers[2] = answers[3]
    wrong = unskew.Batch({**batch.columns, "answer": pa.array(answers)})
    assert DOMAIN.check(wrong).tolist() == [True, True, False, True, True, True]
    stranger = batch_of({}, answers=["1"])
    assert DOMAIN.check(stranger).tolist() == [False]


@gym
@pytest.mark.long
def test_every_task_draws_and_all_but_those_named_are_the_same_in_every_process():
    code = (
        "import hashlib, json, warnings\n"
        "from unskew.domains import load_domain\n"
        "from unskew.core.rng import generator\n"
        "warnings.simplefilter('ignore')\n"
        "domain, found = load_domain('reasoning-gym'), {}\n"
        "for task in domain.sources:\n"
        "    batch, dropped = domain.source(task).draw(generator(0, task), 4)\n"
        "    assert not dropped, (task, dropped)\n"
        "    assert all(json.loads(m)['source_dataset'] == task\n"
        "               for m in batch.columns['metadata'].to_pylist()), task\n"
        "    rows = repr(list(batch.examples())).encode()\n"
        "    found[task] = [hashlib.sha256(rows).hexdigest(), bool(domain.check(batch).all())]\n"
        "print(json.dumps(found))\n"
    )
    seen = []
    for number in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": number}
        done = python(code, env=env)
        assert done.returncode == 0, done.stderr
        seen.append(json.loads(done.stdout))
    differ = {task for task in seen[0] if seen[0][task][0] != seen[1][task][0]}
    assert differ <= sources.ORDERED_BY_HASH
    assert [task for task, (_, right) in seen[0].items() if not right] == []


@gym
def test_discover_asks_the_scorer_and_leaves_out_what_is_the_answer_itself():
    found = unskew.discover("reasoning-gym/gcd", answer="answer", n=600)
    assert found.blind.answer == 2
    assert 0.2 < found.blind.score < 0.4
    assert any("metadata.result: the answer once more" in note for note in found.notes)
    names = {finding.name for finding in found.of_kind("shortcut")}
    assert names
    assert not names & {"metadata.result", "answer_length", "answer"}
    command = found.of_kind("shortcut")[0].command
    assert command.startswith("unskew generate reasoning-gym/gcd --homogenize ")
    assert "--homogenize answer " in command


@gym
def test_a_score_is_the_librarys_own():
    source = load_domain("reasoning-gym").source("puzzle24")
    [example] = source.draw(generator(0, "score"), 1)[0].examples()
    domain = load_domain("reasoning-gym")
    assert domain.score(example, example["answer"]) == 1
    assert domain.score(example, "no answer") < 1
    strange = example | {"metadata": '{"source_dataset": "of my own"}'}
    assert domain.score(strange, example["answer"]) == 1
    assert domain.score(strange, "no answer") == 0
