"""Training readers, on CPU and GPU: all members of an ensemble at once, with checkpoints."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unskew.core.errors import UnskewError, check_range
from unskew.core.rng import generator
from unskew.models.calculator.network import Expressions, ReaderConfig, Readers
from unskew.models.checkpoint import (
    begin_moments,
    check_shapes,
    copy_tensors,
    load_checkpoint,
    read_saved,
    restore,
    save_checkpoint,
    training_tensors,
)
from unskew.models.runs import CHECKPOINT, claim, cut_log, log
from unskew.models.training import (
    SAVE_SECONDS,
    Every,
    Position,
    Progress,
    Trainer,
    Work,
    cuda_graph,
    learning_rate,
    train_steps,
)

LOGGED = ("step", "loss", "rate", "examples_per_second")
WARM_UPS = 3  # steps before a step is captured


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
        """Refuse values that cannot be trained with."""
        for name in ("steps", "batch", "log_every", "save_every"):
            check_range(name, getattr(self, name), 1)
        check_range("rate", self.rate, 1e-7, 1.0)

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step."""
        end = max(self.steps, self.warmup + 1)
        return learning_rate(self.rate, step, self.warmup, end, first=1)


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
        tokens = [data.tokens for data in sets]
        lengths = [data.lengths.astype(np.int32) for data in sets]
        values = [data.values for data in sets]
        self.tokens, self.lengths, self.values = (
            torch.from_numpy(np.stack(arrays)).to(device) for arrays in (tokens, lengths, values)
        )
        self._sets = sets
        self.set_of_member = torch.tensor(set_of_member, device=device).unsqueeze(1)

    def digest(self) -> str:
        """Return a hash of the data, so that a run is not continued with other data."""
        digests = [data.digest() for data in self._sets]
        text = json.dumps([digests, self.set_of_member.flatten().tolist()])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def batch(self, rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Draw rows with replacement for each member: tokens (M, B, T), lengths, values."""
        which, device = self.set_of_member, self.tokens.device
        index = torch.randint(self.size, (len(which), rows), generator=generator, device=device)
        return (
            self.tokens[which, index],
            self.lengths[which, index].long(),
            self.values[which, index].long(),
        )


def train(
    reader: ReaderConfig,
    config: TrainConfig,
    data: TrainingData,
    folder: Path | None,
    report: Callable[[Progress], None] = lambda _: None,
) -> Readers:
    """Train every member. A folder keeps checkpoints and metrics, and continues from them."""
    model = Readers(reader).to(data.tokens.device)
    step = _TrainingStep(model, config, data)
    begin = 0
    if folder is not None:
        claim(folder, {"reader": asdict(reader), "train": asdict(config), "data": data.digest()})
        begin = step.restore(folder / CHECKPOINT)
        cut_log(folder, begin)

    def log_and_report(progress: Progress) -> None:
        report(progress)
        if folder is not None:
            log(folder, {name: getattr(progress, name) for name in LOGGED})

    def save(at: Position) -> None:
        if folder is not None:
            facts = {"step": at.step, "reader": asdict(reader)}
            save_checkpoint(folder / CHECKPOINT, step.tensors(), facts)

    trainer = Trainer(
        device=data.tokens.device,
        batch=config.batch * model.members,
        peak_rate=config.rate,
        steps_ahead=config.log_every,
        report_every=Every(config.log_every),
        save_every=Every(config.save_every, SAVE_SECONDS),
        share_done=lambda step, _: step / config.steps,
        take_step=lambda at: step.run(at.step),
        loss=lambda: float(step.losses.mean()),
        rate=lambda at: config.rate_at(at.step - 1),  # of the last step
        report=log_and_report,
        save=save,
    )
    train_steps(trainer, trainer.position(begin, 0.0))
    return model


class _TrainingStep:
    """One optimizer step. On a GPU the step is captured once as a graph and replayed."""

    def __init__(self, model: Readers, config: TrainConfig, data: TrainingData) -> None:
        self._model, self._config, self._data = model, config, data
        device = data.tokens.device
        self._on_gpu = device.type == "cuda"
        seed = int(generator(config.seed, "batches").integers(2**62))
        self._generator = torch.Generator(device).manual_seed(seed)
        self._rate = torch.tensor(config.rate, device=device)
        rate = self._rate if self._on_gpu else config.rate
        self._optimizer = torch.optim.Adam(
            model.parameters(), lr=rate, capturable=self._on_gpu, foreach=not self._on_gpu
        )
        begin_moments(model, self._optimizer)
        self._inputs: tuple[Tensor, ...] = ()  # of the captured step
        self._captured: Work | None = None
        self.losses = torch.zeros(model.members, device=device)

    def run(self, step: int) -> None:
        """Take one step on a new batch."""
        batch = self._data.batch(self._config.batch, self._generator)
        rate = self._config.rate_at(step)
        if not self._on_gpu:
            longest = int(batch[1].max())
            self._optimizer.param_groups[0]["lr"] = rate
            self._compute(batch[0][..., :longest], batch[1], batch[2])
            return
        self._rate.fill_(rate)
        if self._captured is None:
            self._captured = self._capture(batch)
        for place, values in zip(self._inputs, batch, strict=True):
            place.copy_(values)
        self._captured()

    def _compute(self, tokens: Tensor, lengths: Tensor, values: Tensor) -> None:
        """Compute the losses and gradients of a batch, and update the weights."""
        self._optimizer.zero_grad(set_to_none=False)
        losses = self._model.losses(tokens, lengths, values)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        _clip_each(list(self._model.parameters()), self._config.clip)
        self._optimizer.step()
        self.losses.copy_(losses.detach())

    def _capture(self, batch: tuple[Tensor, Tensor, Tensor]) -> Work:
        """Capture a step. Its warm-ups change weights and moments, so these are put back."""
        tokens, lengths, values = self._inputs = tuple(tensor.clone() for tensor in batch)
        state = training_tensors(self._model, self._optimizer)
        before = {name: tensor.clone() for name, tensor in state.items()}
        captured = cuda_graph(lambda: self._compute(tokens, lengths, values), WARM_UPS)
        copy_tensors(before, state)
        return captured

    def tensors(self) -> dict[str, Tensor]:
        """Return everything that the next step depends on."""
        state = training_tensors(self._model, self._optimizer)
        return state | {"generator": self._generator.get_state()}

    def restore(self, path: Path) -> int:
        """Continue from a checkpoint, if there is one; return how many steps it contains."""
        saved = read_saved(path)
        restore(path, saved, self.tensors())
        if saved.tensors is not None:
            self._generator.set_state(saved.tensors["generator"])
        return saved.step


def load_readers(folder: Path, device: torch.device) -> Readers:
    """Load the readers of a run, or of the file of its checkpoint."""
    path = folder if folder.is_file() else folder / CHECKPOINT
    tensors, facts = load_checkpoint(path)
    try:
        reader = ReaderConfig(**{**facts["reader"], "seeds": tuple(facts["reader"]["seeds"])})
    except (KeyError, TypeError, UnskewError) as error:
        raise UnskewError(f"{path} holds no readers ({error!r}); give another run") from error
    weights = {
        name.removeprefix("model."): tensor
        for name, tensor in tensors.items()
        if name.startswith("model.")
    }
    members = len(reader.seeds)
    check_shapes(path, weights, {name: (members, *s) for name, s in reader.shapes().items()})
    model = Readers(reader)
    model.load_state_dict(weights)
    return model.to(device)


def _clip_each(parameters: list[torch.nn.Parameter], limit: float) -> None:
    """Scale each member's gradient so that its norm is at most ``limit``."""
    grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
    squares = torch.stack([grad.flatten(1).square().sum(dim=1) for grad in grads]).sum(dim=0)
    scale = (limit / (squares.sqrt() + 1e-6)).clamp(max=1.0)
    for grad in grads:
        grad.mul_(scale.view(-1, *[1] * (grad.dim() - 1)))
