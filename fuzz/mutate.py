"""Changes valid inputs: bytes, texts and JSON; each follows from a seeded generator."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fuzz.machinery import Rng

DEPTHS = (3, 100, 1000, 5000, 100_000)
NUMBERS = (
    *("0", "-1", "1", "2", "7", "255", "256", "65536", "2147483648", "4294967296"),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808"),
    *("18446744073709551616", "0.5", "-0.0", "1.0", "1e5", "1e400", "-1e400", "1e-400"),
    *("NaN", "Infinity", "-Infinity", "1" * 40, "9" * 400, "9" * 5000),
)
TEXTS = (
    *('""', '" "', '"a"', '"\\u0000"', '"\\n"', '"\\u2028"', '"é😀"', '"\\u001b[31m"', '"/"'),
    *('"../x"', '"."', '"nan"', '"1"', '"-1"', '"train"', '"' + "a" * 300 + '"'),
)
OTHERS = ("null", "true", "false", "[]", "{}", "[[]]", "[{}]", "[null]", '{"":null}', '{"a":{}}')
BYTES = (0, 9, 10, 13, 27, 32, 34, 47, 58, 91, 92, 123, 127, 128, 195, 237, 254, 255)

T = TypeVar("T")
Change = Callable[[Rng, bytes], bytes]


def pick(rng: Rng, options: Sequence[T]) -> T:
    """Choose one."""
    return options[int(rng.integers(len(options)))]


def span(rng: Rng, size: int) -> tuple[int, int]:
    """Choose a stretch; short ones are more frequent."""
    if size == 0:
        return 0, 0
    start = int(rng.integers(size))
    longest = pick(rng, (1, 2, 8, 64, size))
    return start, min(size, start + 1 + int(rng.integers(longest)))


def flip(rng: Rng, data: bytes) -> bytes:
    """Flip one bit."""
    if not data:
        return data
    made = bytearray(data)
    made[int(rng.integers(len(made)))] ^= 1 << int(rng.integers(8))
    return bytes(made)


def overwrite(rng: Rng, data: bytes) -> bytes:
    """Write other bytes over a stretch."""
    start, stop = span(rng, len(data))
    byte = pick(rng, BYTES)
    return data[:start] + bytes([int(byte)]) * (stop - start) + data[stop:]


def insert(rng: Rng, data: bytes) -> bytes:
    """Put random bytes somewhere."""
    at = int(rng.integers(len(data) + 1))
    return data[:at] + rng.bytes(1 + int(rng.integers(8))) + data[at:]


def cut(rng: Rng, data: bytes) -> bytes:
    """Leave out a stretch."""
    start, stop = span(rng, len(data))
    return data[:start] + data[stop:]


def truncate(rng: Rng, data: bytes) -> bytes:
    """Leave out the end."""
    return data[: int(rng.integers(len(data) + 1))]


def double(rng: Rng, data: bytes) -> bytes:
    """Repeat a stretch, at times very often."""
    start, stop = span(rng, len(data))
    times = min(pick(rng, (2, 3, 20, 1000)), 1 + 100_000 // max(1, stop - start))
    return data[:start] + data[start:stop] * times + data[stop:]


def move(rng: Rng, data: bytes) -> bytes:
    """Put a stretch somewhere else."""
    start, stop = span(rng, len(data))
    rest = data[:start] + data[stop:]
    at = int(rng.integers(len(rest) + 1))
    return rest[:at] + data[start:stop] + rest[at:]


def integer(rng: Rng, data: bytes) -> bytes:
    """Write a number of 4 or 8 bytes over what is there."""
    size = pick(rng, (4, 8))
    number = pick(rng, (0, 1, -1, 1 << 31, (1 << 31) - 1, 1 << 24, 1 << 40, (1 << 63) - 1))
    raw = (number % (1 << 8 * size)).to_bytes(size, "little")
    at = int(rng.integers(max(1, len(data) - size + 1)))
    return data[:at] + raw + data[at + size :]


def lines(rng: Rng, data: bytes) -> bytes:
    """Leave out, repeat or exchange lines."""
    parts = data.split(b"\n")
    first, second = int(rng.integers(len(parts))), int(rng.integers(len(parts)))
    kind = int(rng.integers(4))
    if kind == 0:
        del parts[first]
    elif kind == 1:
        parts.insert(second, parts[first])
    elif kind == 2:
        parts[first], parts[second] = parts[second], parts[first]
    else:
        parts[first] = b" " * int(rng.integers(9)) + parts[first].lstrip()
    return b"\n".join(parts)


BINARY: tuple[Change, ...] = (flip, flip, overwrite, insert, cut, truncate, double, move, integer)
TEXTUAL: tuple[Change, ...] = (flip, overwrite, cut, truncate, double, move, lines, lines)


def often(rng: Rng, data: bytes, changes: Sequence[Change]) -> bytes:
    """Change an input once or a few times."""
    for _ in range(pick(rng, (1, 1, 1, 2, 3, 6))):
        change: Change = pick(rng, changes)
        data = change(rng, data)
    return data


def words(rng: Rng, data: bytes, vocabulary: Sequence[str]) -> bytes:
    """Exchange, leave out or add words of a language."""
    parts = data.decode(errors="replace").split(" ")
    for _ in range(pick(rng, (1, 1, 2, 5))):
        at = int(rng.integers(len(parts) + 1))
        kind = int(rng.integers(4))
        if kind == 0:
            parts.insert(at, pick(rng, vocabulary))
        elif kind == 1:
            del parts[at : at + 1]
        elif kind == 2:
            parts[at : at + 1] = [pick(rng, vocabulary)]
        else:
            stop = at + int(rng.integers(12))
            parts[at:stop] = parts[at:stop] * pick(rng, (2, 3, 40))
    return " ".join(parts).encode()


def value(rng: Rng) -> str:
    """Return the text of some JSON value, a strange one more often than not."""
    kind = int(rng.integers(20))
    if kind == 0:
        depth = pick(rng, DEPTHS)
        if rng.random() < 0.5:
            return "[" * depth + "]" * depth
        return '{"a":' * depth + "1" + "}" * depth
    if kind < 9:
        return str(pick(rng, NUMBERS))
    return str(pick(rng, TEXTS if kind < 15 else OTHERS))


def change_json(rng: Rng, data: bytes) -> bytes:
    """Change values, keys and the nesting of a JSON text that is valid."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return often(rng, data, TEXTUAL)
    raws: list[str] = []

    def raw(text: str) -> str:
        raws.append(text)
        return f"@raw{len(raws) - 1}@"

    for _ in range(pick(rng, (1, 1, 1, 2, 4))):
        places = _places(tree)
        if not places:
            break
        _change_place(rng, tree, pick(rng, places), raw)
    text = json.dumps(tree, ensure_ascii=bool(rng.integers(2)))
    for number, told in enumerate(raws):
        text = text.replace(f'"@raw{number}@"', told)
    made = text.encode("utf-8", "surrogatepass")
    return often(rng, made, TEXTUAL) if rng.random() < 0.05 else made


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every container with each of its keys."""
    seen: list[tuple[Any, Any]] = []
    todo = [tree]
    while todo and len(seen) < 3000:
        node = todo.pop()
        entries = node.items() if isinstance(node, dict) else enumerate(node)
        for key, child in entries:
            seen.append((node, key))
            if isinstance(child, (dict, list)):
                todo.append(child)
    return seen


def _change_place(rng: Rng, tree: Any, place: tuple[Any, Any], raw: Callable[[str], str]) -> None:
    holder, key = place
    kind = int(rng.integers(10))
    if kind < 5:
        holder[key] = raw(value(rng))
    elif kind == 5:
        del holder[key]
    elif kind == 6:
        other, there = pick(rng, _places(tree))
        holder[key] = json.loads(json.dumps(other[there]))
    elif kind == 7 and isinstance(holder, dict):
        old = holder.pop(key)
        holder[pick(rng, ("", "a", f"{key}s", "file", "values", "\u0000", "é"))] = old
    elif kind == 8 and isinstance(holder[key], (int, float)):
        holder[key] = holder[key] + pick(rng, (-1, 1, 2, 1000, 0.5))
    elif kind == 8 and isinstance(holder[key], str):
        text = holder[key].encode("utf-8", "replace")
        holder[key] = often(rng, text, TEXTUAL).decode("utf-8", "replace")
    else:
        holder[key] = [holder[key]] * pick(rng, (1, 2, 30))
