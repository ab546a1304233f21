"""Control characters in data never reach the terminal: each is written out where it is printed."""

import ast
import hashlib
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from unskew import Recipe, generate
from unskew.core.visible import visible, visible_json

SOURCES = Path(unskew.__file__).parent
ATTACKS = {
    "colour": "\x1b[31mred",
    "title": "\x1b]0;pwned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJm\x1b\\",
    "csi of one byte": "\x9b2J",
    "bell": "ding\x07",
    "backspace": "abc\x08\x08\x08xyz",
    "carriage return": "fine\rfault",
    "reversed": "abc\u202egnp.exe",
    "isolated": "\u2066abc\u2069",
    "line separator": "a\u2028b\u0085c",
    "tags": "a\U000e0041b",
    "surrogate": "a\ud800b",
}
HARMLESS = "tab\tnewline\nε 中文 עברית 👩‍👩‍👧 \u200cمی‌خواهم"


def steering(text: str) -> list[str]:
    """Return the characters of a text that a terminal would obey."""
    return [
        char
        for char in text
        if char not in "\n\t"
        and (unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in "\u202e\u2066\u2069")
    ]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_text_is_written_out(attack):
    assert steering(attack) or "tags" in repr(attack) or "\U000e0041" in attack
    assert steering(visible(attack)) == []
    assert "\U000e0041" not in visible(attack)
    assert visible(visible(attack)) == visible(attack)


def test_other_text_stays_as_it_is():
    assert visible(HARMLESS) == HARMLESS
    assert visible("a\x1bb\u202ec\U000e0041d\x9b") == r"a\x1bb\u202ec\U000e0041d\x9b"


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_json_means_the_same_and_steers_nothing(attack):
    text = visible_json(json.dumps({attack: [attack]}, ensure_ascii=False))
    assert json.loads(text) == {attack: [attack]}
    assert steering(text) == []
    assert "\U000e0041" not in text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def check(run, *args: object) -> str:
    """Run a command; whatever it says must steer nothing."""
    _, out, err = run(*args)
    assert steering(out + err) == [], args
    assert "Traceback" not in err
    return out + err


SEEN = {name: text for name, text in ATTACKS.items() if name != "surrogate"}


@pytest.mark.parametrize("attack", SEEN.values(), ids=SEEN)
def test_values_columns_and_examples(run, folder, attack):
    rows = [{"answer": attack, attack: "b", "n": n} for n in range(30)]
    pq.write_table(pa.Table.from_pylist(rows), "x.parquet")
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("wrong.jsonl").write_text(json.dumps(rows[0]) + "\n" + json.dumps(attack) + "\n{\n")
    message = ""
    for file in ("x.parquet", "x.jsonl", "wrong.jsonl"):
        message += check(run, "audit", file)
        check(run, "audit", file, "--json")
        message += check(run, "show", file)
        check(run, "show", file, "--json")
        check(run, "audit", file, "--by", "nothing")
        check(run, "audit", file, "--by", attack)
        check(run, "audit", file, "--after", "x.jsonl")
        check(run, "resample", file, "--homogenize", "answer", "-n", 900, "-o", "out.jsonl")
        check(run, "convert", file, "out.parquet")
    assert re.search(r"\\x|\\u|\\r|\\U", message)  # the attack was shown, written out


