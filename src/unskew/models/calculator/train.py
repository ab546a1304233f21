"""The training loop, on CPU and GPU: all members at once, resumable, with metrics as it goes."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unskew.core.errors import UnskewError, check_range
from unskew.core.rng import generator
from unskew.models.calculator.network import Expressions, ReaderConfig, Readers
from unskew.models.checkpoint import AGAIN, check_shapes, load_checkpoint, save_checkpoint
from unskew.models.runs import CHECKPOINT, SAVE_SECONDS, Stop, claim, cut_log, held_interrupts, log


@dataclass(frozen=True)
class TrainConfig:
    """How to train; the defaults train one small reader on a CPU in a few minutes."""

    steps: int = 2000
    batch: int = 128
    rate: float = 2e-3
    warmup: int = 100
    clip: float = 1.0
    seed: int = 0
    log_every: int = 100
    save_every: int = 1000

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        for name in ("steps", "batch", "log_every", "save_every"):
            check_range(name, getattr(self, name), 1)
        check_range("rate", self.rate, 1e-7, 1.0)

    def rate_at(self, step: int) -> float:
        """Return the learning rate: a linear warm-up, then half a cosine down to zero."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.rate * (1 + math.cos(math.pi * min(1.0, done))) / 2


class TrainingData:
    """Training sets on the device, and which of them each member reads."""

    def __init__(
        self, sets: Sequence[Expressions], set_of_member: Sequence[int], device: torch.device
    ) -> None:
        """Stack sets of one size as tokens (D, n, T), lengths and values (D, n)."""
        sizes = {len(data) for data in sets}
        if len(sizes) != 1:
            raise UnskewError(f"training sets have sizes {sorted(sizes)}; make them equal")
        self.size = sizes.pop()
        self.tokens = torch.stack([torch.from_numpy(data.tokens) for data in sets]).to(device)
        self.lengths = _stacked([data.lengths.astype(np.int32) for data in sets], device)
        self.values = _stacked([data.values for data in sets], device)
        self._sets = sets
        self.set_of_member = torch.tensor(set_of_member, device=device).unsqueeze(1)

    def digest(self) -> str:
        """Name what is trained on, so that a run never goes on with other data."""
        names = [data.digest() for data in self._sets]
        members = self.set_of_member.flatten().tolist()
        text = json.dumps([names, members])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def batch(self, rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Draw rows with replacement for each member: tokens (M, B, T), lengths, values."""
        members = len(self.set_of_member)
        index = torch.randint(
            self.size, (members, rows), generator=generator, device=self.tokens.device
        )
        which = self.set_of_member
        return (
            self.tokens[which, index],
            self.lengths[which, index].long(),
            self.values[which, index].long(),
        )


@dataclass
class Progress:
    """What the loop tells while it runs."""

    step: int
    loss: float
    rate: float
    examples_per_second: float


def train(
    reader: ReaderConfig,
    config: TrainConfig,
    data: TrainingData,
    folder: Path | None,
    report: Callable[[Progress], None] = lambda _: None,
) -> Readers:
    """Train every member; with a folder, keep checkpoints and metrics there and go on from them."""
    device = data.tokens.device
    model = Readers(reader).to(device)
    step = _Step(model, config, data)
    begin = 0
    if folder is not None:
        facts = {"reader": asdict(reader), "train": asdict(config), "data": data.digest()}
        claim(folder, facts)
        if (folder / CHECKPOINT).is_file():
            begin = step.restore(folder / CHECKPOINT)
        cut_log(folder, begin)
    with held_interrupts() as stop:
        _take_steps(step, config, begin, folder, report, stop)
    return model


def _take_steps(
    step: _Step,
    config: TrainConfig,
    begin: int,
    folder: Path | None,
    report: Callable[[Progress], None],
    stop: Stop,
) -> None:
    """Go on to the end, or until asked to stop: then all steps that were taken are saved."""
    clock, clocked = time.perf_counter(), begin
    saved = clock
    for done in range(begin + 1, config.steps + 1):
        step.run(done - 1)
        last = done == config.steps
        if last or done % config.log_every == 0:
            loss = float(step.losses.mean())
            if not math.isfinite(loss):
                raise UnskewError(
                    f"the loss is {loss} at step {done}; lower --rate ({config.rate})"
                )
            now = time.perf_counter()
            speed = (done - clocked) * config.batch * len(step.losses) / max(now - clock, 1e-9)
            clock, clocked = now, done
            progress = Progress(done, loss, config.rate_at(done - 1), speed)
            report(progress)
            if folder is not None:
                log(folder, asdict(progress))
        asked = stop.asked
        due = done % config.save_every == 0 or time.perf_counter() - saved > SAVE_SECONDS
        if folder is not None and (last or due or asked):
            step.save(folder / CHECKPOINT, done)
            saved = time.perf_counter()
        if asked:
            return


class _Step:
    """One optimizer step. On a GPU it is captured once as a graph and replayed."""

    def __init__(self, model: Readers, config: TrainConfig, data: TrainingData) -> None:
        self._model, self._config, self._data = model, config, data
        self._device = data.tokens.device
        self._on_gpu = self._device.type == "cuda"
        seed = int(generator(config.seed, "batches").integers(2**62))
        self._generator = torch.Generator(self._device).manual_seed(seed)
        self._rate = torch.tensor(config.rate, device=self._device)
        rate = self._rate if self._on_gpu else config.rate
        self._optimizer = torch.optim.Adam(
            model.parameters(), lr=rate, capturable=self._on_gpu, foreach=not self._on_gpu
        )
        self._batch: tuple[Tensor, Tensor, Tensor] | None = None
        self._graph: Any = None
        self.losses = torch.zeros(model.members, device=self._device)

    def run(self, step: int) -> None:
        """Take one step on a fresh batch."""
        batch = self._data.batch(self._config.batch, self._generator)
        if not self._on_gpu:
            longest = int(batch[1].max())
            self._optimizer.param_groups[0]["lr"] = self._config.rate_at(step)
            self._compute(batch[0][..., :longest], batch[1], batch[2])
            return
        self._rate.fill_(self._config.rate_at(step))
        if self._batch is None:
            self._batch = tuple(tensor.clone() for tensor in batch)  # type: ignore[assignment]
            self._warm_up_and_capture()
        for fixed, fresh in zip(self._batch or (), batch, strict=True):
            fixed.copy_(fresh)
        self._graph.replay()

    def _compute(self, tokens: Tensor, lengths: Tensor, values: Tensor) -> None:
        self._optimizer.zero_grad(set_to_none=False)
        losses = self._model.losses(tokens, lengths, values)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        _clip_each(list(self._model.parameters()), self._config.clip)
        self._optimizer.step()
        self.losses.copy_(losses.detach())

    def _warm_up_and_capture(self) -> None:
        """Run a few steps to compile and allocate, put everything back, then capture."""
        before = {name: value.clone() for name, value in self._model.state_dict().items()}
        saved = {k: v.clone() for k, v in self._optimizer_tensors().items()}
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._compute(*(self._batch or ()))
        torch.cuda.current_stream().wait_stream(side)
        self._model.load_state_dict(before)
        for name, tensor in self._optimizer_tensors().items():
            tensor.copy_(saved[name]) if name in saved else tensor.zero_()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._compute(*(self._batch or ()))

    def _optimizer_tensors(self) -> dict[str, Tensor]:
        found = {}
        for name, parameter in self._model.named_parameters():
            for key, value in self._optimizer.state.get(parameter, {}).items():
                found[f"optimizer.{name}.{key}"] = value
        return found

    def save(self, path: Path, step: int) -> None:
        """Write everything that the next step depends on."""
        tensors = {f"model.{k}": v for k, v in self._model.state_dict().items()}
        tensors |= self._optimizer_tensors()
        tensors["generator"] = self._generator.get_state()
        reader = asdict(self._model.config)
        save_checkpoint(path, tensors, {"step": step, "reader": reader})

    def restore(self, path: Path) -> int:
        """Take over a checkpoint; return how many steps it had done."""
        tensors, facts = load_checkpoint(path)
        wanted = {"generator": tuple(self._generator.get_state().shape)}
        for name, shape in _shapes(self._model.config).items():
            wanted[f"model.{name}"] = shape
            wanted[f"optimizer.{name}.step"] = ()
            wanted[f"optimizer.{name}.exp_avg"] = wanted[f"optimizer.{name}.exp_avg_sq"] = shape
        check_shapes(path, tensors, wanted)
        done = facts.get("step")
        if not isinstance(done, int):
            raise UnskewError(f"{path} does not say where it stands (step {done!r}); {AGAIN}")
        self._model.load_state_dict(_named(tensors, "model."))
        self._generator.set_state(tensors["generator"])
        for name, parameter in self._model.named_parameters():
            state = _named(tensors, f"optimizer.{name}.")
            for key, value in state.items():
                on_cpu = key == "step" and not self._on_gpu
                self._optimizer.state[parameter][key] = value.to("cpu" if on_cpu else self._device)
        return done


def load_readers(folder: Path, device: torch.device) -> Readers:
    """Load the readers of a run."""
    path = folder / CHECKPOINT
    tensors, facts = load_checkpoint(path)
    try:
        reader = ReaderConfig(**{**facts["reader"], "seeds": tuple(facts["reader"]["seeds"])})
        shapes = _shapes(reader)
    except (KeyError, TypeError, UnskewError) as error:
        raise UnskewError(f"{path} holds no readers ({error!r}); give another run") from error
    weights = _named(tensors, "model.")
    check_shapes(path, weights, shapes)
    model = Readers(reader)
    model.load_state_dict(weights)
    return model.to(device)


def _shapes(reader: ReaderConfig) -> dict[str, tuple[int, ...]]:
    return {name: (len(reader.seeds), *shape) for name, shape in reader.shapes().items()}


def best_device() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _clip_each(parameters: list[torch.nn.Parameter], limit: float) -> None:
    """Scale each member's gradient so that its norm is at most ``limit``."""
    grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
    squares = torch.stack([grad.flatten(1).square().sum(dim=1) for grad in grads]).sum(dim=0)
    scale = (limit / (squares.sqrt() + 1e-6)).clamp(max=1.0)
    for grad in grads:
        grad.mul_(scale.view(-1, *[1] * (grad.dim() - 1)))


def _named(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _stacked(arrays: list[Any], device: torch.device) -> Tensor:
    return torch.from_numpy(np.stack(arrays)).to(device)
