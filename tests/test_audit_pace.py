"""An audit of a slow sampler takes a few hundred examples, and says what more would cost."""

import warnings

import pytest

import unskew
from unskew import HealthWarning
from unskew.cli.progress import with_rate
from unskew.datasets.pace import DEFAULT_N, FIRST, LONG, duration


class Timed:
    """A sampler whose calls take some seconds on its own clock."""

    def __init__(self, seconds):
        self.seconds, self.now = seconds, 0.0

    def draw(self, rng):
        self.now += self.seconds(self.now) if callable(self.seconds) else self.seconds
        return int(rng.integers(6))

    def audit(self, **options):
        return unskew.audit(self.draw, by=lambda x: x, clock=lambda: self.now, **options)


def test_a_slow_sampler_stops_early_and_says_so():
    with pytest.warns(HealthWarning) as warned:
        audit = Timed(1 / 2.1).audit()
    assert audit.n == FIRST == 512
    (message,) = [str(warning.message) for warning in warned]
    assert message.startswith("this audit has the first 512 examples of sampler 'draw': they came")
    assert "at 2.08 a second, and 100,000 would take 13 hours; give n for more" in message
    assert "n=100_000" in message


def test_a_number_that_was_asked_for_is_taken():
    assert Timed(10.0).audit(n=700).n == 700
    assert Timed(10.0).audit(n=5).n == 5


def test_a_fast_sampler_goes_on():
    fast = Timed(0.5 * LONG / DEFAULT_N)
    assert fast.audit().n == DEFAULT_N


def test_speed_decides_only_how_many_are_taken():
    # Bins are chosen by the first examples: as many whatever the time.
    def audit(seconds):
        timed = Timed(seconds)

        def draw(rng):
            timed.draw(rng)
            return {"x": rng.random() * 100}

        return unskew.audit(draw, by="x", n=1000, clock=lambda: timed.now).variables["x"]

    assert audit(0.0) == audit(0.001) == audit(3.0)


def test_a_sampler_with_a_cache_stops_early(tmp_path):
    calls = []

    def draw(rng):
        calls.append(1)
        return int(rng.integers(6))

    for _ in range(2):
        with pytest.warns(HealthWarning, match="they are cached, so each may cost"):
            audit = unskew.audit(draw, by=lambda x: x, cache=tmp_path / "c.jsonl")
        assert audit.n == len(calls) == 512


def test_progress_comes_before_all_is_drawn():
    done = []
    Timed(0.25).audit(n=100, advance=done.append)
    assert sum(done) == 100
    assert len(done) == 1  # the clock of drawing is another one


def test_the_rate_is_shown():
    notes, now = [], [0.0]
    shown = with_rate(lambda more, note="": notes.append((more, note)), lambda: now[0])
    shown(1)
    now[0] = 2.0
    shown(20)
    now[0] = 4.0
    shown(3, "more")
    assert notes == [(1, ""), (20, "10.5 a second"), (3, "6 a second more")]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.25, "0.25 seconds"), (59, "59 seconds"), (210, "3.5 minutes"), (46_800, "13 hours"),
     (864_000, "10 days")],
)  # fmt: skip
def test_a_length_of_time_in_words(seconds, words):
    assert duration(seconds) == words


def test_the_command_says_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paid.py").write_text(
        "import unskew\n"
        "def one(rng):\n"
        "    return {'a': int(rng.integers(4))}\n"
        "draw = unskew.sampler(one, cache='draws.jsonl')\n"
    )
    code, out, err = run("audit", "paid:draw", "--by", "a", "--json")
    assert code == 0
    assert '"n": 512' in out
    assert "give n for more" in err
    with warnings.catch_warnings():
        assert run("audit", "paid:draw", "--by", "a", "-n", 20)[0] == 0
