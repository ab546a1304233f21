"""Karel programs on a CUDA device: the interpreter's own ``run_one``, one thread a run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.errors import UnskewError, check_count
from unskew.domains.karel.language.compiler import Code
from unskew.domains.karel.running.interpreter import (
    MAX_TICKS,
    NESTED_REPEATS,
    Runs,
    checked_pairs,
    run,
    run_one,
)
from unskew.domains.karel.world import BYTES

THREADS = 128  # of a block; 64 and 256 are as fast
cuda: Any = None  # Numba's, when there is a kernel


@dataclass(frozen=True)
class DeviceRuns:
    """The result of each run, as arrays on the device: the fields of ``Runs``, same types."""

    worlds: Any
    status: Any
    ticks: Any
    coverage: Any
    actions: Any


def run_cuda(
    programs: Bytes | Code, worlds: Bytes, which: Ints | None = None, *, max_ticks: int = MAX_TICKS
) -> Runs:
    """Do what ``run`` does, on the device, from NumPy arrays to NumPy arrays."""
    code, which = checked_pairs(programs, worlds, which, max_ticks)
    device = _cuda()
    if len(worlds) == 0:
        return run(code, worlds, which)
    mine = device.to_device(np.ascontiguousarray(worlds))
    ran = run_on_device(
        device.to_device(code.instructions),
        mine,
        device.to_device(which),
        max_ticks=max_ticks,
        out=device_room(len(worlds), mine),
    )
    return Runs(*(getattr(ran, field.name).copy_to_host() for field in fields(ran)))


def run_on_device(
    instructions: Any,
    worlds: Any,
    which: Any,
    *,
    max_ticks: int = MAX_TICKS,
    out: DeviceRuns | None = None,
) -> DeviceRuns:
    """Run programs on worlds that are on the device, and leave the results there.

    Every array has a ``__cuda_array_interface__``: Numba's arrays and PyTorch's CUDA tensors do.
    ``instructions`` are those of a ``Code``. Every program that ``which`` names must have the
    status FINE; this is not checked here. The results go to ``out`` if it is given. If its worlds
    are ``worlds`` themselves, they change in place. The work is queued on the default stream.
    """
    check_count("max_ticks", max_ticks)
    code = _on_device("instructions", instructions, (None, None), np.int64)
    before = _on_device("worlds", worlds, (None, BYTES), np.uint8)
    n = before.shape[0]
    owner = _on_device("which", which, (n,), np.int64)
    out = device_room(n) if out is None else out
    after, *results = (
        _on_device(f"out.{name}", getattr(out, name), *kind) for name, kind in _kinds(n).items()
    )
    if n == 0:
        return out
    if out.worlds is not worlds:
        after.copy_to_device(before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Numba warns of runs too few to fill a device
        launch = _kernel()[-(-n // THREADS), THREADS]
    launch(code, owner, max_ticks, after, *results)
    return out


def device_room(n: int, worlds: Any = None) -> DeviceRuns:
    """Return room on the device for ``n`` runs; results overwrite ``worlds`` if it is given."""
    kinds, device = _kinds(n), _cuda()
    if worlds is None:
        worlds = device.device_array(*kinds["worlds"])
    return DeviceRuns(worlds, *(device.device_array(*kind) for kind in list(kinds.values())[1:]))


def _kinds(n: int) -> dict[str, tuple[tuple[int, ...], type]]:
    """Return the shape and the type of each array of ``n`` runs."""
    return {
        "worlds": ((n, BYTES), np.uint8),
        "status": ((n,), np.uint8),
        "ticks": ((n,), np.int32),
        "coverage": ((n, 2), np.uint64),
        "actions": ((n, 5), np.int32),
    }


def has_cuda() -> bool:
    """Return whether there is a device to run on."""
    try:
        _cuda()
    except UnskewError:
        return False
    return True


def _cuda() -> Any:
    """Import Numba's CUDA, which takes time, when a device is asked for."""
    try:
        device: Any = import_module("numba.cuda")
    except ImportError as error:
        raise UnskewError(f"Numba has no CUDA ({error}); pip install numba-cuda") from error
    if not device.is_available():
        raise UnskewError(
            "Numba finds no CUDA device or driver; run on the CPU with unskew.domains.karel.run, "
            "or check whether nvidia-smi shows one"
        )
    if not hasattr(np, "row_stack"):
        # numba-cuda needs row_stack at the first launch, but NumPy 2.5 does not have it. numba-cuda
        # will not change this (NVIDIA/numba-cuda, issue 907).
        vars(np)["row_stack"] = np.vstack
    return device


@cache
def _kernel() -> Any:
    """Compile for the device at the first call.

    The machine code is not kept on disk, because a change in another file would not renew it.
    """
    global cuda  # noqa: PLW0603 - Numba's simulator looks for it there
    cuda = _cuda()

    def run_row(  # type: ignore[no-untyped-def]
        code, which, max_ticks, worlds, status, ticks, coverage, actions
    ):
        # A run looks at few cells of its world. So copying the world to nearer memory and back
        # costs more than it saves.
        row = cuda.grid(1)
        if row < worlds.shape[0]:
            counters = cuda.local.array(NESTED_REPEATS, np.uint8)
            counts = cuda.local.array(5, np.int32)  # near, since every action adds to one
            for i in range(5):
                counts[i] = 0
            status[row], ticks[row] = run_one(
                code[which[row]], worlds[row], max_ticks, counters, coverage[row], counts, None
            )
            for i in range(5):
                actions[row, i] = counts[i]

    return cuda.jit(run_row)


def _on_device(name: str, array: Any, shape: tuple[int | None, ...], dtype: type) -> Any:
    """Return an array on the device as Numba's; refuse another shape or type."""
    if hasattr(array, "copy_to_host"):  # one of Numba's own
        ours = array
    elif hasattr(array, "__cuda_array_interface__"):
        ours = _cuda().as_cuda_array(array)
    else:
        raise UnskewError(
            f"{name} is a {type(array).__name__}; give an array on the device: "
            "numba.cuda.to_device makes one"
        )
    fits = len(ours.shape) == len(shape) and all(
        size in (None, actual) for size, actual in zip(shape, ours.shape, strict=True)
    )
    if not fits or ours.dtype != dtype:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise UnskewError(
            f"{name} is {ours.dtype} {tuple(ours.shape)}; give {np.dtype(dtype)} ({wanted})"
        )
    return ours
