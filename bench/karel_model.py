"""The Karel synthesizer's training step: examples per second, where they go, and a plain twin.

`python -m bench.karel_model -o FILE` writes the figures with what they were measured on. The
tasks are like the original dataset's, also in their lengths. The figures include everything that a
step does, such as gathering and expanding.
"""

from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

from bench.results import options, save
from tests.naive.karel_model import PlainSynthesizer
from unskew.core.rng import generator
from unskew.domains.karel.sources import msr
from unskew.models.karel.data.tasks import Minibatches, Tasks, joined
from unskew.models.karel.decode.beam import beam_search
from unskew.models.karel.network.channels import expand
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.train.step import StepConfig, TrainingStep

TASKS, BATCHES, SEED, REPEATS, STEPS = 50_000, (2048, 4096), 0, 5, 20
BEAM, BEAM_TASKS, MAX_LENGTH = 64, 2_500, 65
BF16 = torch.bfloat16
PARTS = {  # what a part's kernels are called
    "expanding the worlds": ("_expand",),
    "convolutions": ("fprop", "dgrad", "wgrad", "cudnn"),
    "their ReLU and bias, backward": ("_relu_backward",),
    "steps of the LSTM": ("_lstm_step",),
    "gates of tokens and pairs": ("_add_gates", "_sum_steps"),
    "linear layer, other products": ("nvjet", "gemm", "cutlass", "splitK"),
}
OTHER = "pooling, loss, casts, clipping, Adam"
NONE = "no GPU: the figures of the training step are left out"


