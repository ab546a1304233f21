"""The library reasoning-gym: loads it at its first use, lists its tasks, and keeps it quiet."""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from unskew.core.errors import UnskewError

DOMAIN_NAME = "reasoning-gym"
INSTALL = f"pip install 'unskew[{DOMAIN_NAME}]'"
_MODULE = "reasoning_gym"


def is_installed() -> bool:
    """Return whether the library is installed, without loading it."""
    return find_spec(_MODULE) is not None


@cache
def factory() -> Any:
    """Load the library, which takes two seconds, and return its registry of tasks."""
    try:
        with quiet():
            import_module(_MODULE)
            return import_module(f"{_MODULE}.factory")
    except ImportError as error:
        raise UnskewError(
            f"this needs the library {DOMAIN_NAME} ({error}); install it: {INSTALL}"
        ) from error


@cache
def task_names() -> tuple[str, ...]:
    """Return the tasks that work with their default settings; no task without the library."""
    return tuple(sorted(filter(_has_defaults, factory().DATASETS))) if is_installed() else ()


def config_class(task: str) -> Any:
    """Return the dataclass of a task's settings."""
    return factory().DATASETS[task][1]


def task_doc(task: str) -> str:
    """Return a line on what a task is, from the library if it has one."""
    lines = (factory().DATASETS[task][0].__doc__ or "").strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else f"the task {task}"


def _has_defaults(task: str) -> bool:
    try:
        check_config(config_class(task)())
    except (UnskewError, TypeError):
        return False  # a mixture of other tasks, which the user must name
    return True


def check_config(config: Any) -> None:
    """Refuse settings that the library refuses, in the library's words."""
    try:
        getattr(config, "validate", lambda: None)()
    except (AssertionError, ValueError, TypeError) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise UnskewError(f"{reason}; change the settings") from error


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the output and the warnings of the library, and its use of shared generators.

    Some tasks draw from Python's or NumPy's global generator. Their states are restored.
    """
    pythons, numpys = random.getstate(), np.random.get_state()  # noqa: NPY002
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            random.setstate(pythons)
            np.random.set_state(numpys)  # noqa: NPY002


def seed_shared(seed: int) -> None:
    """Seed the shared generators, so that an item depends on its seed alone. Use ``quiet`` too."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
