"""Datasets in an object store: a real S3 API, served here, and the same bytes as on disk."""

import contextlib
import http.server
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import UNSKEW
from tests.datasets import finished_contents, one_by_one
from tests.waiting import HANG, until
from unskew import Dataset, Recipe, UnskewError, audit, generate
from unskew.datasets.engines import processes
from unskew.datasets.parts.part import finished_part
from unskew.datasets.verify import verify
from unskew.io import object_store as addresses
from unskew.io.files import write_bytes
from unskew.io.location import files_below, place, sha256

boto3 = pytest.importorskip("boto3")
from moto.server import ThreadedMotoServer  # noqa: E402 - only where it is

BUCKET = "unskew-test"
# That a store which does not answer is waited for.
MOST_SECONDS = addresses.TRIES * (addresses.CONNECT_SECONDS + addresses.ANSWER_SECONDS)
SMALL = Recipe("calculator/dcfg", 250, homogenize=("length",), seed=3, shard_size=100)
MANY = Recipe("calculator/dcfg", 3_000, homogenize=("length",), seed=5, shard_size=100)


@pytest.fixture(scope="module")
def s3() -> Iterator[object]:
    """A bucket, a client to look into it, and the environment that leads there."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(addresses, "CONNECT_SECONDS", HANG)
        patch.setattr(addresses, "ANSWER_SECONDS", HANG)
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "a-key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield client
    server.stop()


@pytest.fixture
def prefix(s3, request) -> str:
    """An address of the test's own."""
    return f"s3://{BUCKET}/{request.node.name.replace('[', '-').replace(']', '')}"


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> dict[str, bytes]:
    return finished_contents(generate(SMALL, tmp_path_factory.mktemp("small") / "made").folder)


def listed(s3, address: str = f"s3://{BUCKET}/") -> dict[str, str]:
    """Return the key and the tag of every object whose address begins so."""
    above = address.removeprefix(f"s3://{BUCKET}/")
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=above)
    return {entry["Key"]: entry["ETag"] for page in pages for entry in page.get("Contents", ())}


def objects(s3, address: str) -> dict[str, bytes]:
    """Return every object below an address, but for the empty ones that pyarrow calls folders."""
    above = address.removeprefix(f"s3://{BUCKET}/") + "/"
    return {
        key.removeprefix(above): s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        for key in listed(s3, f"{address}/")
        if not key.endswith("/")
    }


def put(s3, address: str, data: bytes) -> None:
    s3.put_object(Bucket=BUCKET, Key=address.removeprefix(f"s3://{BUCKET}/"), Body=data)


def delete(s3, address: str) -> None:
    s3.delete_object(Bucket=BUCKET, Key=address.removeprefix(f"s3://{BUCKET}/"))


def command(recipe: Recipe, address: str, folder: Path, *flags: str) -> list[str]:
    path = folder / "recipe-to-run.json"
    path.write_text(recipe.to_json(), encoding="utf-8")
    return [*UNSKEW, "generate", str(path), "-o", address, *flags]


# The same bytes.


def test_the_objects_are_the_files_of_a_local_run(s3, prefix, small):
    dataset = generate(SMALL, prefix)
    assert objects(s3, prefix) == small
    assert str(dataset.folder) == prefix
    assert dataset == Dataset.open(prefix)
    assert [str(part) for part in dataset.parts] == [
        f"{prefix}/data/train-0000{i}-of-00003.parquet" for i in range(3)
    ]


def test_workers_make_the_same_objects(s3, prefix, small):
    generate(SMALL, prefix, engine=processes(2))
    assert objects(s3, prefix) == small


def test_an_address_may_say_where_the_store_is(s3, prefix, small, monkeypatch):
    endpoint = s3.meta.endpoint_url.removeprefix("http://")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    address = f"{prefix}?endpoint_override={endpoint}&scheme=http"
    made = generate(SMALL, address, engine=processes(2))
    assert objects(s3, prefix) == small
    assert str(made.folder) == address
    assert str(made.parts[0]).endswith(f".parquet?endpoint_override={endpoint}&scheme=http")


