"""The command line as its users meet it: output, errors of one line, pipes, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import UNSKEW, complaints, python
from tests.waiting import HANG, until
from unskew.cli import progress
from unskew.core.compiled import NOTICE


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of the user's own with a module and some files in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def draw(rng): return 'x' * int(rng.geometric(0.5))\n"
        "def boom(rng): raise RuntimeError('broken sampler')\n"
        "def no_rng(): return 1\n"
        "def listy(example): return [example]\n"
        "def fails(example): return example.missing\n"
        "NUMBER = 3\n"
    )
    (tmp_path / "rows.jsonl").write_text('{"answer": 1}\n{"answer": 2}\n{"answer": 1}\n')
    (tmp_path / "cut.jsonl").write_text('{"answer": 1}\n{"ans')
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "bare.jsonl").write_text("{}\n{}")
    (tmp_path / "newer.json").write_text('{"unskew_recipe": 99, "source": "x", "n": 1}')
    (tmp_path / "odd.json").write_text(
        '{"unskew_recipe": 1, "source": "calculator/dcfg", "n": 1, "epsilom": 1}'
    )
    yield tmp_path
    sys.modules.pop("mine", None)


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom unskew.cli import main\nsys.argv = ['unskew', '--help']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'numba', 'pyarrow', 'torch', 'ray', 'vl_convert', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    for command in (
        "list",
        "audit",
        "generate",
        "train",
        "evaluate",
        "reproduce",
        "show",
        "convert",
        "resample",
    ):
        assert command in done.stdout


def test_help_groups_the_commands_and_what_only_one_model_has(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, everything, _ = run("--help")
    assert 0 < everything.index("Data") < everything.index("Models") < everything.index("The paper")
    shared, calculator, karel = (
        run("train", *words, "--help")[1] for words in ((), ("calculator",), ("karel/msr",))
    )
    for text in (shared, calculator, karel, run("evaluate", "--help")[1]):
        assert len(text.splitlines()) <= 40  # a screen
    assert "--steps" in shared
    assert "unskew train calculator --help, unskew train karel --help" in " ".join(shared.split())
    assert "Only for" not in shared
    assert calculator.index("Only for the Calculator") < calculator.index("--hidden")
    assert "--shown" not in calculator
    assert karel.index("Only for Karel") < karel.index("--shown")
    assert "--hidden" not in karel
    assert "unskew train --help" in karel


def test_list_names_everything(run):
    code, out, _ = run("list")
    assert code == 0
    out += run("list", "reasoning-gym")[1]  # many, so in full only when the domain is named
    facts = json.loads(run("list", "--json")[1])
    for name, source in facts["sources"].items():
        assert name in out
        for parameter, fact in source["parameters"].items():
            assert f"{parameter}={fact['default']}" in out
            if "options" in fact:
                assert fact["default"] in fact["options"]
            else:
                assert fact["low"] <= fact["default"] <= fact["high"]
    assert set(facts["variables"]) >= {
        *(f"calculator/{v}" for v in ("length", "operations", "parentheses", "max_depth")),
        *(f"karel/{v}" for v in ("size", "nesting", "marker_ratio", "while-in-while")),
    }
    for name in ("karel/msr-train", "karel/narrow-0.85-0.05-A", "karel/problems"):
        assert name in out


def test_audit_of_a_source_with_a_setting(run):
    code, out, _ = run("audit", "calculator/dcfg", "--set", "p=0.0", "-n", 500, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["n"] == 500
    assert facts["distinct"] <= 10
    assert facts["variables"]["operations"]["histogram"] == [[0, 500]]


def test_audit_of_ones_own_module_file_and_columns(run, here):
    out = run("audit", "mine:draw", "--by", "builtins:len", "-n", 100, "--json")[1]
    assert json.loads(out)["variables"]["builtins:len"]["n"] == 100
    out = run("audit", "rows.jsonl", "--json")[1]
    assert json.loads(out)["variables"]["answer"]["histogram"] == [[1, 2], [2, 1]]


def test_generate_then_compare_then_report(run, here):
    code, out, _ = run(
        "generate", "calculator/dcfg", "--homogenize", "length", "-n", 3000, "-o", "d"
    )
    assert code == 0
    assert "draws per kept example (at most 41 expected)" in out
    code, out, _ = run("audit", "calculator/dcfg", "--after", "d", "--report", "r.html", "--json")
    assert code == 0
    assert json.loads(out)["variables"]["length"]["kl_removed_percent"] > 40
    assert (here / "r.html").read_text().startswith("<!doctype html>")
    code, out, _ = run("audit", "calculator/dcfg", "--after", "d")
    assert code == 0
    assert "length" in out


def test_generating_again_changes_nothing_and_says_so_with_the_same_numbers(run, here):
    args = ("generate", "mine:draw", "--homogenize", "builtins:len", "-n", 300, "-o", "d", "--json")
    first = run(*args)
    files = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in here.rglob("*.parquet")}
    again = run(*args)
    assert first == again
    assert files == {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in here.rglob("*.parquet")}


def test_a_recipe_file_makes_the_same_dataset(run, here):
    run("generate", "calculator/t2t", "-n", 100, "-o", "a", "--set", "max_depth=2")
    code, _, _ = run("generate", "a/recipe.json", "-o", "b")
    assert code == 0
    names = sorted(p.name for p in (here / "a" / "data").iterdir())
    assert [(here / "a/data" / n).read_bytes() for n in names] == [
        (here / "b/data" / n).read_bytes() for n in names
    ]


def test_show_draws_examples(run, here):
    code, out, _ = run("show", "calculator/bal", "--set", "min_depth=1", "-n", 2)
    assert code == 0
    assert out.count("(mod 10)") == 2
    assert run("show", "mine:draw", "-n", 3)[1].count("x") >= 3
    assert json.loads(run("show", "rows.jsonl", "-n", 1, "--json")[1]) == [{"answer": 1}]


def test_convert_a_source_and_a_dataset(run, here):
    code, out, _ = run("convert", "calculator/dcfg", "a.jsonl", "-n", 1234)
    assert (code, out) == (0, "wrote a.jsonl (1,234 examples)\n")
    run("generate", "calculator/dcfg", "-n", 100, "--shard-size", 40, "-o", "d")
    assert run("convert", "d", "d.parquet")[0] == 0
    assert json.loads(run("audit", "d.parquet", "--by", "value", "--json")[1])["n"] == 100


BAD = {
    "unknown source": (("audit", "calculator/dcgf"), "did you mean 'calculator/dcfg'?"),
    "unknown domain": (("audit", "calculater/dcfg"), "calculator/dcfg"),
    "unknown variable": (("audit", "calculator/dcfg", "--by", "lenght"), "did you mean 'length'?"),
    "unknown parameter": (("audit", "calculator/rcfg", "--set", "q=1"), "choose from"),
    "parameter too large": (("audit", "calculator/dcfg", "--set", "p=2"), "from 0.0 to 0.9"),
    "parameter not a number": (("audit", "calculator/dcfg", "--set", "p=x"), "give a number"),
    "setting without value": (("audit", "calculator/dcfg", "--set", "p"), "name=value"),
    "n is zero": (("audit", "calculator/dcfg", "-n", "0"), "at least 1"),
    "n is no number": (
        ("audit", "calculator/dcfg", "-n", "many"),
        "-n is 'many'; allowed is a whole number; see unskew audit --help",
    ),
    "n is no number at last": (
        ("audit", "calculator/dcfg", "-n", "5", "-nmany"),
        "-n is 'many'; allowed is a whole number; see unskew audit --help",
    ),
    "minutes are left out": (
        ("reproduce", "calculator", "--minutes"),
        "see unskew reproduce --help",
    ),
    "minutes are no number": (
        ("reproduce", "calculator", "--minutes=few"),
        "--minutes is 'few'; allowed is a number; see unskew reproduce --help",
    ),
    "negative epsilon": (
        ("generate", "calculator/dcfg", "--epsilon", "-1", "-o", "d"),
        "epsilon is -1.0; allowed is at least 0",
    ),
    "epsilon nan": (("generate", "calculator/dcfg", "--epsilon", "nan", "-o", "d"), "at least 0"),
    "n below one": (("generate", "calculator/dcfg", "-n", "0", "-o", "d"), "n is 0"),
    "missing file": (("audit", "gone.parquet"), "does not exist"),
    "truncated Parquet": (("audit", "cut.parquet"), "cannot be read as Parquet"),
    "truncated JSONL": (("audit", "cut.jsonl"), "line 2 is no JSON"),
    "empty file": (("audit", "empty.jsonl"), "no examples"),
    "no such module": (("audit", "nowhere:draw", "--by", "builtins:len"), "no module 'nowhere'"),
    "no such function": (("audit", "mine:drow", "--by", "builtins:len"), "did you mean 'draw'?"),
    "not a function": (("audit", "mine:NUMBER"), "name a function"),
    "sampler without rng": (("audit", "mine:no_rng"), "draw(rng)"),
    "sampler raises": (("audit", "mine:boom", "--by", "builtins:len"), "broken sampler"),
    "variable raises": (("audit", "mine:draw", "--by", "mine:fails"), "raised AttributeError"),
    "variable unhashable": (("audit", "mine:draw", "--by", "mine:listy"), "cannot be hashed"),
    "nothing to measure": (("audit", "bare.jsonl"), "name what to measure"),
    "report suffix": (("audit", "calculator/dcfg", "-n", "9", "--report", "r.doc"), ".html"),
    "nothing to trace": (("show", "calculator/dcfg", "--trace"), "no steps to trace"),
    "trace of plain rows": (("show", "rows.jsonl", "--trace"), "no steps to trace"),
    "convert what is endless": (("convert", "calculator/dcfg", "o.jsonl"), "does not end"),
    "convert to another suffix": (("convert", "rows.jsonl", "o.txt"), ".parquet, .jsonl"),
    "convert nothing": (("convert", "empty.jsonl", "o.parquet"), "no examples"),
    "convert a truncated file": (("convert", "cut.jsonl", "o.parquet"), "line 2 is no JSON"),
    "form of no domain": (("convert", "rows.jsonl", "o.jsonl", "--as", "records"), "no domain"),
    "unknown form": (
        ("convert", "calculator/dcfg", "o.jsonl", "-n", "3", "--as", "records"),
        "unknown form of calculator",
    ),
    "newer recipe": (("generate", "newer.json", "-o", "d"), "version"),
    "recipe field": (("generate", "odd.json", "-o", "d"), "did you mean 'epsilon'?"),
    "output is a file": (("generate", "calculator/dcfg", "-o", "rows.jsonl"), "is a file"),
    "output not empty": (("generate", "calculator/dcfg", "-o", "."), "not empty"),
    "unknown command": (("generat",), "Did you mean 'generate'? see unskew --help"),
    "missing option": (("generate", "calculator/dcfg"), "output"),
    "unknown experiment": (("reproduce", "karol"), "unknown experiment"),
    "unknown scale": (("reproduce", "calculator", "--scale", "huge"), "unknown scale"),
    "no run": (("evaluate", "nowhere"), "nowhere is not a run"),
    "endless training": (("train", "calculator/dcfg", "-o", "r"), "generate a dataset"),
    "Karel's switch": (
        ("train", "rows.jsonl", "-o", "r", "--differences"),
        "--differences is for Karel",
    ),
    "Karel's option": (("train", "rows.jsonl", "-o", "r", "--reuse", "2"), "--reuse is for Karel"),
    "no steps": (("train", "rows.jsonl", "-o", "r", "--steps", "0"), "steps is 0"),
    "wrong columns": (("train", "rows.jsonl", "-o", "r"), "expression"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_changes_nothing(run, here, case):
    args, expected = BAD[case]
    before = sorted(p for p in here.rglob("*") if "__pycache__" not in p.parts)
    code, out, err = run(*args)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("error: ")
    assert expected in err
    assert sorted(p for p in here.rglob("*") if "__pycache__" not in p.parts) == before


def test_a_folder_of_another_recipe_is_left_alone(run, here):
    run("generate", "calculator/dcfg", "-n", 50, "-o", "d")
    before = {p: p.read_bytes() for p in (here / "d").rglob("*") if p.is_file()}
    code, _, err = run("generate", "calculator/dcfg", "-n", 60, "-o", "d")
    assert code == 2
    assert "another recipe" in err
    assert before == {p: p.read_bytes() for p in (here / "d").rglob("*") if p.is_file()}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_warning_of_every_part_is_said_once(run, here, workers, monkeypatch):
    monkeypatch.delitem(sys.modules, "wide", raising=False)
    (here / "wide.py").write_text(
        "import unskew\ndef draw(rng): return int(rng.integers(3))\n"
        "value = unskew.over(lambda x: x, range(5))\n"
    )
    code, _, err = run(
        "generate", "wide:draw", "--homogenize", "wide:value", "-n", 4000, "--shard-size", 1000,
        "--workers", workers, "-o", f"d{workers}",
    )  # fmt: skip
    assert code == 0
    assert err.count("never took") == 1, err


def test_health_warnings_are_one_line_on_stderr(run, here):
    code, out, err = run(
        "generate", "mine:draw", "--homogenize", "builtins:len", "--epsilon", "0.0001",
        "-n", 3000, "-o", "d",
    )  # fmt: skip
    assert code == 0
    assert "warning: homogenizing 'builtins:len' costs" in err
    assert "warning" not in out


def test_train_then_evaluate(run, here):
    run("generate", "calculator/dcfg", "-n", 2000, "-o", "d", "--set", "max_length=3")
    train = ("train", "d", "-o", "r", "--steps", 30, "--hidden", 16, "--seeds", 2, "--rate", 0.02)
    code, out, _ = run(*train)
    assert code == 0
    assert "run: r" in out
    code, out, err = run("evaluate", "r", "d", "-n", 500, "--json")
    assert (code, err) == (0, "d: 500 of 2,000 examples\n")
    assert len(json.loads(out)["d"]) == 2
    whole, some = (run("evaluate", "r", "d", *n)[1] for n in ((), ("-n", 500)))
    assert whole != some
    code, out, _ = run("evaluate", "r", "-n", 100)
    assert code == 0
    assert "equal mixture" in out


def test_a_corrupt_checkpoint_is_refused(run, here):
    run("generate", "calculator/dcfg", "-n", 50, "-o", "d")
    run("train", "d", "-o", "r", "--steps", 1, "--hidden", 4)
    checkpoint = here / "r" / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    code, _, err = run("evaluate", "r", "d")
    assert code == 2
    assert "not a whole checkpoint" in err


@pytest.mark.parametrize(
    "args",
    [
        ["list"],
        ["show", "calculator/dcfg", "-n", "2000"],
        ["show", "calculator/dcfg", "--json"],
        ["audit", "calculator/dcfg", "-n", "50"],
        ["audit", "calculator/dcfg", "-n", "50", "--json"],
    ],
    ids=" ".join,
)
def test_a_reader_that_has_gone_ends_it_quietly(args):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*UNSKEW, *args], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    told = [line for line in done.stderr.splitlines() if not line.startswith("auditing")]
    assert (done.returncode, told) == (141, [])


# The Calculator's own source, but while there is a file of the name "held" it does not come to
# its last batch. So it is stopped at any moment, but never too late.
HELD = """
import time
from pathlib import Path
from unskew import Domain
from unskew.io.lookup import find_source
from unskew.core.source import Source

