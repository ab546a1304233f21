"""Measures by hand: each one on a few values, as plain examples and as Arrow columns."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.column import about, column_variable
from unskew.core.variables.measures.measure import measured, quoted, unquoted
from unskew.core.variables.measures.names import FAMILIES, MEASURES, parse_name
from unskew.core.variables.variable import SalientVariable

CHAT = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "Why is it so?"},
    None,
    {"role": "user", "content": None},
    {"role": "assistant", "content": "Because."},
]
GRID = [[0, 0, 7], [0, 2, 2], [0, 0, 2]]
WORLD = ". # 3\n^. . #\n. 5 ."
# The measure of x, by hand: name, value, result.
CASES = [
    ("characters(x)", "a b", 3),
    ("words(x)", " a  bc d ", 3),
    ("count(x)", [4, 5], 2),
    ("has(x, b)", ["a", "b"], True),
    ('has(x, "a, b")', ["a, b"], True),
    ("turns(x)", CHAT, 5),
    ("roles(x)", CHAT, "system user assistant"),
    ("last_role(x)", CHAT, "assistant"),
    ("year(x)", "2024-02-29", 2024),
    ("month(x)", "2024-02-29", 2),
    ("weekday(x)", "2024-02-29", 4),
    ("hour(x)", "2024-02-29 17:30", 17),
    ("day(x)", "2024-02-29", 29),
    ("minute(x)", "2024-02-29 17:30", 30),
    ("which(x, plus, minus)", "3 minus 4", "minus"),
    ("which(x, plus, minus)", "3 times 4", None),
    ("pattern(x)", "2024-02-29T17:30", "9999-99-99A99:99"),
    ("pattern(x)", "ab 1", "a 9"),
    # numbers
    ("number(x)", " -1.50 ", -1.5),
    ("sign(x)", -3, -1),
    ("sign(x)", 0.0, 0),
    ("size(x)", -3.5, 3.5),
    ("magnitude(x)", 999, 2),
    ("magnitude(x)", 0.05, -2),
    ("magnitude(x)", 0, None),
    ("is_whole(x)", 2.0, True),
    ("is_whole(x)", 2.5, False),
    ("decimals(x)", 1.25, 2),
    ("decimals(x)", 3, 0),
    ("fraction(x)", 19.99, "99"),
    ("fraction(x)", 5.0, "0"),
    ("parity(x)", -3, "odd"),
    ("parity(x)", "12", "even"),
    ("remainder(x, 3)", 11, 2),
    ("remainder(x, 3)", -1, 2),
    ("digits(x)", -120, 3),
    ("digits(x)", 0, 1),
    ("first_digit(x)", -507, 5),
    ("last_digit(x)", -507, 7),
    ("digit_sum(x)", 507, 12),
    ("distinct_digits(x)", 505, 2),
    ("trailing_zeros(x)", 1200, 2),
    ("trailing_zeros(x)", 0, 0),
    ("is_prime(x)", 91, False),
    ("is_prime(x)", 2**61 - 1, True),
    ("is_prime(x)", 3215031751, False),  # passes the tests with bases 2, 3, 5 and 7
    ("is_square(x)", 49, True),
    ("is_square(x)", -4, False),
    ("is_power_of_two(x)", 64, True),
    ("is_power_of_two(x)", 0, None),
    # characters
    ("letters(x)", "aB1 é!", 3),
    ("capitals(x)", "aBC", 2),
    ("figures(x)", "a12", 2),
    ("spaces(x)", "a b\nc", 2),
    ("punctuation(x)", "a, (b)!", 4),
    ("non_ascii(x)", "né–", 2),
    ("distinct_characters(x)", "abca", 3),
    ("first_character(x)", "hello", "h"),
    ("last_character(x)", "hello?", "?"),
    ("last_character(x)", "", None),
    ("starts(x)", "Hello", "capital"),
    ("starts(x)", "7up", "digit"),
    ("ends(x)", "so.", "sign"),
    ("case(x)", "Hello you", "capitalized"),
    ("case(x)", "HELLO 1", "upper"),
    ("case(x)", "hi", "lower"),
    ("case(x)", "hI", "mixed"),
    ("case(x)", "12", None),
    ("script(x)", "1 я", "CYRILLIC"),
    ("longest_run(x)", "aabbbc", 3),
    ("is_palindrome(x)", "abba", True),
    # words
    ("distinct_words(x)", "The the cat", 2),
    ("repeated_words(x)", "The the cat", 1),
    ("mean_word(x)", "ab abcd", 3.0),
    ("mean_word(x)", "", None),
    ("longest_word(x)", "ab abcd", 4),
    ("shortest_word(x)", "ab abcd", 2),
    ("first_word(x)", '"What, now?', "what"),
    ("second_word(x)", "What now?", "now"),
    ("second_word(x)", "What", None),
    ("last_word(x)", "What now?", "now"),
    ("in_order(x)", "ant bee cow", True),
    ("sentences(x)", "One. Two? 3.5 is three!", 3),
    ("lines(x)", "a\nb\n", 2),
    ("blank_lines(x)", "a\n \nb", 1),
    ("longest_line(x)", "a\nbcd", 3),
    ("indentation(x)", "if a:\n    b\n\tc", 4),
    # tokens
    ("tokens(x)", "f(x1) + 3.5", 6),
    ("distinct_tokens(x)", "a + a", 2),
    ("most_repeated(x)", "a + A", 2),
    ("doubled(x)", "a a b b b", 3),
    ("first_token(x)", "(3+4)", "("),
    ("last_token(x)", "(3+4)", ")"),
    ("token_kinds(x)", "3 + a", "numbers signs words"),
    ("depth(x)", "((1+2)*3)", 2),
    ("mean_depth(x)", "(1+(2*3))+4", 5 / 4),
    ("brackets(x)", "(1+[2])) (", 2),
    ("leading_brackets(x)", "( (1+2)*3)", 2),
    ("trailing_brackets(x)", "(1*(2+3))", 2),
    ("deeper_side(x)", "(1+2)*3+4", "left"),
    ("deeper_side(x)", "1+2", "neither"),
    ("depth_without(x, c)", "m( c( a( c) w( b w) m)", 2),
    ("depth_without(x, c)", "m( w( c( x c) w) m)", 2),
    ("operators(x)", "1+2*-3", 3),
    ("operator_kinds(x)", "1+2*3+4", "* +"),
    ("first_operator(x)", "1+2*3", "+"),
    ("last_operator(x)", "1+2*3", "*"),
    ("main_operator(x)", "1+2*3", "+"),
    ("main_operator(x)", "(1+2)*3", "*"),
    ("main_operator(x)", "1-2-3+4*5", "+"),
    ("main_operator(x)", "-5", None),
    ("numbers(x)", "a1 2 and -3.5, 4-5", 4),
    ("distinct_numbers(x)", "2 2 3", 2),
    ("number_order(x)", "1 then 5 then 9", "up"),
    ("longest_number(x)", "7 and -123", 3),
    ("even_numbers(x)", "2 3 4", 2),
    ("round_numbers(x)", "10 25 300", 2),
    ("fractions(x)", "1.5 2", 1),
    ("first_number(x)", "from -7 to 9", -7),
    ("last_number(x)", "8-3", 3),
    ("smallest_number(x)", "4 -2 9", -2),
    ("largest_number(x)", "4 -2 9", 9),
    ("sum_of_numbers(x)", "4 -2 9", 11),
    ("contains(x, please)", "Please go", True),
    ("contains(x, Please)", "please go", False),
    ("contains(x, go now)", "do go now", True),
    ("contains(x, go now then)", "do go now Then", True),
    ("contains(x, plea)", "please", False),
    ("occurrences(x, +)", "1+2+3", 2),
    ("occurrences(x, for, while)", "for a while for b", 3),
    ('occurrences(x, "(")', "f(g(x))", 2),
    ("occurrences(x, 3)", [3, 4, 3], 2),
    ("place(x, not)", "is it not so", 2),
    ("place(x, not)", "it is", None),
    # lists
    ("distinct(x)", [1, 2, 1], 2),
    ("repeats(x)", [[1], [1], [2]], 1),
    ("most_frequent(x)", ["a", "b", "a"], 2),
    ("doubles(x)", [1, 1, 2, 2, 2], 3),
    ("order(x)", [1, 2, 2], "up"),
    ("order(x)", ["b", "a"], "down"),
    ("order(x)", [1, 1], "level"),
    ("order(x)", [1, 2, 1], "mixed"),
    ("order(x)", [1], None),
    ("is_symmetric(x)", [1, 2, 1], True),
    ("ends_alike(x)", [1, 2, 3], False),
    ("sum(x)", [1, 2, -5], -2),
    ("sum_parity(x)", [1, 2], "odd"),
    ("mean(x)", [1, 2], 1.5),
    ("smallest(x)", [3, 1, 2], 1),
    ("largest(x)", [3, 1, 2], 3),
    ("largest(x)", [], None),
    ("range(x)", [3, 1, 2], 2),
    ("place_of_largest(x)", [1, 9, 9], 1),
    ("place_of_smallest(x)", [1, 9, 0], 2),
    ("negatives(x)", [-1, 0, -2], 2),
    ("zeros(x)", [-1, 0, -2], 1),
    ("evens(x)", [-2, 0, 3], 2),
    ("peaks(x)", [1, 3, 1, 3, 1], 2),
    ("constant_step(x)", [2, 5, 8], True),
    # messages
    ("first_role(x)", CHAT, "system"),
    ("alternate(x)", CHAT, False),
    ("longest_turn(x)", CHAT, 4),
    ("turns_of(x, user)", CHAT, 2),
    ("words_of(x, user)", CHAT, 4),
    ("characters_of(x, assistant)", CHAT, 8),
    ("first_word_of(x, user)", CHAT, "why"),
    # nested data
    ("missing(x)", 1, False),
    ("type(x)", {"a": 1}, "object"),
    ("type(x)", "a", "string"),
    ("keys(x)", {"a": 1, "b": 2}, 2),
    ("key_names(x)", {"b": 1, "a": 2}, "a b"),
    ("levels(x)", [[1], [2]], 2),
    # arrays
    ("shape(x)", GRID, "3 × 3"),
    ("rows(x)", [[1, 2]], 1),
    ("columns(x)", [[1, 2]], 2),
    ("area(x)", WORLD, 9),
    ("brightness(x)", [[0, 1], [1, 0]], 0.5),
    ("contrast(x)", [[0, 2], [2, 0]], 1.0),
    ("darkest(x)", GRID, 0.0),
    ("brightest(x)", GRID, 7.0),
    ("redness(x)", [[[9, 0, 0], [1, 0, 0]]], 5.0),
    ("greenness(x)", [[[9, 4, 0], [1, 0, 0]]], 2.0),
    ("blueness(x)", [[[9, 4, 3]]], 3.0),
    ("brighter_half(x)", [[0, 0], [1, 0]], "lower"),
    ("brighter_side(x)", [[0, 0], [1, 0]], "left"),
    ("colours(x)", GRID, 3),
    ("main_colour(x)", GRID, "0"),
    ("main_colour(x)", [[[255, 0, 1], [255, 0, 1]]], "#ff0001"),
    ("filled_cells(x)", GRID, 4),
    ("filled(x)", [[0, 1], [0, 0]], 0.25),
    ("cells(x, 2, 7)", GRID, 4),
    ("share(x, #)", "..\n.#", 0.25),
    ("numbered(x)", "1 .\n. ^2", 0.5),
    ("first_numbered(x)", WORLD, "3"),
    ("lowest_numbered(x)", WORLD, "5"),
    ("parts(x)", [[1, 0, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 0, 1], [0, 0, 0]], 2),
    ("largest_part(x)", [[1, 0, 0], [1, 0, 1]], 2),
    ("centre_row(x)", [[0, 0], [0, 1]], 0.75),
    ("centre_column(x)", [[0, 0], [0, 1]], 0.75),
    ("quadrant(x)", [[0, 0], [1, 0]], "lower left"),
    ("touches_edge(x)", [[0, 0, 0], [0, 1, 0], [0, 0, 0]], False),
    ("filled_shape(x)", [[0, 0, 0], [1, 1, 0], [0, 0, 0]], "wide"),
    ("filled_rows(x)", GRID, 3),
    ("filled_columns(x)", GRID, 2),
    ("row_of(x, ^.)", WORLD, 1),
    ("column_of(x, 5)", WORLD, 1),
    ("edges(x)", [[0, 1], [0, 0]], 2),
    ("mirrored(x)", [[1, 0, 1]], True),
    ("upside_down(x)", [[1], [2]], False),
]
PAIRS = [
    ("same(x, y)", 2, 2.0, True),
    ("same(x, y)", [1, 2], [2, 1], False),
    ("compare(x, y)", 2, 3, "less"),
    ("difference(x, y)", 2, 5, 3),
    ("divides(x, y)", 3, 12, True),
    ("divides(x, y)", 0, 12, None),
    ("carries(x, y)", 57, 68, 2),
    ("length_change(x, y)", [1], [1, 2, 3], 2),
    ("changed(x, y)", "a b c", "a x c d", 2),
    ("changed(x, y)", [[0, 1], [1, 0]], [[0, 1], [1, 1]], 1),
    ("contained(x, y)", "It is Paris.", "paris", True),
    ("contained(x, y)", [1, 2], 3, False),
    ("place_in(x, y)", ["a", "b"], "b", 1),
    ("third_of(x, y)", "abcdef", "e", "last"),
    ("shared_words(x, y)", "the cat", "a Cat", 1),
    ("reordered(x, y)", [1, 2, 2], [2, 1, 2], True),
]


def batches(*rows: dict) -> list[Batch]:
    """Return rows as plain examples and as an Arrow table."""
    return [Batch.of(rows), Batch.from_arrow(pa.Table.from_pylist(list(rows)))]


@pytest.mark.parametrize(("name", "value", "expected"), CASES)
def test_measures_by_hand(name, value, expected):
    for batch in batches({"x": value}, {"x": value}):
        result = column_variable(name).measure(batch).tolist()
        assert result == [expected, expected]
        assert type(result[0]) is type(expected)


@pytest.mark.parametrize(("name", "first", "second", "expected"), PAIRS)
def test_measures_of_two_values_by_hand(name, first, second, expected):
    for batch in batches({"x": first, "y": second}, {"x": None, "y": second}):
        assert column_variable(name).measure(batch).tolist() == [expected, None]


def test_every_measure_has_a_case():
    named = {parse_name(name).measure.name for name, *_ in (*CASES, *PAIRS)}
    assert named == set(MEASURES)
    assert sum(map(len, FAMILIES.values())) == len(MEASURES)  # no name stands for two


def test_values_of_another_kind_have_no_measure():
    odd = [
        {"a": {}},
        3.5,
        "x",
        [],
        [[1], "a"],
        b"\x89PNG broken",
        {"bytes": b"GIF8"},
        True,
        10**400,
    ]
    for name, *_ in CASES:
        measure = parse_name(name).measure
        for value in odd:
            measured(measure, value)  # raises nothing
        if not measure.on_missing:
            assert measured(measure, None) is None


@pytest.mark.parametrize("name", ["turns(x)", "roles(x)", "last_role(x)"])
@pytest.mark.parametrize("lists", [[[1, 2], None], [["a"], []], [[{"a": 1}], [{"a": 2}]]])
def test_lists_that_are_no_messages_are_refused_in_every_form(name, lists):
    rows = [{"x": items} for items in lists if items != []]
    for batch in (Batch.of(rows), Batch.from_arrow(Batch.of(rows).to_arrow())):
        with pytest.raises(UnskewError, match="needs messages"):
            column_variable(name, known=False).measure(batch)


def test_missing_tells_none_nan_and_absent_rows():
    for batch in batches({"x": None, "y": 0}, {"x": 1.5, "y": 0}):
        assert column_variable("missing(x)").measure(batch).tolist() == [True, False]
    nan = Batch.from_arrow(pa.table({"x": [float("nan"), 2.0]}))
    assert column_variable("missing(x)").measure(nan).tolist() == [True, False]
    deep = batches({"x": {"k": 1}}, {"x": {}}, {"x": None})
    for batch in deep:
        assert column_variable("missing(x.k)").measure(batch).tolist() == [False, True, True]
    texts = Batch.from_arrow(pa.table({"x": ['{"k": 1}', "{}", None]}))
    assert column_variable("missing(x.k)").measure(texts).tolist() == [False, True, True]


def test_images_of_files():
    image = pytest.importorskip("PIL.Image")
    cells = np.zeros((4, 6, 3), np.uint8)
    cells[1, 2] = (255, 0, 0)
    data = io.BytesIO()
    image.fromarray(cells).save(data, "PNG")
    for value in (data.getvalue(), {"bytes": data.getvalue(), "path": None}):
        batch = Batch.of([{"x": value}])
        assert column_variable("shape(x)").measure(batch).tolist() == ["4 × 6 × 3"]
        assert column_variable("cells(x, #ff0000)").measure(batch).tolist() == [1]
    assert column_variable("parts(x)").measure(Batch.of([{"x": cells}])).tolist() == [1]


def test_parts_agree_with_a_walk_over_the_cells():
    rng = np.random.default_rng(5)
    variable, sizes = column_variable("parts(x)"), column_variable("largest_part(x)")
    for _ in range(60):
        cells = (rng.random(rng.integers(1, 9, 2)) < rng.random()).astype(int)
        batch = Batch.of([{"x": cells.tolist()}])
        background = min(
            np.flatnonzero(np.bincount(cells.ravel()) == np.bincount(cells.ravel()).max())
        )
        expected = walked(cells != background)
        assert variable.measure(batch).tolist() == [len(expected)]
        assert sizes.measure(batch).tolist() == [max(expected, default=0)]


def walked(filled) -> list[int]:
    """Return the sizes of the connected parts, found cell by cell."""
    left = {(int(r), int(c)) for r, c in np.argwhere(filled)}
    sizes = []
    while left:
        edge, size = [left.pop()], 0
        while edge:
            r, c = edge.pop()
            size += 1
            for near in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if near in left:
                    left.remove(near)
                    edge.append(near)
        sizes.append(size)
    return sizes


def test_names_change_measures():
    rows = [{"t": "a " * n, "n": n, "f(x)": n, "a, b": n} for n in (0, 3, 7, 12)]
    rows.append({"t": None, "n": None, "f(x)": None, "a, b": None})
    expected = {
        "bins(words(t), 5, 10)": ["< 5", "< 5", "[5, 10)", "≥ 10", None],
        "bins(n, 5)": ["< 5", "< 5", "≥ 5", "≥ 5", None],
        'bins("f(x)", 5)': ["< 5", "< 5", "≥ 5", "≥ 5", None],
        "clip(n, 1, 9)": [1, 3, 7, 9, None],
        "round_to(n, 5)": [0, 5, 5, 10, None],
        "round_to(words(t), 0.5)": [0.0, 3.0, 7.0, 12.0, None],
        'remainder("a, b", 5)': [0, 3, 2, 2, None],
        "bins(remainder(n, 5), 1, 3)": ["< 1", "≥ 3", "[1, 3)", "[1, 3)", None],
    }
    for batch in batches(*rows):
        for name, values in expected.items():
            assert column_variable(name).measure(batch).tolist() == values, name


def test_a_column_called_like_a_change_is_the_column():
    for batch in batches({"bins(x, 1)": "yes", "x": 5}):
        assert column_variable("bins(x, 1)").measure(batch).tolist() == ["yes"]


def test_arguments_are_read_as_they_are_written():
    for label in ("a", "a, b", '"', "(", ")", "a\nb", "\\", " ", "é", "x=1", '", "'):
        assert unquoted(quoted(label)) == label
        for name in ("has", "occurrences", "contains", "cells"):
            measure = MEASURES[name].with_arguments(label)
            written = measure.of_path("a, b")
            read = parse_name(written)
            assert (read.measure.arguments, read.paths) == ((label,), ("a, b",)), written
    two = MEASURES["occurrences"].with_arguments('a"', "b, c")
    assert parse_name(two.of_path("x")).measure.arguments == ('a"', "b, c")
    assert parse_name("has(tags, a, b)").measure.arguments == ("a, b",)  # as it was before quotes


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bins(x)", r"names no numbers after what it changes; write it as bins\(words\(prompt\)"),
        ("bins(x, 5, 5)", r"has the numbers 5, 5; bins needs edges that go up"),
        ("clip(x, 5)", r"clip needs two numbers, the smaller one first"),
        ("round_to(x, 0)", r"round_to needs one number above 0"),
        (
            "clip(bins(x, 1, 2), 1, 2)",
            r"changes what is changed already; keep one of clip and bins",
        ),
        ("remainder(x)", r"names no number; write it as remainder\(answer, 3\)"),
        ("remainder(x, 0)", r"has '0'; give a whole number from 1 to"),
        ("remainder(x, y)", r"has 'y'; give a whole number from 1 to"),
        ("same(x)", r"names 1 of 2 paths; write it as same\(input, output\)"),
        ("contains(x)", r"names no label; write it as contains\(prompt, please\)"),
        ('occurrences(x, "a)', r'argument "a cannot be read; write quotes inside quotes as'),
        ("wrods(x)", "unknown measure 'wrods'; did you mean 'words'"),
        ("parity(x)", r"parity\(x\) needs whole numbers, but x is 'a b'"),
        ("divides(x, y)", r"divides\(x, y\) cannot be told of values of these kinds: x is 'a b'"),
        ("same(x, z)", "unknown column 'z'|no row has 'z'"),
    ],
)
def test_wrong_names_are_one_line(name, message):
    for batch in batches({"x": "a b", "y": "c"}):
        with pytest.raises(UnskewError, match=message) as caught:
            column_variable(name, known=False).measure(batch)
        assert "\n" not in str(caught.value)


def test_what_a_name_says():
    assert about("words(prompt)") == "number of words"
    assert about("has(tags, python)") == "yes or no: does tags hold 'python'"
    assert about("remainder(x, 3)") == "remainder when divided by 3"
    assert about("bins(words(t), 5, 10)") == "number of words, in 3 bins"
    assert isinstance(column_variable("same(a, b)"), SalientVariable)


def test_json_text_is_opened():
    batch = Batch.of([{"x": json.dumps([3, 1]), "y": json.dumps({"a": [1]})}])
    assert column_variable("largest(x)").measure(batch).tolist() == [3]
    assert column_variable("levels(y)").measure(batch).tolist() == [2]
