"""Nothing that data names is connected to: what it names is never told who its reader is."""

import json
import socket
import threading
from pathlib import Path

import pytest

from unskew import Recipe, generate


class Listener:
    """A host of the stranger's: it counts who calls, and keeps what they say."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self._server.accept()
            except OSError:
                return
            with caller:
                self.heard.append(caller.recv(4096))
                caller.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def host(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDSECRET")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "verysecret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "alsosecret")
    listener = Listener()
    yield listener
    listener.close()


def address(host: Listener) -> str:
    return f"s3://b/x?endpoint_override={host.address}&scheme=http"


def altered(change: dict) -> None:
    recipe = json.loads(Path("made/recipe.json").read_text())
    Path("made/recipe.json").write_text(json.dumps(recipe | change))


READING = [
    ("verify", "made"),
    ("audit", "made"),
    ("show", "made"),
    ("convert", "made", "out.jsonl"),
    ("resample", "made", "--homogenize", "length", "-o", "even.parquet"),
    ("audit", "calculator/dcfg", "-n", "100", "--after", "made"),
    ("generate", "calculator/dcfg", "-n", "10", "--exclude", "made", "-o", "new"),
    ("verify", "made", "--against", "made"),
]


@pytest.mark.parametrize("field", ["exclude", "given", "source"])
def test_an_address_that_a_recipe_names_is_not_called(run, host, field):
    generate(Recipe("calculator/dcfg", 50, shard_size=25), "made")
    altered({field: [address(host)] if field == "exclude" else address(host)})
    for args in READING:
        code, _, err = run(*args)
        assert code in (0, 1, 2)
        assert "Traceback" not in err
    assert host.heard == []


def test_an_address_that_a_manifest_names_is_not_called(run, host):
    generate(Recipe("calculator/dcfg", 50, seed=7, shard_size=25), "made")
    manifest = json.loads(Path("made/manifest.json").read_text())
    manifest["parts"][0]["file"] = address(host)
    Path("made/manifest.json").write_text(json.dumps(manifest))
    for args in READING:
        assert run(*args)[0] in (1, 2), args
    assert host.heard == []


def test_verify_says_what_it_did_not_open(run, host):
    generate(Recipe("calculator/dcfg", 50, shard_size=25), "made")
    altered({"exclude": [address(host), "/etc/passwd"]})
    _, out, _ = run("verify", "made")
    (line,) = [line for line in out.splitlines() if line.startswith("not looked at: no part")]
    assert host.address in line
    assert "/etc/passwd" in line
    assert "--trust" in line


def test_an_address_that_a_person_types_is_called(run, host):
    """The listener works: this is what the other tests would hear."""
    code, _, err = run("audit", address(host))
    assert code == 2
    assert err.startswith("error: ")
    assert host.heard
    assert b"AKIDSECRET" in b"".join(host.heard)