def test_an_endpoint_may_be_written_in_capitals(s3, prefix, small, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.meta.endpoint_url.replace("http://", "HTTP://"))
    generate(SMALL, prefix)
    assert objects(s3, prefix) == small


def test_splits_and_distinct_rows(s3, prefix, tmp_path):
    recipe = Recipe(
        "calculator/bal", 300, splits={"train": 200, "test": 100}, distinct=True, shard_size=60
    )
    generate(recipe, tmp_path / "made")
    generate(recipe, prefix)
    assert objects(s3, prefix) == finished_contents(tmp_path / "made")


# Stopped and run again.


def delete_a_part(s3, prefix):
    delete(s3, f"{prefix}/data/train-00001-of-00003.parquet")


def cut_a_part(s3, prefix):
    put(s3, f"{prefix}/data/train-00002-of-00003.parquet", b"PAR1")


def swap_a_part(s3, prefix):
    other = objects(s3, prefix)["data/train-00000-of-00003.parquet"]
    put(s3, f"{prefix}/data/train-00001-of-00003.parquet", other)


def delete_a_note(s3, prefix):
    delete(s3, f"{prefix}/.unskew/train-00001-of-00003.json")
    delete(s3, f"{prefix}/manifest.json")


def delete_the_manifest(s3, prefix):
    delete(s3, f"{prefix}/manifest.json")


def empty_the_manifest(s3, prefix):
    put(s3, f"{prefix}/manifest.json", b"")


@pytest.mark.parametrize(
    ("spoil", "remade"),
    [
        (delete_a_part, [1]),
        (cut_a_part, [2]),
        (swap_a_part, [1]),
        (delete_a_note, [1]),
        (delete_the_manifest, []),
        (empty_the_manifest, []),
    ],
)
def test_run_again_it_makes_what_is_missing(s3, prefix, small, spoil, remade):
    generate(SMALL, prefix)
    spoil(s3, prefix)
    assert objects(s3, prefix) != small
    made = []
    generate(SMALL, prefix, engine=one_by_one(made.append))
    assert made == remade
    assert objects(s3, prefix) == small


def test_run_again_when_it_is_finished_it_writes_nothing(s3, prefix):
    """A bucket that keeps versions shows each time that an object is written."""
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    generate(SMALL, prefix)

    def versions() -> list[tuple[str, str]]:
        pages = s3.get_paginator("list_object_versions").paginate(Bucket=BUCKET)
        return [(v["Key"], v["VersionId"]) for page in pages for v in page["Versions"]]

    written = versions()
    assert len(generate(SMALL, prefix)) == 250
    assert versions() == written
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Suspended"})


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> dict[str, bytes]:
    return finished_contents(generate(MANY, tmp_path_factory.mktemp("many") / "made").folder)


