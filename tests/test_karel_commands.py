"""train, evaluate and synthesize of Karel, as one types them; and the model that is shipped."""

import io
import json
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files

import numpy as np
import pytest
import torch

from tests.commands import exit_code, python
from tests.waiting import HANG, until
from unskew.cli.printing import echo
from unskew.cli.progress import call_after
from unskew.core.recipe import Recipe
from unskew.datasets.generate import generate
from unskew.domains.karel import from_picture, parse, run
from unskew.domains.karel.world import from_json, to_json
from unskew.models.checkpoint import load_checkpoint
from unskew.models.karel import score as karel_scoring
from unskew.models.karel.data.examples import (
    HELD_OUT,
    TEST_SETS,
    read_examples,
    read_held_out,
    read_tasks,
)
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.solve import solve
from unskew.models.karel.train.run import MODEL, SHIPPED, shipped_synthesizer
from unskew.models.runs import CHECKPOINT

LINE = """# A marker on every cell of the row.
== before
 .  .  .
>.  .  .
== after
 .  .  .
 1  1 >1
== before
 .  .
>.  .
== after
 .  .
 1 >1
"""


def unskew(*arguments, code=0):
    """Run a command in this process; for fixtures of the module, which have no ``run``."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert exit_code(*arguments) == code, err.getvalue()
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def refusal(*arguments):
    done = unskew(*arguments, code=2)
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small dataset, fewer tasks to check with, and a run on both, trained for two steps."""
    here = tmp_path_factory.mktemp("karel")
    generate(Recipe("karel/msr", 300), here / "data")
    generate(Recipe("karel/msr", 16, seed=1), here / "check")  # a model of full size decodes them
    few = ("--steps", 2, "--batch", 8, "--pair", 16, "--check", here / "check")
    told = unskew("train", here / "data", *few, "-o", here / "run").stdout
    (here / "told.txt").write_text(told)
    return here


def test_a_run_says_what_it_is_trained_on(folder):
    told = (folder / "told.txt").read_text()
    assert "examples of " in told
    assert "are left out, because they are in karel/msr-test, karel/msr-val" in told
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    metrics = [json.loads(line) for line in lines]
    assert metrics[-1]["step"] == 2


def test_a_run_may_begin_with_weights_that_see_differences(folder, tmp_path):
    few = ("--steps", 1, "--batch", 8, "--pair", 16, "--check", folder / "check")
    unskew("train", folder / "data", *few, "--differences", "-o", tmp_path / "run")
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (settings["model"]["differences"], settings["step"]["fan_in"]) == (True, 1024)
    plain = json.loads((folder / "run" / "config.json").read_text())
    assert "differences" not in plain["model"]
    assert "fan_in" not in plain["step"]


def test_test_programs_are_left_out_and_counted(folder):
    """Many short programs are in every draw of this size: they are counted, and gone."""
    kept = read_tasks([str(folder / "data")], TEST_SETS)
    everything = read_tasks([str(folder / "data")], ())
    assert len(kept.tasks) + kept.left_out == len(everything.tasks) == 300
    assert 0 < kept.shared <= kept.left_out
    test = {
        bytes(row[row > 0]) for row in read_tasks(["karel/msr-test"], ()).tasks.programs.numpy()
    }
    assert not test & {bytes(row[row > 0]) for row in kept.tasks.programs.numpy()}


def test_scores_are_tables_json_and_a_picture(folder):
    args = ("evaluate", folder / "run", folder / "data", "-n", 12, "--beam", 2)
    table = unskew(*args, "--by", "nesting").stdout
    assert "generalizes" in table
    assert "nesting 0" in table
    assert "12 of 300 tasks, 5 pairs shown, 1 held out, beam 2" in " ".join(table.split())
    scores = json.loads(unskew(*args, "--json", "--heatmap", folder / "h.png").stdout)
    (score,) = scores[str(folder / "run")].values()
    assert (score["tasks"], score["of"]) == (12, 300)
    assert (score["shown_from"], score["shown_to"], score["held_out"]) == (5, 5, [1, 1])
    assert score["shares"]["valid"]["share"] == 1
    assert (folder / "h.png").read_bytes()[:4] == b"\x89PNG"