drawn = []

def expressions():
    plain = find_source("calculator/dcfg")

    def draw(rng, n):
        drawn.append(n)
        while len(drawn) == 20 and Path("held").exists():
            time.sleep(0.01)
        return plain.draw(rng, n)

    return Source("held:expressions", draw)

def check(batch):
    return [True] * len(batch)

DOMAIN = Domain("held", "", {"expressions": expressions}, {}, str, check)
"""


def test_ctrl_c_leaves_nothing_half_written_and_the_run_goes_on(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "held.py").write_text(HELD)
    (tmp_path / "held").touch()
    folder = tmp_path / "d"
    args = ["generate", "held:expressions", "-n", "400000", "--shard-size", "20000", "-o"]
    process = subprocess.Popen(
        [*UNSKEW, *args, str(folder)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    data = folder / "data"
    until(lambda: list(data.glob("*.parquet")), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 130
    last = "stopped; no file is half-written; run the same command again to continue"
    assert complaints(err) == f"{last}\n"
    assert not list(folder.rglob("*.part"))
    assert not (folder / "manifest.json").exists()
    (tmp_path / "held").unlink()
    subprocess.run([*UNSKEW, *args, str(folder)], check=True, capture_output=True)
    subprocess.run([*UNSKEW, *args, str(tmp_path / "whole")], check=True, capture_output=True)
    for part in sorted((tmp_path / "whole" / "data").iterdir()):
        assert part.read_bytes() == (data / part.name).read_bytes()


def test_plain_progress_is_a_line_now_and_then(capsys):
    now = iter([0.0, 1.0, 2.5, 3.0, 13.0])
    with progress.progress("counting", 100, lambda: next(now)) as advance:
        for _ in range(4):
            advance(10, "fine")
    printed = capsys.readouterr().err
    lines = printed.splitlines()
    assert lines == ["counting: 20 of 100, 12 s left, fine", "counting: 40 of 100, 24 s left, fine"]
    others = "error: missing: 3\nwarning: counting is 1\n"
    assert complaints(f"{printed}{NOTICE}\n{others}") == others  # a helper of tests


def test_a_long_time_is_told_in_minutes(capsys):
    now = iter([0.0, 1.0, 61.0])
    with progress.progress("counting", 100, lambda: next(now)) as advance:
        advance(1)
        advance(10)
    assert capsys.readouterr().err == "counting: 11 of 100, 9 min left\n"


def test_what_an_earlier_run_did_is_not_counted_as_speed(capsys):
    now = iter([0.0, 0.1, 3.1])
    with progress.progress("going on", 100, lambda: next(now)) as advance:
        advance(90)
        advance(1)
    assert capsys.readouterr().err == "going on: 91 of 100, 27 s left\n"


def test_a_small_terminal_still_works(here):
    env = {**os.environ, "COLUMNS": "40", "LINES": "10"}
    done = subprocess.run(
        [*UNSKEW, "audit", "calculator/dcfg", "-n", "200"], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 40
    assert "length" in done.stdout


def test_version(run):
    from unskew import __version__

    assert run("--version")[1].strip() == __version__


def test_a_list_fits_a_narrow_terminal_and_is_a_line_each_in_a_pipe(run, monkeypatch):
    _, piped, _ = run("list", "karel")
    assert max(map(len, piped.splitlines())) > 100
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    _, shown, _ = run("list", "karel")
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.split() == piped.split()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*UNSKEW, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: the output: No space left")


def test_output_that_a_shell_closed_is_no_error() -> None:
    command = f"{sys.executable} -m unskew --version >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True)
    assert "Traceback" not in done.stderr
