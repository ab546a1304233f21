"""The options of several commands that say who does the work: --workers, --engine, --address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from unskew.cli.options import option
from unskew.core.errors import UnskewError, check_count

if TYPE_CHECKING:
    from unskew.datasets.engines.work import Engine

EngineName = Annotated[
    str, option("local, or ray to share the files out on a Ray cluster.", "--engine")
]
Workers = Annotated[
    int | None,
    option("Number of processes; each reads some of the files.", "--workers", default="1"),
]
Address = Annotated[
    str | None, option("Address of the Ray cluster.", "--address", default="this machine")
]


def engine_of(
    name: str, workers: int | None, address: str | None, default: int = 1, most: int | None = None
) -> Engine | None:
    """Return the engine that does the work; None if this process does it alone.

    ``default`` is the number of workers if the user names none, and ``most`` are of use.
    """
    if name not in ("local", "ray"):
        raise UnskewError(f"--engine is {name!r}; give local or ray")
    if name == "ray":
        from unskew.datasets.engines import ray_cluster

        if workers is not None:
            raise UnskewError("--workers is for --engine local; Ray uses all of its cluster")
        return ray_cluster(address)
    if address is not None:
        raise UnskewError("--address belongs to a Ray cluster; add --engine ray")
    if workers is not None:
        check_count("workers", workers, "use at least one")
    crew = default if workers is None else workers
    if min(crew, crew if most is None else most) == 1:
        return None
    from unskew.datasets.engines import processes

    return processes(crew)
