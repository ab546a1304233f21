"""README and docs say what the committed results say, and their links lead somewhere."""

import re

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


def test_the_readme_python_works():
    import numpy as np

    text = (numbers.ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    names = {"draw": lambda rng: "x" * int(rng.geometric(0.5))}
    exec(code, names)  # noqa: S102
    assert isinstance(next(names["examples"]), str)
    assert np.isfinite(names["examples"].tally.cost)
