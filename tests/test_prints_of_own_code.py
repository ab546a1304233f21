"""What a user's code prints never mixes with the result of a command, which is on stdout."""

import json
import subprocess
import sys

import pytest

CHATTY = """
import os

print("printed on import")

def draw(rng):
    print("printed while drawing")
    os.system("echo told while drawing")
    return {"a": int(rng.integers(3))}

def measured(example):
    print("printed while measuring")
    return example["a"]
"""
COMMANDS = [
    ("show", "chatty:draw", "-n", "3"),
    ("audit", "chatty:draw", "-n", "20", "--by", "chatty:measured"),
    ("convert", "chatty:draw", "made.jsonl", "-n", "3"),
    ("generate", "chatty:draw", "-n", "20", "--homogenize", "chatty:measured", "-o", "made"),
    ("resample", "data.jsonl", "--homogenize", "chatty:measured", "-o", "even.jsonl"),
]


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: args[0])
def test_json_is_printed_and_nothing_else(args, tmp_path):
    (tmp_path / "chatty.py").write_text(CHATTY)
    (tmp_path / "data.jsonl").write_text('{"a": 1}\n{"a": 2}\n' * 5)
    command = [sys.executable, "-m", "unskew", *args, "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "printed on import" in done.stderr
    assert "printed while" in done.stderr
