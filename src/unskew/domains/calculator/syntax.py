"""Expressions one at a time: parse, evaluate, print. No recursion, so no input is too deep.

A tree is a digit or a tuple ``(operator, left, right)``.
"""

from __future__ import annotations

from typing import TypeAlias

from unskew.core.errors import UnskewError

Tree: TypeAlias = "int | tuple[str, Tree, Tree]"

_PRECEDENCE = {"+": 1, "-": 1, "*": 2}


def parse(text: str) -> Tree:
    """Read an expression; operators of one precedence associate to the left."""
    operands: list[Tree] = []
    operators: list[str] = []
    wants_operand = True
    open_brackets = 0
    for position, character in enumerate(text):
        if wants_operand and character in "0123456789":
            operands.append(int(character))
            wants_operand = False
        elif wants_operand and character == "(":
            operators.append(character)
            open_brackets += 1
        elif not wants_operand and character in _PRECEDENCE:
            _reduce(operands, operators, _PRECEDENCE[character])
            operators.append(character)
            wants_operand = True
        elif not wants_operand and character == ")" and open_brackets:
            _reduce(operands, operators, 0)
            operators.pop()
            open_brackets -= 1
        else:
            raise _unexpected(text, position, wants_operand)
    if wants_operand or open_brackets:
        raise _unexpected(text, len(text), wants_operand)
    _reduce(operands, operators, 0)
    return operands.pop()


def evaluate(expression: str | Tree) -> int:
    """Return the value modulo 10, from 0 to 9."""
    values: list[int] = []
    for item in _postfix(parse(expression) if isinstance(expression, str) else expression):
        if isinstance(item, int):
            values.append(item)
            continue
        right, left = values.pop(), values.pop()
        result = {"+": left + right, "-": left - right, "*": left * right}[item]
        values.append(result % 10)
    return values.pop()


def to_text(tree: Tree) -> str:
    """Print a tree without redundant parentheses.

    The value needs parentheses only around a + or − under a *, or on the right of a −. Addition
    and multiplication are associative, so no other place needs them.
    """
    pieces: list[str] = []
    todo: list[tuple[Tree | str, bool]] = [(tree, False)]
    while todo:
        node, guarded = todo.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif isinstance(node, int):
            pieces.append(str(node))
        else:
            operator, left, right = node
            parts: list[tuple[Tree | str, bool]] = [
                (left, operator == "*"),
                (operator, False),
                (right, operator in "*-"),
            ]
            if guarded and operator in "+-":
                parts = [("(", False), *parts, (")", False)]
            todo.extend(reversed(parts))
    return "".join(pieces)


def print_tree(expression: str) -> str:
    """Draw the tree of an expression, one node a line."""
    lines: list[str] = []
    todo: list[tuple[Tree, int]] = [(parse(expression), 0)]
    while todo:
        node, depth = todo.pop()
        if isinstance(node, int):
            lines.append("  " * depth + str(node))
        else:
            operator, left, right = node
            lines.append("  " * depth + operator)
            todo.extend([(right, depth + 1), (left, depth + 1)])
    return "\n".join(lines)


def _reduce(operands: list[Tree], operators: list[str], precedence: int) -> None:
    """Apply the waiting operators that bind at least as tightly, back to the last bracket."""
    while operators and operators[-1] != "(" and _PRECEDENCE[operators[-1]] >= precedence:
        right, left = operands.pop(), operands.pop()
        operands.append((operators.pop(), left, right))


def _postfix(tree: Tree) -> list[int | str]:
    """List the nodes so that operands stand before their operator."""
    nodes: list[int | str] = []
    todo: list[Tree] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, int):
            nodes.append(node)
        else:
            nodes.append(node[0])
            todo.extend(node[1:])
    return nodes[::-1]  # the loop lists each operator before its right operand, then its left one


def _unexpected(text: str, position: int, wants_operand: bool) -> UnskewError:
    actual = repr(text[position]) if position < len(text) else "the end"
    wanted = "a digit or '('" if wants_operand else "an operator, ')' or the end"
    shown = text if len(text) <= 40 else text[:37] + "..."
    return UnskewError(
        f"expression {shown!r} has {actual} at column {position + 1}; expected {wanted}"
    )
