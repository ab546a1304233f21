"""README and docs say what code and committed results say; what they name is there."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import unskew
from docs import numbers, reference
from docs.markdown import ROOT
from unskew.core.domain import parameters
from unskew.domains import load_domain

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def fenced(page: str, language: str = "python") -> list[str]:
    """The blocks of code that are written by hand."""
    text = re.sub(r"<!-- reference: .*?<!-- end -->", "", text_of(page), flags=re.DOTALL)
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def indented(page: str, begin: str) -> list[str]:
    """The blocks of indented lines that begin so, without their indentation."""
    blocks = re.findall(r"(?:^ {4}.*\n)+", text_of(page), re.M)
    texts = [re.sub(r"^ {4}", "", block, flags=re.M) for block in blocks]
    return [text for text in texts if text.startswith(begin)]


def inline(page: str) -> list[str]:
    """What stands between backticks in the text, outside of blocks."""
    text = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


# Numbers.


@pytest.fixture(scope="module")
def blocks():
    return numbers.blocks()


@pytest.mark.parametrize("page", numbers.PAGES)
def test_the_numbers_are_those_of_the_results(page, blocks):
    text = text_of(page)
    assert "<!-- numbers:" in text
    assert numbers.rewritten(page, blocks) == text, "run make docs"


def test_a_changed_number_is_noticed(blocks):
    texts = dict.fromkeys(blocks, "other")
    assert numbers.rewritten("README.md", texts) != text_of("README.md")


def test_the_readme_says_how_skewed_its_picture_is():
    """Shares over 50,000 draws are right to a quarter of a percent point, the cost to 0.05."""
    before = unskew.audit("calculator/dcfg", by="length", n=50_000).variables["length"]
    examples = unskew.homogenize("calculator/dcfg", by="length")
    after = unskew.audit((next(examples) for _ in range(20_000)), by="calculator/length")
    shares = [variable.counts[2] / variable.n for variable in (before, after.variables["length"])]
    match = re.search(r"(\d+) % of these .*?(\d+) % are, at ([\d.]+) draws", text_of("README.md"))
    assert [round(100 * share) for share in shares] == [int(match[1]), int(match[2])]
    assert round(examples.tally.cost, 1) == float(match[3])


def test_the_table_of_what_epsilon_leaves():
    p = np.array([0.5**x for x in (1, 2, 3, 4, 5, 6, 7, 7)])
    rows = re.findall(
        r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| (\S+) \|", text_of("docs/theory.md"), re.M
    )
    assert [row[0] for row in rows] == ["0.2", "0.025", "0.005", "0.001", "0"]
    for epsilon, left, cost, bound in rows:
        kept = unskew.homogenized(p, float(epsilon))
        assert f"{np.abs(kept - 1 / 8).sum() / 2:.3f}" == left
        assert f"{unskew.expected_cost(p, float(epsilon)):.1f}" == cost
        assert bound == ("–" if epsilon == "0" else f"{unskew.cost_bound(float(epsilon)):.0f}")


# The code's own words.


@pytest.mark.parametrize("page", reference.PAGES)
def test_commands_and_functions_are_documented_as_they_are(page):
    assert reference.rewritten(page) == text_of(page), "run make docs"


def test_every_command_option_and_public_name_is_there():
    """Looked for without the page's own maker: a block that it left out would be missed."""
    text = text_of(reference.COMMANDS)
    for name, command in reference.commands().items():
        section = re.search(rf"<!-- reference: unskew {name} -->(.*?)<!-- end -->", text, re.DOTALL)
        for parameter in command.params:
            for spelling in parameter.opts:
                shown = spelling if spelling.startswith("-") else parameter.metavar or spelling
                assert str(shown).strip("[]").upper() in section[1].upper(), (name, shown)
            assert parameter.help, f"unskew {name}: {parameter.name} has no help"
    api = text_of(reference.API)
    for name in unskew.__all__:
        assert f"\n### unskew.{name}\n" in api
        assert f"<!-- reference: unskew.{name} -->\n```python\n{name}" in api


