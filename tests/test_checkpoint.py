"""Checkpoints: what is written is read, and anything else is refused in a line."""

import itertools
import json
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save_file

from unskew.core.errors import UnskewError
from unskew.models.checkpoint import FORMAT, check_shapes, load_checkpoint, save_checkpoint

TENSORS = {
    "a": torch.arange(6, dtype=torch.float32).view(2, 3),
    "b": torch.ones(3, dtype=torch.bfloat16),
    "count": torch.tensor(7),
    "none": torch.zeros(0, 4),
}
FACTS = {"step": 11, "name": "ε"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "c.safetensors", TENSORS, FACTS)
    return tmp_path / "c.safetensors"


def refusal(path: Path) -> str:
    with pytest.raises(UnskewError) as caught:
        load_checkpoint(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert ";" in message  # and the next step
    return message


def same(tensors) -> bool:
    return tensors.keys() == TENSORS.keys() and all(
        torch.equal(tensors[name], value) and tensors[name].dtype == value.dtype
        for name, value in TENSORS.items()
    )


def test_what_is_written_is_read(path):
    tensors, facts = load_checkpoint(path)
    assert same(tensors)
    assert facts == FACTS
    assert sorted(path.parent.iterdir()) == [path]


def test_a_checkpoint_that_is_replaced_while_it_is_read_is_one_of_the_two(tmp_path):
    """A training may save while someone else reads: neither version may look damaged."""
    path, stop = tmp_path / "c.safetensors", threading.Event()
    versions = [{"a": torch.full((1 << 16,), float(step))} for step in (0, 1)]
    save_checkpoint(path, versions[0], {"step": 0})

    def replace() -> None:
        for step in itertools.cycle((1, 0)):
            save_checkpoint(path, versions[step], {"step": step})
            if stop.is_set():
                return

    training = threading.Thread(target=replace)
    training.start()
    try:
        for _ in range(300):
            tensors, facts = load_checkpoint(path)
            assert torch.equal(tensors["a"], versions[facts["step"]]["a"])
    finally:
        stop.set()
        training.join()


def test_a_byte_that_changed_is_noticed_wherever_it_is(path):
    """Two kinds of change at every byte: refused, or read as what was written."""
    whole, harmless, messages = path.read_bytes(), 0, set()
    for at in range(len(whole)):
        for flip in (1, 128):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
            try:
                tensors, facts = load_checkpoint(path)
            except UnskewError as error:
                messages.add(str(error))
                continue
            assert same(tensors)
            assert facts == FACTS
            harmless += 1
    assert harmless < 8  # a space between words of the header, say
    assert len(messages) > 3
    assert all(str(path) in line and "\n" not in line for line in messages)


def test_a_byte_of_a_tensor_that_changed_is_said_to_be_damage(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "is damaged: its content is not what was written; restore it, or" in refusal(path)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100, -50, -1])
def test_what_is_cut_is_refused(path, size):
    path.write_bytes(path.read_bytes()[:size])
    assert "is not a whole checkpoint" in refusal(path)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "is not a checkpoint of unskew; point at a run"),
        ({"format": "other"}, "is not a checkpoint of unskew"),
        ({"format": FORMAT}, "has no facts"),
        ({"format": FORMAT, "facts": "{}"}, "has no digest, so it cannot be trusted; restore it"),
        ({"format": FORMAT, "digest": "0"}, "has no facts"),
        ({"format": FORMAT, "facts": "{}", "digest": "0"}, "is damaged"),
    ],
)
def test_what_others_wrote_is_refused(path, metadata, message):
    save_file(TENSORS, path, metadata=metadata)
    assert message in refusal(path)


@pytest.mark.parametrize(
    ("facts", "message"),
    [("{", "not JSON ("), ("[1]", "a JSON object"), ("[" * 100_000, "not JSON (")],
)
def test_facts_that_cannot_be_read_are_refused_though_the_digest_is_right(
    path, monkeypatch, facts, message
):
    monkeypatch.setattr(json, "dumps", _only_facts(facts, json.dumps))
    save_checkpoint(path, TENSORS, FACTS)
    monkeypatch.undo()
    assert message in refusal(path)


def _only_facts(text, plain):
    return lambda value: text if value is FACTS else plain(value)


def test_what_is_not_there_is_named(tmp_path):
    assert "does not exist; train first" in refusal(tmp_path / "none.safetensors")


def test_a_file_that_cannot_be_finished_leaves_the_last_one(path, monkeypatch):
    def stop(tensors, beside, metadata):
        Path(beside).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("unskew.models.checkpoint.save_file", stop)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(path, {"a": torch.zeros(1)}, {})
    assert same(load_checkpoint(path)[0])
    assert sorted(path.parent.iterdir()) == [path]


def test_shapes_are_compared_by_name(path):
    shapes = {name: tuple(value.shape) for name, value in TENSORS.items()}
    check_shapes(path, TENSORS, shapes)
    for other, message in (
        ({**shapes, "a": (3, 2)}, r"a is \(2, 3\), its settings say \(3, 2\); restore"),
        ({**shapes, "z": ()}, r"z is missing, its settings say \(\)"),
        ({"a": (2, 3)}, r"b is \(3,\), its settings say none"),
    ):
        with pytest.raises(UnskewError, match=message):
            check_shapes(path, TENSORS, other)


def test_other_programs_can_read_it(path):
    assert same(load(path.read_bytes()))
