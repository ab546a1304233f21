"""Every command in README, docs and Makefile: all are parsed, those that take seconds are run.

They run one after another as a page has them, in a folder with the files that a reader has, on
fewer examples.
"""

import importlib.util
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from docs import reference
from tests.test_docs import PAGES, ROOT, inline, text_of

FEW = 60  # examples, where more are asked for

# What is parsed, not run: the line begins so, and the reason.
PARSED_ONLY = {
    "unskew reproduce": "a minute and more; test_experiments.py and test_karel_lab.py run smoke",
    "unskew train karel": "minutes; tests/test_karel_run.py trains a smaller model",
    "unskew train data/one": "likewise",
    "torchrun": "needs eight processes; tests/test_karel_training.py runs two",
    "unskew evaluate runs/karel": "needs a run that is only parsed",
    "unskew evaluate runs/stream": "likewise",
    "unskew generate karel/msr -n 1000000 -o s3": "needs a store; tests/test_store.py has one",
    "unskew verify s3": "likewise",
    "unskew generate karel/uniform --given s3": "likewise",
    "unskew generate karel/msr-train -o /shared": "needs a cluster; tests/test_ray.py has one",
    "unskew audit s3": "needs a store and a cluster; tests/test_ray.py and test_store_files.py",
    "unskew resample data --homogenize answer -o even.parquet --engine": "needs a cluster",
    "unskew audit 'data/*.parquet' --workers": "needs files; tests/test_shared.py has some",
    "unskew warm-up": "takes a minute; a long test of tests/test_compiled.py runs it",
}

OTHERS_OPTIONS = {"--head", "--nproc-per-node", "--generate", "--version", "--help"}
MODULE = """
def draw(rng):
    return {"word": "x" * int(rng.geometric(0.5)), "n": int(rng.integers(3))}

def length(example):
    return len(example["word"])
"""


def lines(page: str) -> list[str]:
    """The commands of a page's blocks, one a line, without comments; or those of the Makefile."""
    if page == "Makefile":
        text = text_of(page).replace("$(DEMO)", "demo")
        return re.findall(r"^\t\$\(BIN\)/(unskew .*)$", text, re.M)
    text = re.sub(r"<!-- reference: .*?<!-- end -->", "", text_of(page), flags=re.DOTALL)
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL).replace("\\\n", " ")
    seen = []
    for line in re.findall(r"^ {4}(\w.*)$", text, re.M):
        words = shlex.split(line, comments=True)
        if words[0] in ("unskew", "torchrun", "cd"):
            seen += [part.strip() for part in shlex.join(words).split(" '&&' ")]
    return seen


def parts(line: str) -> list[str]:
    """The words after `unskew`."""
    words = shlex.split(line)
    return words[words.index("unskew") + 1 :]


def is_run(line: str) -> bool:
    return not line.startswith(("cd ", *PARSED_ONLY))


LINES = [
    (page, line)
    for page in (*PAGES, "Makefile")
    for line in lines(page)
    if not line.startswith("cd ")
]


def test_there_are_commands_to_look_at():
    pages = {page for page, _ in LINES}
    assert {"README.md", "docs/karel.md", "docs/resampling.md", "Makefile"} <= pages
    assert len(LINES) > 60
    for begin in PARSED_ONLY:
        assert any(line.startswith(begin) for _, line in LINES), f"{begin}: no longer there"


@pytest.mark.parametrize(("page", "line"), LINES)
def test_every_command_can_be_parsed(page, line):
    name, *args = parts(line)
    reference.commands()[name].make_context(name, args)


def test_a_command_with_an_option_of_another_is_noticed():
    with pytest.raises(Exception, match=r"(?i)no such option"):
        reference.commands()["verify"].make_context("verify", ["data", "--epsilon", "1"])


def test_every_command_has_an_example():
    shown = {parts(line)[0] for line in lines("docs/commands.md")}
    assert shown == set(reference.commands())


@pytest.mark.parametrize("page", PAGES)
def test_commands_options_and_targets_in_the_text_exist(page):
    commands = reference.commands()
    options = {o for c in commands.values() for p in c.params for o in p.opts} | OTHERS_OPTIONS
    targets = re.findall(r"^([\w-]+):", text_of("Makefile"), re.M)
    for code in inline(page):
        words = code.split()
        if words[0] == "unskew" and len(words) > 1 and not words[1].isupper():
            assert words[1] in commands or words[1] in OTHERS_OPTIONS, code
        if words[0] == "make" and len(words) > 1:
            assert words[1] in targets, code
        # The changelog may tell of what there was, and modules of Python have their own options.
        if page != "CHANGELOG.md" and words[:2] != ["python", "-m"]:
            assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", code)) <= options, code


def smaller(args: list[str]) -> list[str]:
    """The same command on few examples, and with a model that trains in a second."""
    name, *rest = args
    for i, word in enumerate(rest[:-1]):
        if word == "-n":
            rest[i + 1] = str(min(int(rest[i + 1]), FEW))
        if word == "--split":
            split, _, n = rest[i + 1].partition("=")
            rest[i + 1] = f"{split}={max(int(n) // 2_000, 5)}"
    own_size = {"-n", "--split", "--given"} & set(rest) or args[1:2] == ["my-recipe.json"]
    if (name in ("audit", "evaluate") and "-n" not in rest) or (
        name == "generate" and not own_size
    ):
        rest += ["-n", str(FEW)]
    if name == "train":
        rest += ["--steps", "2", "--batch", "8", "--hidden", "8"]
    return [name, *rest]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with what a reader has: the examples, tasks, a module, a recipe, records."""
    from unskew import Recipe
    from unskew.datasets.convert import convert

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("my_module", "dice"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    shutil.copytree(ROOT / "examples", "examples", ignore=shutil.ignore_patterns("__pycache__"))
    Path("my_module.py").write_text(MODULE)
    for name in ("tasks", "questions", "scored", "train", "test"):
        tasks = [
            {"question": f"{i}", "answer": min(i % 7, i % 3), "wrong": i % 5 == 0}
            for i in range(200 if name == "test" else 300)
        ]
        lines = "".join(f"{json.dumps(task)}\n" for task in tasks)
        Path(f"{name}.jsonl").write_text(lines)
    Path("my-recipe.json").write_text(Recipe("calculator/bal", FEW).to_json())
    convert("karel/msr", Path("records.jsonl"), "records", 3)
    return tmp_path


@pytest.mark.parametrize("page", sorted({page for page, line in LINES if is_run(line)}))
def test_the_commands_of_a_page_work(page, run, here, monkeypatch):
    if page == "docs/reasoning-gym.md" and importlib.util.find_spec("reasoning_gym") is None:
        pytest.skip("the library reasoning-gym is not installed")
    for line in lines(page):
        if line.startswith("cd "):
            monkeypatch.chdir(line.removeprefix("cd "))
        elif is_run(line):
            code, out, err = run(*smaller(parts(line)))
            assert (code, bool(out)) == (0, True), (line, err)