def test_a_page_that_lacks_a_block_gets_it_and_is_then_the_same(tmp_path):
    (tmp_path / "docs").mkdir()
    whole = text_of(reference.API)
    block = re.search(r"### unskew.clip\n\n<!-- reference.*?<!-- end -->\n", whole, re.DOTALL)[0]
    for text in (whole.replace(block, ""), whole.replace("clip(variable", "clip(other")):
        (tmp_path / reference.API).write_text(text, encoding="utf-8")
        mended = reference.rewritten(reference.API, tmp_path)
        assert mended != text
        assert block.partition("\n")[2].strip() in mended


@pytest.mark.parametrize("name", ["calculator", "karel"])
def test_every_source_parameter_and_variable_of_a_domain_is_there(name):
    words, domain = set(inline(f"docs/{name}.md")), load_domain(name)
    known = {f"{name}/{source}" for source in domain.sources}
    known |= {p for make in domain.sources.values() for p in parameters(make)}
    known |= {f"{name}/{table}" for table in domain.catalog.tables}
    known |= {variable for variable in domain.variables if "-in-" not in variable}
    assert known <= words
    for recipe in domain.catalog.recipes:
        short = re.sub(r"^narrow-.*", "narrow-…", recipe)
        family, _, last = recipe.rpartition("-")
        assert f"{name}/{short}" in words or {f"{name}/{family}-train", f"-{last}"} <= words, recipe


def test_only_one_command_has_no_json():
    commands = reference.commands().items()
    silent = {n for n, c in commands if not any("--json" in p.opts for p in c.params)}
    assert silent == {"train"}
    assert "All but `train` take `--json`." in text_of("docs/commands.md")


# Links and names.


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made where Markdown is shown."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)]+)\)", text_of(page)):
        file, _, anchor = link.partition("#")
        if link.startswith("http"):
            continue
        target = path.parent / file if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_a_lost_link_is_noticed():
    assert "the-same-bytes" in anchors(ROOT / "docs/datasets.md")
    assert "other-bytes" not in anchors(ROOT / "docs/datasets.md")


def test_every_page_is_in_the_index_and_in_the_readme():
    for page in (ROOT / "docs").glob("*.md"):
        if page.name != "README.md":
            assert f"({page.name})" in text_of("docs/README.md")
            assert f"(docs/{page.name})" in text_of("README.md")


@pytest.mark.parametrize("page", PAGES)
def test_names_of_python_exist(page):
    for name in inline(page):
        for dotted in re.findall(r"\bunskew(?:\.\w+)+", name):
            module, value = dotted.split("."), unskew
            for i, part in enumerate(module[1:], 2):
                if not hasattr(value, part):
                    importlib.import_module(".".join(module[:i]))
                value = getattr(value, part)


@pytest.mark.parametrize("page", PAGES)
def test_tests_benches_and_files_that_are_named_exist(page):
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").glob("*.py"))
    for name in inline(page):
        if re.fullmatch(r"test_\w+|Test\w+", name):
            assert re.search(rf"(def|class) {name}\b", tests), name
        if re.fullmatch(r"(src|tests|bench|results|examples|docs)/[\w./*-]*", name):
            assert list(ROOT.glob(name.rstrip("/"))), name
        if re.fullmatch(r"[\w/]+/\w+\.py", name) and page != "CHANGELOG.md":
            assert list(ROOT.glob(name)) or list(ROOT.glob(f"src/**/{name}")), name
        for module in re.findall(r"python -m (bench\.\w+)", name):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def test_the_walk_names_functions_where_they_are():
    """`name` (`file.py`) and (`name`, `file.py`): the file has a function or class of that name."""
    text = text_of("docs/design.md").partition("## The way of one example")[2]
    pairs = re.findall(r"`(\w+)`(?:,| \()\s?`([\w/]+\.py)`", text)
    assert len(pairs) > 30
    for name, path in pairs:
        source = (ROOT / "src" / "unskew" / path).read_text()
        assert re.search(rf"(def|class) {name}\b", source), (name, path)


