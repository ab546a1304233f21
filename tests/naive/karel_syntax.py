"""Naive twin of the decoder's syntax mask: what may come next, by parsing every try anew."""

ACTIONS = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
CONDITIONS = (
    "markersPresent",
    "noMarkersPresent",
    "leftIsClear",
    "rightIsClear",
    "frontIsClear",
)
COUNTS = tuple(f"R={n}" for n in range(20))
WORDS = ("not", "DEF", "run", "REPEAT", "WHILE", "IF", "IFELSE", "ELSE")
BRACKETS = ("m(", "m)", "c(", "c)", "r(", "r)", "w(", "w)", "i(", "i)", "e(", "e)")
EVERY_TOKEN = (*WORDS, *CONDITIONS, *ACTIONS, *BRACKETS, *COUNTS)


class _WrongError(Exception):
    """No program begins like this."""


class _Reader:
    """Reads the beginning of a program; past its end it counts what the shortest one adds."""

    def __init__(self, tokens):
        self.tokens, self.at, self.missing = tokens, 0, 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def one_of(self, *choices):
        if self.peek() is None:
            self.missing += 1
        elif self.peek() in choices:
            self.at += 1
        else:
            raise _WrongError

    def program(self):
        for token in ("DEF", "run"):
            self.one_of(token)
        self.block("m")
        if self.at < len(self.tokens):
            raise _WrongError

    def block(self, kind):
        self.one_of(f"{kind}(")
        self.statement()
        while self.peek() not in (None, f"{kind})"):
            self.statement()
        self.one_of(f"{kind})")

    def statement(self):
        first = self.peek()
        if first == "REPEAT":
            self.at += 1
            self.one_of(*COUNTS)
            self.block("r")
        elif first in ("WHILE", "IF", "IFELSE"):
            self.at += 1
            self.condition()
            self.block("w" if first == "WHILE" else "i")
            if first == "IFELSE":
                self.one_of("ELSE")
                self.block("e")
        else:
            self.one_of(*ACTIONS)

    def condition(self):
        self.one_of("c(")
        if self.peek() == "not":
            self.at += 1
            self.condition()
        else:
            self.one_of(*CONDITIONS)
        self.one_of("c)")


def missing_tokens(prefix):
    """How many tokens the shortest program has that begins so, beyond these; None if none does."""
    reader = _Reader(list(prefix))
    try:
        reader.program()
    except _WrongError:
        return None
    return reader.missing


def next_tokens(prefix, max_length):
    """The tokens with which some program of at most ``max_length`` tokens goes on."""
    allowed = set()
    for token in EVERY_TOKEN:
        missing = missing_tokens([*prefix, token])
        if missing is not None and len(prefix) + 1 + missing <= max_length:
            allowed.add(token)
    return allowed


def every_program(max_length):
    """All programs of at most ``max_length`` tokens."""
    complete, unfinished = [], [[]]
    while unfinished:
        prefix = unfinished.pop()
        if prefix and missing_tokens(prefix) == 0:
            complete.append(prefix)
            continue
        unfinished += [[*prefix, token] for token in sorted(next_tokens(prefix, max_length))]
    return complete
