"""The Calculator experiment at its smallest scale, and the committed result of the full one."""

import hashlib
import io
import json
import math
import shutil
import subprocess
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from unskew.balance.theory import cost_bound
from unskew.core.errors import UnskewError
from unskew.experiments import calculator, load_experiment
from unskew.experiments.provenance import commit
from unskew.experiments.say import Say

NEVER_COMMITTED = ("karel_train.json", "karel_model_speed.json")  # what made them, to the letter
RESULT = Path(__file__).parents[1] / "results" / "calculator.json"


@pytest.fixture(scope="module")
def smoke():
    stages = []
    result = calculator.run("smoke", None, Say(stages.append))
    assert any("training 84 models" in stage for stage in stages)
    return result


def check_shape(result):
    ours = result["ours"]
    for table in ("original", "by_variable", "by_epsilon", "kl_removed"):
        for source, cells in result["paper"][table].items():
            assert set(ours[table][source]) == set(cells)
            for cell in ours[table][source].values():
                assert math.isfinite(cell["mean"])
                assert cell["half_width"] >= 0
                assert len(cell["values"]) == len(result["seeds"])


def check_directions(result):
    """What holds at any scale: every variable gets more uniform, no cost is above its bound, and
    a larger ε is cheaper."""
    for cells in result["ours"]["kl_removed"].values():
        assert all(5 < cell["mean"] <= 100 for cell in cells.values())
    points = {(p["source"], p["variable"], p["epsilon"]): p for p in result["costs"]}
    for (source, variable, epsilon), point in points.items():
        assert point["draws_per_kept"] <= point["bound"] == round(cost_bound(epsilon), 4)
        dearer = points.get((source, variable, epsilon / 2))
        if dearer is not None:
            assert dearer["draws_per_kept"] > point["draws_per_kept"]


def test_smoke_makes_every_table_and_the_figure(smoke):
    check_shape(smoke)
    check_directions(smoke)


def test_smoke_models_beat_chance(smoke):
    """80 steps are enough to begin to read single digits; guessing gets 10 %."""
    original = smoke["ours"]["original"]
    assert original["t2t"]["accuracy"]["mean"] > 18
    assert original["dcfg"]["accuracy"]["mean"] > 35


def test_the_papers_epsilon_table_is_the_mean_of_its_variable_table():
    for source in calculator.SOURCES:
        by_variable = calculator.PAPER["by_variable"][source].values()
        mean = sum(by_variable) / len(by_variable)
        assert mean == pytest.approx(calculator.PAPER["by_epsilon"][source]["0.025"], abs=0.01)


def test_the_epsilon_table_is_the_mean_of_the_variable_table(smoke):
    for source in calculator.SOURCES:
        cells = smoke["ours"]["by_variable"][source].values()
        mean = sum(cell["mean"] for cell in cells) / len(cells)
        by_epsilon = smoke["ours"]["by_epsilon"][source]["0.025"]["mean"]
        assert by_epsilon == pytest.approx(mean, abs=2e-3)


def test_the_committed_result_is_whole_and_says_where_it_came_from():
    result = json.loads(RESULT.read_text())
    check_shape(result)
    check_directions(result)
    assert result["scale"] == "full"
    assert len(result["seeds"]) >= 3
    assert result["provenance"]["hardware"]
    assert result["seconds"] > 0


def test_unknown_experiments_and_scales_are_refused():
    with pytest.raises(UnskewError, match="unknown experiment"):
        load_experiment("karol")
    with pytest.raises(UnskewError, match="unknown scale"):
        calculator.run("huge")


def test_a_result_names_the_commit_that_made_it(tmp_path):
    """In a checkout git knows it, an archive has it written, and elsewhere nobody does."""
    home = tmp_path / "src" / "unskew"
    (home / "experiments").mkdir(parents=True)
    written = home / "experiments" / "commit.txt"
    for text, message in (("$Format:%H$\n", "unknown"), ("0123abc\n", "0123abc")):
        written.write_text(text)
        assert commit(home) == message
    git = shutil.which("git")
    if git is None:
        pytest.skip("there is no git")

    def run(*arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        command = [git, "-C", tmp_path, *who, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    written.write_text("$Format:%H$\n")
    run("init", "-q")
    run("add", ".")
    run("commit", "-q", "-m", "one")
    assert commit(home) == run("rev-parse", "HEAD") != ""
    (tmp_path / "notes").write_text("not the package's")
    assert commit(home) == run("rev-parse", "HEAD")
    (home / "more.py").write_text("")
    assert commit(home) == f"{run('rev-parse', 'HEAD')}, changed"


def test_the_commit_of_a_result_has_the_code_that_made_it():
    """``source_sha256`` is made again from what git has under that commit's name."""
    root = Path(__file__).parents[1]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        pytest.skip("this is no checkout")

    def ask(*arguments):
        return subprocess.run([git, "-C", root, *arguments], capture_output=True, check=True).stdout

    if ask("rev-parse", "--is-shallow-repository").strip() == b"true":
        pytest.skip("this checkout has no history")

    def hashed(commit):
        with tarfile.open(fileobj=io.BytesIO(ask("archive", commit, "src/unskew"))) as archive:
            files = {PurePosixPath(f.name): archive.extractfile(f) for f in archive if f.isfile()}
            digest = hashlib.sha256()
            for path in sorted(path for path in files if path.suffix == ".py"):
                digest.update(str(path.relative_to("src/unskew")).encode() + files[path].read())
        return digest.hexdigest()[:16]

    results = {path: json.loads(path.read_text()) for path in (root / "results").rglob("*.json")}
    made_by = {
        path.name: result["provenance"]
        for path, result in results.items()
        if "source_sha256" in result.get("provenance", {}) and path.name not in NEVER_COMMITTED
    }
    code = {commit: hashed(commit) for commit in {p["commit"] for p in made_by.values()}}
    assert len(code) > 3
    for name, facts in made_by.items():
        assert code[facts["commit"]] == facts["source_sha256"], name
