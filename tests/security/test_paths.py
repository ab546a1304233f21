"""A dataset's files lie in its folder: neither a name nor a link leads a reader elsewhere."""

import json
import os
import shutil
from pathlib import Path

import pytest

from unskew import Recipe, UnskewError, generate
from unskew.io.dataset import Dataset
from unskew.io.location import inside

PART = "data/train-00000-of-00002.parquet"
READING = [
    ("audit", "made"),
    ("show", "made"),
    ("convert", "made", "out.jsonl"),
    ("resample", "made", "--homogenize", "length", "-o", "even.parquet"),
    ("train", "made", "-o", "run", "--steps", "1"),
    ("audit", "calculator/dcfg", "-n", "100", "--after", "made"),
    ("generate", "calculator/dcfg", "-n", "10", "--exclude", "made", "-o", "new"),
    ("verify", "calculator", "--against", "made"),
]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A dataset, and a secret of the same form outside of it."""
    monkeypatch.chdir(tmp_path)
    generate(Recipe("calculator/dcfg", 100, shard_size=50), "made")
    generate(Recipe("calculator/dcfg", 50, seed=1), "calculator")
    secret = generate(Recipe("calculator/dcfg", 50, seed=9), "secret").parts[0]
    Path("elsewhere").mkdir()
    shutil.copy(secret, "elsewhere/s.parquet")
    return Path("made")


def name_the_first_part(file: object) -> None:
    manifest = json.loads(Path("made/manifest.json").read_text())
    manifest["parts"][0]["file"] = file
    Path("made/manifest.json").write_text(json.dumps(manifest))


def refused(run, args: tuple[str, ...], words: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, ""), args
    assert words in err
    assert not Path("out.jsonl").exists()
    assert not Path("even.parquet").exists()


@pytest.mark.parametrize(
    "file",
    [
        "../elsewhere/s.parquet",
        "data/../../elsewhere/s.parquet",
        "ABSOLUTE",
        "data\\..\\..\\elsewhere\\s.parquet",
        "",
        7,
        None,
        ["data"],
        "s3://bucket/x",
    ],
    ids=str,
)
def test_no_reader_follows_a_manifest_out_of_the_folder(run, made, file):
    absolute = str(Path("elsewhere/s.parquet").resolve())
    name_the_first_part(absolute if file == "ABSOLUTE" else file)
    for args in READING:
        code, out, err = run(*args)
        assert (code, out) == (2, ""), args
        assert err.count("\n") == 1
        assert "error: " in err
    code, out, err = run("verify", "made")
    assert code == 1
    assert "fault: " in out


@pytest.mark.parametrize("where", [PART, "data", "manifest.json", "recipe.json"])
def test_no_reader_follows_a_link_out_of_the_folder(run, made, where):
    place = made / where
    Path("elsewhere", place.name).unlink(missing_ok=True)
    place.rename(Path("elsewhere") / place.name)
    place.symlink_to(Path("elsewhere").resolve() / place.name)
    for args in [*READING, ("verify", "made")]:
        refused(run, args, "a link out of made")


def test_a_link_inside_the_folder_is_followed(run, made):
    (made / PART).rename(made / "data/kept")
    (made / PART).symlink_to("kept")
    assert run("audit", "made")[0] == 0


def test_a_link_that_leads_out_says_where(run, made):
    (made / PART).unlink()
    (made / PART).symlink_to(Path("elsewhere/s.parquet").resolve())
    _, _, err = run("audit", "made")
    assert f"a link out of made, to {Path('elsewhere/s.parquet').resolve()}; to read that" in err
    assert "cp -r" not in err


def test_a_link_in_a_circle_is_refused(run, made):
    (made / PART).unlink()
    (made / PART).symlink_to(Path(PART).name)
    code, _, err = run("audit", "made")
    assert code == 2
    assert "is a circle of links" in err
    assert err.count("\n") == 1


def test_a_folder_of_files_is_not_left_either(run, made):
    Path("plain").mkdir()
    shutil.copy("elsewhere/s.parquet", "plain/a.parquet")
    assert run("audit", "plain")[0] == 0
    Path("plain/b.parquet").symlink_to(Path("elsewhere/s.parquet").resolve())
    refused(run, ("audit", "plain"), "a link out of plain")


def test_a_folder_that_is_itself_a_link_is_read(run, made):
    Path("shortcut").symlink_to("made")
    assert run("audit", "shortcut")[0] == 0
    assert Dataset.open("shortcut").rows == 100


def test_a_pipe_in_place_of_a_file_is_not_waited_for(run, made):
    for name in ("recipe.json", "manifest.json", ".unskew/train-00000-of-00002.json", PART):
        kept = (made / name).read_bytes()
        (made / name).unlink()
        os.mkfifo(made / name)
        assert run("verify", "made")[0] in (1, 2)
        for args in (("audit", "made"), ("show", "made")):  # without a recipe: a folder of files
            assert run(*args)[0] in (0, 2), args
        (made / name).unlink()
        (made / name).write_bytes(kept)


def test_names_that_stay_inside_are_taken(made):
    assert inside(made, PART) == made / PART
    assert inside(made, "data/./train-00000-of-00002.parquet") == made / PART
    with pytest.raises(UnskewError, match="which is not in it"):
        inside(made, "..")


def test_a_name_that_arrow_would_read_as_an_address_is_refused(run, made, monkeypatch):
    """A path that is not there would be taken for an address, and followed."""
    secret = Path("elsewhere/s.parquet").resolve()
    name_the_first_part(f"file:{secret}")
    monkeypatch.chdir(made)
    for args in (("show", "."), ("audit", "."), ("convert", ".", "../out.jsonl")):
        code, out, err = run(*args)
        assert (code, out) == (2, ""), args
        assert "which is not in it" in err


@pytest.mark.parametrize("where", ["data", ".unskew"])
def test_nothing_is_written_through_a_link_either(run, made, where):
    Path("victim").mkdir()
    shutil.rmtree(made / where)
    (made / where).symlink_to(Path("victim").resolve())
    code, _, err = run("generate", "made/recipe.json", "-o", "made")
    assert code == 2
    assert "a link out of made" in err
    assert list(Path("victim").iterdir()) == []


def test_a_pipe_in_place_of_a_part_is_not_written_or_waited_for(run, made):
    (made / PART).unlink()
    os.mkfifo(made / PART)
    code, _, err = run("generate", "made/recipe.json", "-o", "made")
    assert code == 2
    assert "neither a file nor a folder" in err


@pytest.mark.parametrize("name", ["config.json", "checkpoint.safetensors"])
def test_the_folder_of_a_run_is_not_left(run, made, name):
    assert run("train", "made", "-o", "run", "--steps", 1, "--hidden", 2)[0] == 0
    (Path("run") / name).rename(Path("elsewhere") / name)
    (Path("run") / name).symlink_to((Path("elsewhere") / name).resolve())
    code, _, err = run("evaluate", "run", "made")
    assert code == 2
    assert "a link out of run" in err