HELD = """
import signal
from unskew.datasets import finish as finishing
from unskew.datasets import generate as generation
from unskew.cli import main

def held(*_):
    while True:
        signal.pause()

generation.finish = held
main()
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_it_goes_on(s3, prefix, workers, many, tmp_path):
    run = command(MANY, prefix, tmp_path, "--workers", workers)
    # The last part is not made yet: it is killed at any moment, but never too late.
    held = subprocess.Popen([sys.executable, "-c", HELD, *run[3:]], cwd=tmp_path)
    until(lambda: len(listed(s3, f"{prefix}/data/")) >= 3, held)
    held.send_signal(signal.SIGKILL)
    assert held.wait() == -signal.SIGKILL
    before = objects(s3, prefix)
    assert "manifest.json" not in before
    assert before.items() <= many.items()  # no object is half-written
    done = subprocess.run(run)
    assert done.returncode == 0
    assert objects(s3, prefix) == many


def test_two_generators_at_once_make_one_dataset(s3, prefix, many, tmp_path):
    run = command(MANY, prefix, tmp_path, "--workers", "1")
    both = [subprocess.Popen(run) for _ in range(2)]
    assert [process.wait(HANG) for process in both] == [0, 0]
    assert objects(s3, prefix) == many


def test_two_generators_without_repeats_make_one_dataset(s3, prefix, tmp_path):
    recipe = Recipe("calculator/dcfg", 1_000, {"p": 0.3}, shard_size=100, distinct=True)
    whole = finished_contents(generate(recipe, tmp_path / "made").folder)
    run = command(recipe, prefix, tmp_path, "--workers", "1")
    both = [subprocess.Popen(run) for _ in range(2)]
    assert [process.wait(HANG) for process in both] == [0, 0]
    assert objects(s3, prefix) == whole


def test_another_recipe_is_refused_and_changes_nothing(s3, prefix, small):
    generate(SMALL, prefix)
    with pytest.raises(UnskewError, match="was made by another recipe"):
        generate(MANY, prefix)
    assert objects(s3, prefix) == small


def test_objects_of_others_are_left_alone(s3, prefix):
    put(s3, f"{prefix}/thesis.txt", b"years of work")
    with pytest.raises(UnskewError, match="is not empty and no dataset"):
        generate(SMALL, prefix)
    with pytest.raises(UnskewError, match="is a file; choose a new folder"):
        generate(SMALL, f"{prefix}/thesis.txt")
    assert objects(s3, prefix) == {"thesis.txt": b"years of work"}


# Read from there.


def test_verify_finds_what_was_planted(s3, prefix, run):
    generate(SMALL, prefix)
    assert verify(prefix).faults == []
    cut_a_part(s3, prefix)
    put(s3, f"{prefix}/data/train-00009-of-00003.parquet", b"PAR1")
    code, out, _ = run("verify", prefix)
    assert code == 1
    assert "fault: data/train-00002-of-00003.parquet does not match its checksum" in out
    assert "fault: data/train-00009-of-00003.parquet is not in manifest.json" in out
    delete(s3, f"{prefix}/data/train-00002-of-00003.parquet")
    assert any("00002-of-00003.parquet is missing" in f for f in verify(prefix).faults)


def test_audit_and_show_read_it(s3, prefix, tmp_path, run):
    local = generate(SMALL, tmp_path / "made")
    generate(SMALL, prefix)
    assert audit(prefix, by="length").variables == audit(local, by="length").variables
    code, out, _ = run("show", prefix, "-n", 3, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(run("show", local.folder, "-n", 3, "--json")[1])
    code, out, _ = run("audit", prefix, "--json")
    assert code == 0
    assert json.loads(out)["n"] == 250


def test_files_that_are_no_dataset_are_read_too(s3, prefix):
    rows = "".join(json.dumps({"x": i % 4}) + "\r\n" for i in range(100))
    put(s3, f"{prefix}/a.jsonl", b"\xef\xbb\xbf" + rows.encode())
    put(s3, f"{prefix}/more/b.jsonl", rows.encode())
    assert audit(f"{prefix}/a.jsonl", by="x").n == 100
    assert audit(prefix, by="x").n == 200
    put(s3, f"{prefix}-else/c.txt", b"")
    with pytest.raises(UnskewError, match=r"holds no data file \(only \.txt\); point at \.parquet"):
        audit(f"{prefix}-else")
    with pytest.raises(UnskewError, match="does not exist; check the path"):
        audit(f"{prefix}/nothing")


def test_given_and_excluded_examples_come_from_there(s3, prefix, tmp_path):
    base = generate(Recipe("karel/actions", 60, shard_size=25), tmp_path / "base")
    generate(base.recipe, f"{prefix}/base")
    given = {
        where: Recipe("karel/uniform", 60, {"tries": 200}, given=where, shard_size=25)
        for where in (str(base.folder), f"{prefix}/base")
    }
    made = [generate(recipe, f"{prefix}/{recipe.hash}") for recipe in given.values()]
    rows = [[row for batch in dataset.batches() for row in batch.examples()] for dataset in made]
    assert rows[0] == rows[1]
    without = Recipe("karel/actions", 100, seed=1, exclude=(f"{prefix}/base",))
    assert generate(without, f"{prefix}/new").tally.dropped[f"is in {prefix}/base"] > 0
    assert verify(f"{prefix}/new").faults == []


def test_a_part_that_is_gone_is_one_line(s3, prefix, run):
    generate(SMALL, f"{prefix}/base")
    gone = f"{prefix}/base/data/train-00001-of-00003.parquet"
    delete(s3, gone)
    made = ("generate", "calculator/dcfg", "-n", "9", "-o", f"{prefix}/made")
    code, out, err = run(*made, "--exclude", f"{prefix}/base")
    assert (code, out) == (2, "")
    assert err == f"error: {gone}: No such file or directory; check the path\n"


def test_files_come_in_the_same_order_as_on_disk(s3, prefix, tmp_path):
    names = ["part/x.jsonl", "part-1.jsonl", "part.a/z.jsonl", "b.jsonl", "part/b/c.jsonl"]
    for name in names:
        put(s3, f"{prefix}/{name}", b"{}")
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    there = [str(path).removeprefix(f"{prefix}/") for path in files_below(place(prefix))]
    assert sorted(there) == sorted(names)
    assert there == [str(path.relative_to(tmp_path)) for path in files_below(tmp_path)]


def test_a_recipe_is_read_from_there(s3, prefix, run, tmp_path):
    put(s3, f"{prefix}/recipe.json", SMALL.to_json().encode())
    assert run("generate", f"{prefix}/recipe.json", "-o", tmp_path / "made")[0] == 0
    assert Dataset.open(tmp_path / "made").recipe == SMALL


def test_an_object_path_is_as_a_path(s3, prefix):
    top = place(prefix + "/")
    assert str(top) == prefix
    assert not top.exists()
    write_bytes(top / "a.txt", b"abc")
    write_bytes(top / "below" / "b.txt", b"")
    assert top.is_dir()
    assert not top.is_file()
    assert (top / "a.txt").is_file()
    assert sorted(path.name for path in top.iterdir()) == ["a.txt", "below"]
    assert sorted(path.name for path in top.rglob()) == ["a.txt", "b.txt"]
    assert (top / "a.txt").suffix == ".txt"
    assert (top / "a.txt").read_text("utf-8") == "abc"
    assert sha256(top / "a.txt").startswith("ba7816bf")
    with pytest.raises(FileNotFoundError):
        (top / "c.txt").read_text("utf-8")


# What goes wrong is one line, and changes nothing.


@pytest.fixture
def refused(run, s3, tmp_path, monkeypatch):
    """Run commands on a bad address; each must end with one line that says what is expected."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    def check(address: str, expected: str, *commands: str) -> None:
        before = listed(s3)
        for name in commands or ("generate", "verify", "audit", "show"):
            args = (
                ("generate", "calculator/dcfg", "-n", "9", "-o") if name == "generate" else (name,)
            )
            code, out, err = run(*args, address)
            assert (code, out) == (2, ""), (name, err)
            assert err.count("\n") == 1, err
            assert err.startswith("error: ")
            assert expected in err, (name, err)
            assert "secret" not in err
        assert list(tmp_path.iterdir()) == []
        assert listed(s3) == before

    return check


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("s3://", "names no bucket; write it as s3://bucket/prefix"),
        ("s3:/x", "names no bucket; write it as s3://bucket/prefix"),
        ("s3:///x", "names no bucket"),
        ("s3://host:9000/bucket/x", "names no bucket"),
        ("s3://key:secret@bucket/x", "give credentials by AWS_ACCESS_KEY_ID"),
        ("s3://bucket/x?colour=red", "s3:// takes values for endpoint_override, scheme, region"),
        ("s3://bucket/x?region=", "s3:// takes values for"),
        ("s3://bucket/x?scheme=ftp", "by 'ftp'; give http or https"),
        ("s3://bucket/x?endpoint_override=ftp://host", "by 'ftp'; give http or https"),
        ("hdfs://host/x", "is of no known kind; give a folder, or s3://bucket/prefix"),
        ("https://host/x.parquet", "is of no known kind; download the file first"),
        ("file:///tmp/x", "is of no known kind; give the path alone: /tmp/x"),
    ],
)
def test_an_address_that_leads_nowhere(refused, address, expected):
    refused(address, expected)


