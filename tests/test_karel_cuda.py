"""The interpreter on a CUDA device: on a real one, in Numba's simulator, and without one."""

import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

from tests.commands import python
from tests.naive import karel as naive
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.running.cuda import DeviceRuns, has_cuda, run_cuda, run_on_device
from unskew.domains.karel.running.interpreter import Status, run

PROGRAM = parse("def main(): move()")[None]
WORLD = world.from_picture(". .\n>. .")[None]


def pairs(pool: int, n: int):
    """Random programs, random worlds of ``pool``, and which belong together."""
    rng = generator(0, "cuda")
    programs = [naive.random_program(rng, int(rng.integers(5, 90))) for _ in range(pool)]
    rows = tokens.stacked([tokens.to_ids(list(program)) for program in programs])
    drawn = [naive.to_json(naive.random_world(rng)) for _ in range(pool)]
    worlds = np.stack([world.from_json(one) for one in drawn])
    chosen = rng.permutation(pool * pool)[:n]
    return compile_programs(rows), worlds[chosen % pool], chosen // pool


def same(expected, result) -> None:
    for field in fields(DeviceRuns):
        ours, theirs = getattr(result, field.name), getattr(expected, field.name)
        assert ours.dtype == theirs.dtype, field.name
        assert np.array_equal(ours, theirs), field.name


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("max_ticks", [200, 7])
def test_a_hundred_thousand_runs_on_a_device_are_those_of_the_cpu(max_ticks):
    code, worlds, which = pairs(1_000, 100_000)
    before = worlds.copy()
    expected = run(code, worlds, which, max_ticks=max_ticks)
    assert set(expected.status) == set(Status)
    same(expected, run_cuda(code, worlds, which, max_ticks=max_ticks))
    assert np.array_equal(worlds, before)


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
def test_tensors_on_a_device_run_there_and_in_place():
    import torch

    code, worlds, which = pairs(100, 5_000)
    expected = run(code, worlds, which)
    there = [torch.from_numpy(array).cuda() for array in (code.instructions, worlds, which)]
    ran = run_on_device(*there)
    assert np.array_equal(there[1].cpu().numpy(), worlds)
    same(expected, DeviceRuns(*(getattr(ran, f.name).copy_to_host() for f in fields(ran))))
    out = DeviceRuns(there[1], *(torch.as_tensor(getattr(ran, f.name)) for f in fields(ran)[1:]))
    assert run_on_device(*there, out=out) is out
    same(expected, DeviceRuns(*(getattr(out, f.name).cpu().numpy() for f in fields(out))))


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
def test_no_runs_on_a_device_are_no_runs():
    assert len(run_cuda(PROGRAM, WORLD[:0]).status) == 0


def simulated() -> None:
    """Compare in Numba's simulator: Python instead of a device, so a few runs only."""
    code, worlds, which = pairs(40, 200)
    expected = run(code, worlds, which)
    same(expected, run_cuda(code, worlds, which))
    from numba import cuda

    there = [cuda.to_device(array) for array in (code.instructions, worlds, which)]
    ran = run_on_device(*there)
    assert np.array_equal(there[1].copy_to_host(), worlds)
    same(expected, DeviceRuns(*(getattr(ran, f.name).copy_to_host() for f in fields(ran))))
    with pytest.raises(UnskewError, match=r"which is int64 \(200,\); give int64 \(199\)"):
        run_on_device(there[0], cuda.to_device(worlds[1:]), there[2])
    assert len(run_cuda(PROGRAM, WORLD[:0]).status) == 0


def test_the_simulator_of_a_device_runs_like_the_cpu():
    done = subprocess.run(
        [sys.executable, "-c", "from tests.test_karel_cuda import simulated; simulated()"],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_machine_without_a_device_says_so_in_a_line():
    if has_cuda():
        pytest.skip("there is a device")
    with pytest.raises(UnskewError, match=r"no CUDA device .*; run on the CPU") as caught:
        run_cuda(PROGRAM, WORLD)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_run_is_refused_before_a_device_is_needed():
    with pytest.raises(UnskewError, match="is no program"):
        run_cuda(PROGRAM[:, :-1], WORLD)
    with pytest.raises(UnskewError, match="instructions is a ndarray; give an array on the device"):
        run_on_device(compile_programs(PROGRAM).instructions, WORLD, np.zeros(1, np.int64))
    with pytest.raises(UnskewError, match="max_ticks is 0"):
        run_on_device(None, None, None, max_ticks=0)


def test_numbas_cuda_is_loaded_only_when_a_device_is_asked_for():
    code = (
        "import sys, unskew.domains.karel.running.cuda; "
        "print([m for m in sys.modules if m.startswith('numba.cuda')])"
    )
    done = python(code, check=True)
    assert done.stdout.strip() == "[]"
