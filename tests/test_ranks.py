"""Who is who among processes that train together: what torchrun says, and what it does not."""

import pytest

from unskew.core.errors import UnskewError
from unskew.models.ranks import ALONE, join_ranks

NAMES = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_without_torchrun_a_process_is_alone(monkeypatch):
    assert join_ranks() == ALONE
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert join_ranks() == ALONE


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        ({"WORLD_SIZE": "2"}, "RANK is not set; allowed is 0 to 1: start .* with torchrun"),
        ({"WORLD_SIZE": "2", "RANK": "2"}, "RANK is '2'; allowed is 0 to 1"),
        ({"WORLD_SIZE": "2", "RANK": "one"}, "RANK is 'one'"),
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two'; allowed is 1 to"),
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE is '0'"),
        ({"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "-1"}, "LOCAL_RANK is '-1'"),
        ({"WORLD_SIZE": "2", "RANK": "1"}, "the 2 processes did not meet .* with torchrun"),
    ],
)
def test_what_torchrun_would_not_say_is_refused_in_a_line(monkeypatch, message, refusal):
    for name, value in message.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UnskewError, match=refusal) as caught:
        join_ranks()
    assert "\n" not in str(caught.value)