def test_a_bucket_that_is_not_there(refused):
    refused("s3://no-such-bucket/x", "make the bucket first, or check its name", "generate")
    refused("s3://no-such-bucket/x", "no dataset", "verify")
    refused("s3://no-such-bucket/x", "does not exist; check the path", "audit", "show")


def test_a_store_that_is_not_there(refused):
    step = "check the network and AWS_ENDPOINT_URL, and run the same command again"
    refused(f"s3://{BUCKET}/x?endpoint_override=127.0.0.1:1&scheme=http", step, "generate", "show")


def test_a_store_that_says_nothing(refused, monkeypatch):
    """It is asked as often as said; a shorter wait for each answer, so that the test need not."""
    assert MOST_SECONDS < 25
    monkeypatch.setattr(addresses, "ANSWER_SECONDS", 1)
    asked: list[socket.socket] = []

    def listen(server: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it was closed
            while True:
                asked.append(server.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as silent:
        thread = threading.Thread(target=listen, args=(silent,))
        thread.start()
        endpoint = f"127.0.0.1:{silent.getsockname()[1]}"
        address = f"s3://{BUCKET}/x?endpoint_override={endpoint}&scheme=http"
        refused(address, "network connection", "generate")
        silent.shutdown(socket.SHUT_RDWR)
        thread.join()
    for request in asked:
        request.close()
    assert len(asked) == addresses.TRIES


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("google::cloud::Status(UNAVAILABLE: Retry policy", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("Bucket 'b' not found", "no such bucket; make the bucket first"),
        ("AWS Error UNKNOWN (HTTP status 301) during HeadObject operation: No response", "unknown"),
    ],
)
def test_other_answers_of_stores_are_one_line_too(message, expected):
    with pytest.raises(UnskewError, match=expected) as caught, addresses.store_errors("s3://b/x"):
        raise OSError(message)
    assert str(caught.value).startswith("s3://b/x: ")


def test_what_is_wrong_with_a_file_is_not_said_of_its_store():
    with pytest.raises(OSError, match="Corrupt"), addresses.store_errors("s3://b/x"):
        raise OSError("Corrupt snappy compressed data")


class _Denies(http.server.BaseHTTPRequestHandler):
    """Answers as S3 does to whoever may not ask."""

    def do_HEAD(self) -> None:
        body = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_HEAD  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def denying() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Denies) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("credentials", [True, False])
