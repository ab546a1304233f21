"""README and docs say what the committed results say, and their links lead somewhere."""

import re
import shlex

import numpy as np
import pytest

from docs import numbers


@pytest.mark.parametrize("page", numbers.PAGES)
def test_the_numbers_are_those_of_the_results(page):
    text = (numbers.ROOT / page).read_text()
    assert "<!-- numbers:" in text
    assert numbers.rewritten(page, numbers.blocks()) == text, "run make docs-numbers"


def test_a_changed_number_is_noticed():
    texts = dict.fromkeys(numbers.blocks(), "other")
    assert numbers.rewritten("README.md", texts) != (numbers.ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{p}" for p in ("design.md", "calculator.md"))]
)
def test_links_to_files_lead_somewhere(page):
    path = numbers.ROOT / page
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / link).exists(), link


def test_every_command_in_the_readme_exists():
    from unskew.cli import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    lines = re.findall(r"^ {4}unskew .*", (numbers.ROOT / "README.md").read_text(), re.M)
    assert {name for line in lines for name in re.findall(r"unskew (\w+)", line)} == known


def python_of(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (numbers.ROOT / page).read_text(), re.DOTALL)


def indented(page: str, begin: str) -> list[str]:
    """The blocks of indented lines that begin so, without their indentation."""
    blocks = re.findall(r"(?:^ {4}.*\n)+", (numbers.ROOT / page).read_text(), re.M)
    found = [re.sub(r"^ {4}", "", block, flags=re.M) for block in blocks]
    return [block for block in found if block.startswith(begin)]


def test_the_readme_python_works():
    names = {"draw": lambda rng: "x" * int(rng.geometric(0.5))}
    exec(python_of("README.md")[0], names)  # noqa: S102
    assert isinstance(next(names["examples"]), str)
    assert np.isfinite(names["examples"].tally.cost)


def test_the_karel_python_works():
    names = {}
    for code in python_of("docs/karel.md"):
        exec(code, names)  # noqa: S102
    assert f"# {names['to_tokens'](names['program'])!r}" in python_of("docs/karel.md")[0]
    assert names["ran"].status.tolist() == [0]
    assert names["program_rows"](names["batch"]).shape[0] == 1024
    assert names["world_rows"](names["batch"], names["INPUTS"]).shape == (1024, 6, 260)


def test_the_karel_commands_work(run, tmp_path, monkeypatch):
    """Each on a few examples, one after another, as the page has them."""
    monkeypatch.chdir(tmp_path)
    (block,) = indented("docs/karel.md", "unskew ")
    for line in block.splitlines():
        _, *args = shlex.split(line, comments=True)
        code, out, err = run(*args, "-n", 1 if args[0] == "show" else 20)  # the last -n counts
        assert (code, bool(out)) == (0, True), (line, err)


def test_the_karel_problem_solves_itself():
    from unskew.domains.karel import run
    from unskew.domains.karel.problems import read_problem

    (text,) = indented("docs/karel.md", "# Put")
    problem = read_problem(text, "corners")
    ran = run(problem.program[None], problem.inputs)
    assert np.array_equal(ran.worlds, problem.outputs)
    assert not ran.status.any()
