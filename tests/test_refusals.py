"""What a user may get wrong, or the machine: one line, what to do next, and nothing changed."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.datasets import contents
from unskew import Recipe, UnskewError, generate

SMALL = Recipe("calculator/dcfg", 300, shard_size=100)


PROGRESS = re.compile(r"\w+ \S+: [\d,]+( of [\d,]+)?(, \d+ s left)?( .*)?$")


def one_line(code: int, out: str, err: str, expected: str) -> None:
    assert (code, out) == (2, ""), err
    # On a slow machine a line of progress may come first.
    lines = [line for line in err.splitlines() if not PROGRESS.match(line)]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: "), err
    assert expected in lines[0]


RECIPES = {
    '{"unskew_recipe": 1, "source": "calculator/dcfg", "n": 9, "sede": 3}': "did you mean 'seed'?",
    '{"unskew_recipe": 2, "source": "calculator/dcfg", "n": 9, "new": 3}': "1: update unskew",
    '{"source": "calculator/dcfg", "n": 9}': "set unskew_recipe",
    "[" * 100_000: "it is nested too deeply",
    '{"unskew_recipe": 1, "source": "calculator/dcfg", "n": 10000000, "shard_size": 1}': (
        "recipe has 10000000 shards; allowed are 1000000: raise shard_size (1)"
    ),
    "{": "mend it, or begin with a recipe.json",
    "": "mend it, or begin with a recipe.json",
    "[]": "start from a recipe.json",
}


@pytest.mark.parametrize("text", RECIPES, ids=lambda text: text[:40])
def test_recipes(run, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text(text)
    one_line(*run("generate", "r.json", "-o", "made"), RECIPES[text])
    assert list(tmp_path.iterdir()) == [tmp_path / "r.json"]
    shutil.copytree(generate(SMALL, "dataset").folder, "other")
    Path("other/recipe.json").write_text(text)
    before = contents(tmp_path)
    for args in (("verify",), ("audit",), ("generate", "calculator/dcfg", "-n", "300", "-o")):
        one_line(*run(*args, "other"), RECIPES[text])
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("verify", "plain"), "make one with generate"),
        (("verify", "nowhere"), "make one with generate"),
        (("verify", "plain/x.txt"), "make one with generate"),
        (("audit", "plain"), "point at .parquet, "),
        (("show", "plain"), "point at .parquet, "),
        (("generate", "karel/uniform", "--given", "plain", "-o", "made"), "point at .parquet, "),
        (("generate", "karel/msr", "--exclude", "plain", "-o", "made"), "point at .parquet, "),
        (("generate", "calculator/dcfg", "-o", "plain"), "choose a new folder"),
        (("generate", "calculator/dcfg", "-o", "plain/x.txt"), "choose a new folder"),
        (("generate", "calculator/dcfg", "-o", "plain/x.txt/y"), "check the path"),
        (("generate", "missing.json", "-o", "made"), "check the path and its permissions"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_folders_that_are_no_datasets(run, tmp_path, monkeypatch, args, expected):
    monkeypatch.chdir(tmp_path)
    Path("plain").mkdir()
    Path("plain/x.txt").write_text("years of work")
    one_line(*run(*args), expected)
    assert contents(tmp_path) == {"plain/x.txt": b"years of work"}
    assert not Path("made").exists()


def _as_anyone() -> None:
    """Take from root, in a child, what lets it read everything (CAP_DAC_*)."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def command(*args: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "unskew", *map(str, args)],
        capture_output=True,
        text=True,
        preexec_fn=_as_anyone,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="permissions are taken as Linux has it")
@pytest.mark.parametrize(
    ("locked", "mode", "args", "expected"),
    [
        (".", 0o000, ("verify",), "check its permissions"),
        (".", 0o000, ("audit",), "check its permissions"),
        (".", 0o000, ("generate", "r.json", "-o"), "choose a place you may write to"),
        ("manifest.json", 0o000, ("verify",), "check its permissions"),
        ("recipe.json", 0o000, ("verify",), "check the path and its permissions"),
        ("recipe.json", 0o000, ("generate", "r.json", "-o"), "its permissions"),
        ("data/train-00001-of-00003.parquet", 0o000, ("verify",), "check its permissions"),
        ("data/train-00001-of-00003.parquet", 0o000, ("audit",), "check its permissions"),
    ],
    ids=lambda value: str(value).replace("/", " "),
)
def test_what_may_not_be_read(tmp_path, monkeypatch, locked, mode, args, expected):
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text(SMALL.to_json())
    generate(SMALL, "made")
    before = contents(tmp_path)
    path = Path("made", locked)
    kept = path.stat().st_mode
    path.chmod(mode)
    try:
        if os.access(path, os.R_OK) and os.geteuid() != 0:
            pytest.skip("this file system has no permissions")
        one_line(*command(*args, "made"), expected)
    finally:
        path.chmod(kept)
    assert contents(tmp_path) == before


@pytest.mark.skipif(sys.platform != "linux", reason="permissions are taken as Linux has it")
def test_what_may_not_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text(SMALL.to_json())
    Path("fixed").mkdir(mode=0o555)
    for folder in ("fixed", "fixed/below"):
        one_line(*command("generate", "r.json", "-o", folder), "choose a place you may write to")
    assert list(Path("fixed").iterdir()) == []


# A disk of its own, in a space of its own where one may mount it without being root.
FULL = """
mount -t tmpfs -o size={size}k none disk || exit 77
{python} -m unskew generate r.json -o disk/made --workers {workers} 2> err; echo $? > code
find disk -type f > left
mount -o remount,size=20m disk
{python} -m unskew generate r.json -o disk/made --workers 1 || exit 1
cp -r disk/made made
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("size", [0, 24])
def test_a_disk_that_is_full(tmp_path, monkeypatch, size, workers):
    monkeypatch.chdir(tmp_path)
    Path("disk").mkdir()
    Path("r.json").write_text(SMALL.to_json())
    whole = contents(generate(SMALL, "whole").folder)
    # Nothing fits into one page; into six, a few parts do.
    script = FULL.format(size=size or 4, python=sys.executable, workers=workers)
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True)
    if done.returncode in (1, 77) and not Path("code").exists():
        pytest.skip("here only root may mount a disk")
    assert done.returncode == 0, done.stderr
    assert Path("code").read_text() == "2\n"
    error = [line for line in Path("err").read_text().splitlines() if line.startswith("error: ")]
    assert len(error) == 1
    assert "No space left on device; free some space and run the same command again" in error[0]
    assert "Traceback" not in Path("err").read_text()
    assert ".part" not in Path("left").read_text()
    assert ("train-00000" in Path("left").read_text()) == bool(size)
    assert contents(Path("made")) == whole


@pytest.mark.parametrize("text", ["a\nb; give c", "a\rb", "x" * 10_000 + "; give c", "\n" * 10_000])
def test_an_error_is_one_short_line_whatever_it_repeats(text):
    message = str(UnskewError(text))
    assert "\n" not in message
    assert "\r" not in message
    assert len(message) < 2100
    assert message[:2] == text[:2] or message[:2] in ("a\\", "\\n")
    assert message.endswith(text[-6:]) or not text.endswith("give c")