def test_sets_are_scored_whole_and_it_is_said_that_nothing_is_held_out(folder):
    args = ("evaluate", folder / "run", "karel/problems", "--beam", 1)
    table = " ".join(unskew(*args).stdout.split())
    assert "karel/problems: 41 tasks, 1 to 4 pairs shown, none held out, beam 1" in table
    (score,) = json.loads(unskew(*args, "--json").stdout)[str(folder / "run")].values()
    assert (score["tasks"], score["of"], score["held_out"]) == (41, 41, [0, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "nestign"], "karel/problems: unknown variable 'nestign'; did you mean 'nesting'"),
        (["--by", "name"], "data: unknown variable 'name'"),  # of the first set it is a column
        (["--by", "nowhere:size"], "there is no module 'nowhere'"),
        (["--also", "nowhere"], "nowhere"),
        (["--beam", "65"], "beam is 65"),
        (["--shown", "2"], "karel/problems: shown is 2; examples have 1 to 4 pairs: show 1"),
        (["--heatmap", "x.txt"], "allowed are .png, .svg"),
        (["nope"], "unknown source, recipe or file 'nope'; check the path"),
    ],
)
def test_what_cannot_be_scored_is_refused_before_anything_is_decoded(
    folder, run, monkeypatch, arguments, message
):
    monkeypatch.setattr(karel_scoring, "solve", lambda *_, **__: pytest.fail("decoded"))
    args = ("evaluate", folder / "run", "karel/problems", folder / "data", *arguments)
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["karel/msr"], "give --minutes or --steps"),
        (["karel/msr", "--steps", "1", "--shown", "x"], "--shown is 'x'"),
        (["karel/msr", "--steps", "1", "--shown", "5-1"], "the smaller number first"),
        (["karel/msr", "karel/msr-val", "--steps", "1"], "karel/msr never ends; train on streams"),
        (["karel/msr", "--steps", "1", "--share", "1", "--share", "2"], "2 shares for 1 streams"),
        (["karel/msr-val", "--steps", "1", "--share", "2"], "--share is for sources without end"),
        (["karel/msr-val", "--steps", "1", "--reuse", "2"], "--reuse is for sources without end"),
        (["karel/msr-val", "--steps", "1", "--workers", "2"], "--workers is for sources"),
        (["karel/msr", "--steps", "1", "--workers", "-1"], "workers is -1"),
        (["karel/msr", "--steps", "1", "--reuse", "0"], "reuse is 0"),
        (["karel/msr", "calculator/dcfg", "--steps", "1"], "are of several domains"),
        (["karel/msr", "--steps", "1", "--exclude", "a", "--exclude-nothing"], "contradict"),
        (["karel/problems", "--steps", "1", "--set", "a=1"], "--set is for sources"),
        (["nothing", "--steps", "1"], "unknown source, recipe or file 'nothing'; check the path"),
        (
            ["karel/msr-val", "--steps", "1", "--exclude-nothing", "--check", "karel/problems"],
            "--check is karel/problems, whose examples have 1 to 4 pairs; give a dataset",
        ),
        (["karel/msr", "--steps", "1", "--seeds", "3"], "--seeds is for the Calculator"),
    ],
)
def test_what_cannot_be_trained_is_refused(tmp_path, arguments, message):
    assert message in refusal("train", *arguments, "--batch", "4", "-o", tmp_path / "run")


def test_a_run_is_checked_with_tasks_from_all_of_a_set():
    """Those of `karel/actions-test` are in the order of their lengths."""
    tasks = read_held_out("karel/actions-test")
    assert len(tasks.programs) == HELD_OUT
    assert tasks.lengths().max() > tasks.lengths().min() + 5