def test_a_store_that_does_not_let_us_in(refused, denying, credentials, s3, monkeypatch):
    """The client that looks has its credentials by now, so those of the environment may go."""
    if not credentials:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    address = f"s3://{BUCKET}/x?endpoint_override={denying}&scheme=http"
    refused(address, "access denied; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")


def test_a_store_that_goes_away_in_the_middle(s3, prefix, monkeypatch):
    """Parts that cannot be read are not taken for missing ones and made anew."""
    generate(SMALL, prefix)
    before = objects(s3, prefix)
    top = place(prefix)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    gone = place(prefix)
    for index in range(SMALL.shards):
        with pytest.raises(UnskewError, match="check the network"):
            finished_part(gone, SMALL, index)
    assert objects(s3, prefix) == before
    assert top.exists()


@pytest.mark.parametrize("job", ["convert", "resample", "report"])
def test_only_datasets_are_written_there(s3, run, tmp_path, monkeypatch, job):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text('{"x": 1}\n{"x": 2}\n')
    out = f"s3://{BUCKET}/out"
    args = {
        "convert": ("convert", "rows.jsonl", f"{out}.parquet"),
        "resample": ("resample", "rows.jsonl", "--homogenize", "x", "-n", 2, "-o", f"{out}.jsonl"),
        "report": ("audit", "rows.jsonl", "--report", f"{out}.html"),
    }[job]
    code, _, err = run(*args)
    assert code == 2
    assert "no path of this machine; write a file here, then copy it" in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_ray_makes_the_same_objects(s3, prefix, small):
    ray = pytest.importorskip("ray")
    from unskew.datasets.engines import ray_cluster

    with contextlib.ExitStack() as after:
        after.callback(ray.shutdown)
        generate(SMALL, prefix, engine=ray_cluster())
    assert objects(s3, prefix) == small
