"""The training loop, with a model that only counts: what is reported and saved, and when."""

import math
import os
import signal
from types import SimpleNamespace

import pytest
import torch

from unskew.core.errors import UnskewError
from unskew.models.training import SAVE_SECONDS, Every, Position, Trainer, train_steps


class Model:
    """Notes which steps are taken, reported and saved."""

    def __init__(self, losses=None, on_step=lambda step: None):
        self.taken, self.reports, self.saved = [], [], []
        self.losses, self.on_step = losses or {}, on_step

    def take_step(self, at):
        self.taken.append(at.step)
        self.on_step(at.step)

    def trainer(self, steps=10, **more):
        defaults = {
            "device": torch.device("cpu"),
            "batch": 8,
            "peak_rate": 0.5,
            "steps_ahead": 4,
            "report_every": Every(4),
            "save_every": Every(3),
            "share_done": lambda step, _: step / steps,
            "take_step": self.take_step,
            "loss": lambda: self.losses.get(len(self.taken), 1.0),
            "rate": lambda at: at.done,
            "report": self.reports.append,
            "save": self.saved.append,
        }
        return Trainer(**{**defaults, **more})


def run(model, start=0, **more):
    trainer = model.trainer(**more)
    train_steps(trainer, trainer.position(start, 0.0))


def test_steps_are_taken_reported_and_saved_to_the_end():
    model = Model()
    run(model)
    assert model.taken == [*range(10)]
    assert [progress.step for progress in model.reports] == [4, 8, 10]
    assert [progress.done for progress in model.reports] == [0.4, 0.8, 1]
    assert [progress.rate for progress in model.reports] == [0.4, 0.8, 1]
    assert [at.step for at in model.saved] == [3, 6, 9, 10]
    assert [at.finished for at in model.saved] == [False, False, False, True]


def test_a_training_goes_on_from_a_position_and_a_finished_one_does_nothing():
    model = Model()
    run(model, start=7)
    assert model.taken == [7, 8, 9]
    run(model, start=10)
    assert model.taken == [7, 8, 9]
    assert [at.step for at in model.saved] == [9, 10]


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_ends_the_training(loss):
    model = Model({4: loss})
    with pytest.raises(UnskewError, match=rf"the loss is {loss} at step 4; lower --rate \(0.5\)"):
        run(model)
    assert [at.step for at in model.saved] == [3]


def interrupt(at, times=1):
    def on_step(step):
        for _ in range(times if step == at else 0):
            os.kill(os.getpid(), signal.SIGINT)

    return on_step


@pytest.mark.parametrize(("at", "finished"), [(4, False), (9, True)])
def test_ctrl_c_ends_the_step_and_saves_it(at, finished):
    model = Model(on_step=interrupt(at))
    with pytest.raises(KeyboardInterrupt):
        run(model, save_every=Every(seconds=SAVE_SECONDS))
    assert model.taken == [*range(at + 1)]
    assert [(position.step, position.finished) for position in model.saved] == [(at + 1, finished)]


def test_a_second_ctrl_c_stops_at_once():
    model = Model(on_step=interrupt(4, times=2))
    with pytest.raises(KeyboardInterrupt):
        run(model)
    assert [at.step for at in model.saved] == [3]


def test_minutes_count_only_steps():
    """By a clock on which a step takes a quarter of a second, and a report or saving 100 each."""
    clock = SimpleNamespace(now=0.0)

    def takes(seconds, job=lambda _: None):
        def timed(argument):
            clock.now += seconds
            job(argument)

        return timed

    model = Model()
    run(
        model,
        report_every=Every(seconds=0.6),
        save_every=Every(seconds=60),
        share_done=lambda _, seconds: min(1.0, seconds / 1.8),  # seven steps are not enough
        clock=lambda: clock.now,
        take_step=takes(0.25),
        report=takes(100, model.reports.append),
        save=takes(100, model.saved.append),
    )
    reports = [(progress.step, progress.seconds) for progress in model.reports]
    assert reports == [(3, 0.75), (5, 1.25), (7, 1.75), (8, 2.0)]
    assert all(progress.examples_per_second == 32 for progress in model.reports)
    assert model.saved == [
        Position(4, 1.0, 1 / 1.8),
        Position(6, 1.5, 1.5 / 1.8),
        Position(8, 2, 1),
    ]
    assert clock.now == 4 * 100 + 3 * 100 + 8 * 0.25


class Together:
    """The second of two processes: it hears what the first one decided."""

    first = False

    def __init__(self, stops_after):
        self.stops_after, self.calls = stops_after, 0

    def agree(self, value):
        self.calls += 1
        asks_for_stop = self.calls == 2 * self.stops_after + 1  # one before, and two in each step
        return math.inf if asks_for_stop else value


def test_a_process_stops_with_the_first_one_and_reports_nothing():
    model = Model()
    with pytest.raises(KeyboardInterrupt):
        run(model, ranks=Together(stops_after=5))
    assert model.taken == [0, 1, 2, 3, 4]
    assert model.reports == []
    assert [at.step for at in model.saved] == [3, 5]