def make_tasks(n: int) -> Tasks:
    """Draw tasks like the original dataset's."""
    source, parts = msr(), []
    for part in range(-(-n // source.chunk)):
        rows = min(source.chunk, n - part * source.chunk)
        parts.append(Tasks.of(source.draw(generator(SEED, "bench", part), rows)[0]))
    return joined(parts)


def milliseconds(job: Callable[[], object], repeats: int = REPEATS, times: int = 1) -> float:
    """Return the median time of a job on the device; the first call is not counted."""
    job()
    times_taken = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(times):
            job()
        end.record()
        torch.cuda.synchronize()
        times_taken.append(begin.elapsed_time(end) / times)
    return median(times_taken)


def fast(tasks: Tasks, rows: int) -> dict[str, float]:
    """Measure the step as it trains."""
    batches = Minibatches(tasks, rows, seed=SEED)
    model = Synthesizer(SynthesizerConfig()).to(tasks.programs.device)
    step = TrainingStep(model, batches, StepConfig(batch=rows))
    numbers = iter(range(10**9))
    spent = milliseconds(lambda: step.run(next(numbers), 0.5), REPEATS, STEPS)
    padding = len(batches.steps) / rows / float(tasks.lengths().float().mean()) - 1
    return _speed(rows, spent) | {"padding": round(padding, 4)}


class PlainStep:
    """A plain step: PyTorch's modules, autocast, and a compiled encoder.

    A batch has tasks of similar length, padded to the longest. Batches are taken at random.
    """

    def __init__(self, tasks: Tasks, rows: int) -> None:
        device = tasks.programs.device
        self.rows, self.lengths = rows, tasks.lengths()
        self.tasks, self.order = tasks, self.lengths.argsort()
        self.model = PlainSynthesizer().to(device, memory_format=torch.channels_last)
        self.model.encode = torch.compile(self.model.encode)  # type: ignore[method-assign]
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.rng = generator(SEED, "plain")

    def run(self) -> None:
        start = int(self.rng.integers(len(self.order) // self.rows)) * self.rows
        chosen = self.order[start : start + self.rows]
        longest = int(self.lengths[chosen].max())
        shown = torch.rand(self.rows, 6, device=chosen.device).argsort(dim=1)[:, :5]
        worlds = self.tasks.worlds[chosen.unsqueeze(1), shown]
        programs = self.tasks.programs[chosen, :longest].long()
        channels = expand(worlds.flatten(0, 1), BF16).permute(0, 3, 1, 2)
        before, after = channels.unflatten(0, (self.rows, 5)).chunk(2, dim=2)
        self.optimizer.zero_grad()
        with torch.autocast("cuda", BF16):
            logits = self.model(before, after, functional.pad(programs, (1, 0))[:, :-1])
        loss = functional.cross_entropy(
            logits.float().flatten(0, 1), programs.flatten(), ignore_index=0
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()


def plain(tasks: Tasks, rows: int) -> dict[str, float]:
    """Measure the plain twin; cuDNN chooses its convolutions by trying them, too."""
    with torch.backends.cudnn.flags(enabled=True, benchmark=True):
        return _speed(rows, milliseconds(PlainStep(tasks, rows).run, REPEATS, STEPS))


def split(tasks: Tasks, rows: int) -> dict[str, float]:
    """Add up the time of a step's kernels by what they do, in ms, without the gaps in between."""
    batches = Minibatches(tasks, rows, seed=SEED)
    model = Synthesizer(SynthesizerConfig()).to(tasks.programs.device)
    step = TrainingStep(model, batches, StepConfig(batch=rows), capture=lambda job, _: job)
    with torch.backends.cudnn.flags(enabled=True, benchmark=True):
        for _ in range(2):
            step.run(0, 0.5)
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            step.run(0, 0.5)
            torch.cuda.synchronize()
    spent: dict[str, float] = dict.fromkeys([*PARTS, OTHER], 0.0)
    for event in profiler.key_averages():
        names = (part for part, words in PARTS.items() if any(word in event.key for word in words))
        spent[next(names, OTHER)] += event.self_device_time_total / 1e3
    return {name: round(milliseconds, 3) for name, milliseconds in spent.items()}


def _speed(rows: int, spent: float) -> dict[str, float]:
    return {"examples_per_second": round(rows / spent * 1e3), "milliseconds": round(spent, 2)}


def beam_seconds(tasks: Tasks) -> dict[str, Any]:
    """Time beam search with untrained weights: their programs are long, so this is the worst."""
    model = Synthesizer(SynthesizerConfig()).to(tasks.programs.device)
    worlds = tasks.worlds[:BEAM_TASKS, :5]
    beam_search(model, worlds[:64], BEAM, MAX_LENGTH)
    seconds = {}
    for name, dtype in (("float32", torch.float32), ("bfloat16", BF16)):
        job = lambda dtype=dtype: beam_search(model, worlds, BEAM, MAX_LENGTH, dtype=dtype)  # noqa: E731
        seconds[name] = round(milliseconds(job, 1) / 1e3, 2)
    return {"tasks": BEAM_TASKS, "beam": BEAM, "max_length": MAX_LENGTH, "seconds": seconds}


def measured(n: int, *, with_plain: bool = True) -> dict[str, Any]:
    """Measure everything and print it on the way."""
    tasks = make_tasks(n).to(torch.device("cuda"))
    result: dict[str, Any] = {"fast": {}, "plain": {}, "split_ms": {}}
    for rows in BATCHES:
        result["fast"][str(rows)] = fast(tasks, rows)
        print(f"batch {rows}: {result['fast'][str(rows)]}", flush=True)
    for rows in BATCHES:
        result["split_ms"][str(rows)] = parts = split(tasks, rows)
        whole = result["fast"][str(rows)]["milliseconds"]
        for name, spent in parts.items():
            print(f"  {name:38}{spent:8.3f} ms {spent / whole:6.1%}")
        print(
            f"  {'together, of a whole step':38}{sum(parts.values()):8.3f} of {whole} ms",
            flush=True,
        )
    result["beam"] = beam_seconds(tasks)
    print(f"beam search: {result['beam']}", flush=True)
    if with_plain:
        rows = BATCHES[0]
        slow = plain(tasks, rows)
        ratio = result["fast"][str(rows)]["examples_per_second"] / slow["examples_per_second"]
        result["plain"][str(rows)] = slow | {"fast_over_plain": round(ratio, 2)}
        print(f"plain, batch {rows}: {result['plain'][str(rows)]}", flush=True)
    return result


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("-n", "--tasks", type=int, default=TASKS)
    parser.add_argument("--no-plain", action="store_true", help="leave out the plain twin")
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit(NONE)
    result = measured(chosen.tasks, with_plain=not chosen.no_plain)
    settings = {"tasks": chosen.tasks, "shown": 5, "repeats": REPEATS, "steps": STEPS}
    save(chosen.output, {"bench": "karel_model", "settings": settings, **result})


if __name__ == "__main__":
    main()