# Python.


def test_the_readme_python_works():
    names: dict = {}
    exec(fenced("README.md")[0], names)  # noqa: S102
    assert isinstance(next(names["examples"]), str)
    assert np.isfinite(names["examples"].tally.cost)


def test_the_readmes_domain_is_the_example_and_is_short():
    code = (ROOT / "examples/dice.py").read_text(encoding="utf-8")
    assert fenced("README.md")[1] == code
    assert len(code.splitlines()) < 40


def interactive(text: str) -> str:
    """The code of a text that shows its output, as doctest reads it."""
    code = "\n".join(re.findall(r"^```pycon\n(.*?)^```", text, re.DOTALL | re.M))
    return re.sub(r"^$(?!\n>>>|\n?\Z)", "<BLANKLINE>", code, flags=re.M)


def examples() -> dict[str, str]:
    """The code that shows its output: below each heading of api.md, and on each other page."""
    texts = {page: text_of(page) for page in PAGES}
    parts = re.split(r"^### (unskew[\w.]+)\n", texts.pop(reference.API), flags=re.M)
    texts |= dict(zip(parts[1::2], parts[2::2], strict=True))
    return {name: interactive(text) for name, text in texts.items()}


EXAMPLES = examples()


@pytest.mark.parametrize("name", [name for name, code in EXAMPLES.items() if code])
def test_the_examples_print_what_is_shown(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, 0)
    faults: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=flags).run(example, out=faults.append)
    assert not faults, "".join(faults)


def test_an_example_with_another_output_is_noticed():
    code = interactive("```pycon\n>>> print(1, end='\\n\\n2')\n1\n\n2\n>>> 3\n4\n```\n")
    example = doctest.DocTestParser().get_doctest(code, {}, "", None, 0)
    faults: list[str] = []
    result = doctest.DocTestRunner().run(example, out=faults.append)
    assert (result.failed, result.attempted) == (1, 2)
    assert "Expected:\n    4\nGot:\n    3" in faults[-1]


def test_every_public_name_has_an_example_with_its_output():
    for name in reference.blocks(reference.API):
        parsed = doctest.DocTestParser().get_examples(EXAMPLES[name])
        assert any(line.want for line in parsed), name


@pytest.mark.parametrize("page", PAGES)
def test_all_python_can_be_read_and_its_imports_exist(page):
    for code in fenced(page):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                for alias in node.names:
                    assert hasattr(module, alias.name), (page, alias.name)


def test_the_karel_problems_solve_themselves():
    from unskew.domains.karel import run
    from unskew.domains.karel.formats.problems import read_problem

    (text,) = indented("docs/karel.md", "# Put")
    problem = read_problem(text, "corners")
    ran = run(problem.program[None], problem.inputs)
    assert np.array_equal(ran.worlds, problem.outputs)
    assert not ran.status.any()
    corners = read_problem((ROOT / "examples/corners.txt").read_text(), "corners")
    which = np.zeros(len(corners.inputs), dtype=np.int64)
    assert np.array_equal(run(problem.program[None], corners.inputs, which).worlds, corners.outputs)


# Who to cite.


def test_the_citation_is_whole():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == unskew.__version__
    assert cited["license"] == "Apache-2.0"
    paper = cited["references"][0]
    bibtex = fenced("README.md", "bibtex")[0]
    assert f"{{{paper['title']}}}" in bibtex
    authors = [f"{a['family-names']}, {a['given-names']}" for a in paper["authors"]]
    assert f"{{{' and '.join(authors)}}}" in bibtex
    assert f"{{{paper['year']}}}" in bibtex