@pytest.mark.parametrize("attack", SEEN.values(), ids=SEEN)
def test_what_a_recipe_and_a_manifest_say(run, folder, attack):
    generate(Recipe("calculator/dcfg", 50, shard_size=25), "made")
    kept = {name: Path("made", name).read_text() for name in ("recipe.json", "manifest.json")}

    def altered(name: str, change) -> None:
        data = json.loads(kept[name])
        change(data)
        Path("made", name).write_text(json.dumps(data))

    changes = [
        ("recipe.json", lambda data: data.update(source=attack)),
        ("recipe.json", lambda data: data.update(source=f"{attack}:draw")),
        ("recipe.json", lambda data: data.update(exclude=[attack])),
        ("recipe.json", lambda data: data.update({attack: 1})),
        ("recipe.json", lambda data: data.update(homogenize=[attack])),
        ("recipe.json", lambda data: data.update(parameters={attack: attack})),
        ("manifest.json", lambda data: data["parts"][0].update(file=attack)),
        ("manifest.json", lambda data: data["parts"][0].update(rows=attack)),
        ("manifest.json", lambda data: data.update(rows=attack)),
        ("manifest.json", lambda data: data["tally"]["dropped"].update({attack: 3})),
    ]
    for name, change in changes:
        altered(name, change)
        for args in (("verify", "made"), ("audit", "made"), ("show", "made")):
            check(run, *args)
            check(run, *args, "--json")
        Path("made", name).write_text(kept[name])


@pytest.mark.parametrize("attack", SEEN.values(), ids=SEEN)
def test_names_of_files_and_arguments(run, folder, attack):
    name = attack.replace("/", "")
    Path(f"{name}.jsonl").write_text('{"a": 1}\n')
    check(run, "audit", f"{name}.jsonl")
    check(run, "audit", f"{name}.parquet")
    check(run, "verify", name)
    check(run, "generate", name, "-o", "x")
    check(run, "list", name)
    check(run, "audit", "calculator/dcfg", f"--{name}")
    check(run, "audit", "calculator/dcfg", "-n", name)
    check(run, "synthesize", f"{name}.txt")


@pytest.mark.parametrize("attack", SEEN.values(), ids=SEEN)
def test_the_card_of_a_dataset_that_a_stranger_began(run, folder, attack):
    """The notes of finished parts may say anything; their digest keeps nobody from it."""
    generate(Recipe("calculator/dcfg", 50, shard_size=25), "made")
    note = Path("made/.unskew/train-00000-of-00002.json")
    data = json.loads(note.read_text())
    del data["digest"]
    next(iter(data["values"].values()))[0][0] = f"<script>{attack}"
    data["left_out"] = {f"<img src=x>{attack}": attack}
    data["tally"]["dropped"] = {f"<script>{attack}": 3}
    digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    note.write_text(json.dumps({**data, "digest": digest}))
    for name in ("manifest.json", "README.md"):
        Path("made", name).unlink()
    check(run, "generate", "made/recipe.json", "-o", "made")
    card = Path("made/README.md").read_text()
    assert "&lt;img src=x>" in card
    assert "<script" not in card
    assert steering(card) == []


def test_an_audit_that_python_prints(folder):
    result = unskew.audit([{"a": "\x1b[31m\u202e"}] * 3)
    assert steering(str(result)) == []
    assert steering(str(result.compare(result))) == []


def test_markup_in_data_is_text(run, folder):
    Path("x.jsonl").write_text('{"a": "[red]x[/red] :smile:"}\n')
    assert "[red]x[/red] :smile:" in check(run, "audit", "x.jsonl")


def test_the_command_line_prints_in_one_place():
    """What is printed elsewhere would not be written out."""
    for path in (SOURCES / "cli").glob("*.py"):
        if path.name == "printing.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                assert name not in ("print", "typer.echo", "typer.secho", "rich.print"), path


@pytest.mark.parametrize("attack", SEEN.values(), ids=SEEN)
def test_an_error_in_python_steers_nothing(folder, attack):
    with pytest.raises(unskew.UnskewError) as caught:
        unskew.audit([{attack: 1}], by="nothing")
    assert steering(str(caught.value)) == []


def test_a_progress_bar_steers_nothing():
    """It is drawn in a terminal only: here one of its own."""
    code = (
        "from unskew.cli.progress import progress\n"
        "with progress('x\\x1b]0;PWN\\x07', 10) as advance:\n"
        "    advance(5, 'y\\x1b]0;PWN\\x07')\n"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, stdin=theirs)
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:  # the other end was closed
        pass
    assert process.wait() == 0
    assert b"PWN" in shown
    assert b"\x1b]0;" not in shown
    os.close(ours)