def test_a_recipe_says_it_all(tmp_path):
    (tmp_path / "r.json").write_text(Recipe("karel/msr", 5).to_json())
    few = ("--steps", "1", "-o", tmp_path / "run")
    for option in (("--set", "pairs=3"), ("--homogenize", "size")):
        assert "has all settings" in refusal("train", tmp_path / "r.json", *option, *few)


def test_a_seed_of_a_source_counts(folder):
    args = ("evaluate", folder / "run", "karel/msr", "-n", 3, "--beam", 1, "--by", "size", "--json")
    first, again, other = (unskew(*args, "--seed", seed).stdout for seed in (1, 1, 2))
    assert first == again != other
    assert "beam is 0" in refusal("evaluate", folder / "run", "karel/msr", "--beam", 0)


def test_more_pairs_than_there_are_cannot_be_shown(tmp_path, folder):
    few = ("--steps", 1, "--batch", 4, "--shown", 7, "-o", tmp_path / "run")
    assert "shown is 7; tasks have 6 pairs: show 1 to 6" in refusal("train", folder / "data", *few)


def test_a_problem_is_solved_and_the_programs_are_right(tmp_path):
    (tmp_path / "line.txt").write_text(LINE)
    told = unskew("synthesize", tmp_path / "line.txt", "--top", 2).stdout
    programs = told.split("# ")[1:]
    assert len(programs) == 2
    for text in programs:
        code = parse(text.partition("\n")[2].rsplit("\n\n", 1)[0])
        for width in (2, 3):
            row = "  ".join("." * width)
            start = from_picture(f" {row}\n>{row}")
            after = run(code[None], start[None])
            assert after.status[0] == 0
            end = " ".join(["1"] * (width - 1))
            wanted = from_picture(f" {row}\n {end.replace(' ', '  ')} >1")
            assert to_json(after.worlds[0]) == to_json(wanted)
    assert "pairs show" in told


def test_programs_are_given_as_json(tmp_path):
    (tmp_path / "line.txt").write_text(LINE)
    made = unskew("synthesize", tmp_path / "line.txt", "--top", 2, "--json")
    data = json.loads(made.stdout)
    assert (data["pairs"], data["beam"], data["tried"]) == (2, 64, 64)
    assert 2 <= data["found"] <= 64
    assert data["seconds"] > 0
    assert data["load_seconds"] > 0
    programs = data["programs"]
    assert [program["rank"] for program in programs] == [1, 2]
    assert programs[0]["log_probability"] > programs[1]["log_probability"]
    for program in programs:
        assert np.array_equal(parse(program["program"]), parse(program["text"]))
        assert 1 <= program["candidate"] <= 64


ODD = "== before\n 9  9\n>9  9\n== after\n 1  8\n>4  2\n"


def test_what_no_program_does_is_not_found(tmp_path):
    (tmp_path / "odd.txt").write_text(ODD)
    told = unskew("synthesize", tmp_path / "odd.txt", "--beam", 4, code=1).stdout
    assert told.startswith("none found")
    told = unskew("synthesize", tmp_path / "odd.txt", "--beam", 4, "--json", code=1).stdout
    assert (json.loads(told)["found"], json.loads(told)["programs"]) == (0, [])


COMPILED = """
from numba.core.dispatcher import Dispatcher
from unskew.domains.karel.language import compiler
from unskew.domains.karel.running import interpreter
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.data.examples import read_examples
from unskew.models.karel.train.run import shipped_synthesizer
from unskew.models.karel.decode.solve import solve, warm_up

def compiled():
    names = {**vars(compiler), **vars(interpreter)}
    return {n: len(k.signatures) for n, k in names.items() if isinstance(k, Dispatcher)}

model = shipped_synthesizer()
tasks = Tasks.of(read_examples("karel/problems").head(1))
none = compiled()
warm_up(model)
ready = compiled()
solve(model, tasks, 64)
print(sum(none.values()), sum(ready.values()), compiled() == ready)
"""


def test_what_solving_needs_is_compiled_before(tmp_path):
    """In a process of its own, for here it may be there already."""
    done = python(COMPILED)
    none, ready, same = done.stdout.split()
    assert int(none) < int(ready)
    assert same == "True"


