"""Work of a GPU that is recorded once as a CUDA graph and then replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch

Job: TypeAlias = Callable[[], None]
# Takes a job and a number of warm-ups; returns a function that does the same work faster.
Capture: TypeAlias = Callable[[Job, int], Job]


def cuda_graph(job: Job, warm_ups: int) -> Job:
    """Record the work that a job gives to the GPU; return a function that does this work again.

    Recording does no work. The warm-ups do: they run the job, so that its kernels are chosen,
    compiled and loaded. PyTorch requires another stream for them.
    """
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(warm_ups):
            job()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    # Meanwhile other threads may allocate memory, such as the one that fetches a stream's tasks.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        job()
    return graph.replay