def test_one_is_told_what_takes_long_and_nothing_of_what_does_not(capfd):
    told = []
    with call_after(0.01, lambda: echo("compiling", err=True)):
        until(lambda: told.append(capfd.readouterr()) or told[-1].err)
    with call_after(HANG, lambda: echo("loading", err=True)):
        pass
    assert told[-1] == ("", "compiling\n")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("== after", "== afterwards"), "found '== afterwards'"),
        (lambda text: text.partition("==")[0], "found"),
        (lambda _: "", "is empty; write a program or a problem there"),
    ],
)
def test_what_is_no_problem_is_refused(tmp_path, change, message):
    (tmp_path / "p.txt").write_text(change(LINE))
    assert message in refusal("synthesize", tmp_path / "p.txt")


def test_other_runs_and_files_are_refused(tmp_path, folder):
    (tmp_path / "line.txt").write_text(LINE)
    (tmp_path / "bad.safetensors").write_bytes(b"no model")
    for run_, message in (
        (tmp_path / "bad.safetensors", "a whole checkpoint"),
        (tmp_path, "not a run"),
    ):
        assert message in refusal("synthesize", tmp_path / "line.txt", "--run", run_)
    assert "is not a run" in refusal("evaluate", folder / "data", "karel/msr-test")


def test_the_shipped_model_is_small_and_solves_what_it_did():
    """63 % of the uniform test set at beam 64 (results/karel_synthesizer.json); 60 tasks here."""
    assert len(files("unskew.models.karel").joinpath(SHIPPED).read_bytes()) < 10 * 2**20
    tasks = Tasks.of(read_examples("karel/uniform-test", 60))
    solved = solve(shipped_synthesizer(), tasks, beam=8).judged
    assert solved.generalizes[:, 0].mean() > 0.45
    assert solved.consistent.any(axis=1).mean() > 0.6
    assert np.array_equal(from_json(to_json(tasks.worlds[0, 0, 0].numpy())), tasks.worlds[0, 0, 0])


# The third step takes until it is interrupted.
HELD = """
import signal, sys, time
from unskew.cli import main
from unskew.models.karel.train import run as karel_run

class Held(karel_run.TrainingStep):
    def run(self, number, done):
        told, note = [], signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, lambda *args: (told.append(1), note(*args)))
        print("step", number + 1, file=sys.stderr, flush=True)
        while number == 2 and not told:
            time.sleep(0.01)
        signal.signal(signal.SIGINT, note)
        super().run(number, done)

karel_run.TrainingStep = Held
main()
"""


def test_ctrl_c_saves_the_step_that_it_waits_for(folder, tmp_path):
    few = ("--steps", 6, "--batch", 8, "--pair", 16, "--check", folder / "check", "-o")
    command = ["train", folder / "data", *few]
    unskew(*command, tmp_path / "whole")
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, *map(str, command), str(tmp_path / "run")],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    told = []
    while "step 3" not in told:
        told.append(process.stderr.readline().strip())
        assert process.poll() is None, told
    process.send_signal(signal.SIGINT)
    told += process.communicate(timeout=HANG)[1].splitlines()
    assert process.returncode == 130
    last = "stopped; no file is half-written; run the same command again to continue"
    assert told[-1] == last
    steps = [line for line in told if line.startswith("step")]
    _, facts = load_checkpoint(tmp_path / "run" / CHECKPOINT)
    assert steps[-1] == "step 3"
    assert facts["step"] == 3
    assert not list((tmp_path / "run").glob(".*"))
    assert "already" not in unskew(*command, tmp_path / "run").stdout
    assert "(it was finished already)" in unskew(*command, tmp_path / "run").stdout
    for name in (MODEL, CHECKPOINT):
        whole, gone_on = (load_checkpoint(tmp_path / run / name)[0] for run in ("whole", "run"))
        assert whole.keys() == gone_on.keys()
        assert all(torch.equal(whole[tensor], gone_on[tensor]) for tensor in whole)
