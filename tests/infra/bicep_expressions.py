"""Bicep expressions with the precedence of the language: the grammar of the syntax tree binds a few operators otherwise.

The tree is flattened to its leaves, and these are put together again by binding power.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tree_sitter import Node

from tests.infra.bicep_tree import text

_OPEN = {
    "binary_expression",
    "ternary_expression",
    "member_expression",
    "subscript_expression",
    "unary_expression",
    "call_expression",
    "lambda_expression",
}
_POWER = {"??": 2, "||": 3, "&&": 4, "==": 5, "!=": 5, "=~": 5, "!~": 5, "<": 6, "<=": 6, ">": 6, ">=": 6}
_POWER |= {"+": 7, "-": 7, "*": 8, "/": 8, "%": 8}
_TERNARY = 1


@dataclass(frozen=True)
class Expression:
    """An operation and its operands: expressions, nodes (literals, objects, arrays) or names."""

    operation: str
    operands: tuple[object, ...]


@cache
def expression(node: Node) -> Expression:
    """Return the expression that a node of the tree stands for."""
    reader = _Reader(_leaves(node))
    found = reader.read(0)
    if reader.left():
        raise ValueError(f"not an expression: {text(node)}")
    return found


def _leaves(node: Node) -> list[Node]:
    if node.type not in _OPEN:
        return [] if node.type == "comment" else [node]
    return [leaf for child in node.children for leaf in _leaves(child)]


class _Reader:
    def __init__(self, leaves: list[Node]) -> None:
        self._leaves = leaves
        self._at = 0

    def left(self) -> bool:
        return self._at < len(self._leaves)

    def _peek(self) -> str:
        return text(self._leaves[self._at]) if self.left() else ""

    def _take(self) -> Node:
        self._at += 1
        return self._leaves[self._at - 1]

    def read(self, power: int) -> Expression:
        found = self._suffixed(self._operand())
        while self.left():
            operator = self._peek()
            if operator == "?" and power < _TERNARY:
                self._take()
                then = self.read(0)
                self._take()  # the colon
                found = Expression("if", (found, then, self.read(0)))
            elif _POWER.get(operator, 0) > power:
                self._take()
                found = Expression(operator, (found, self.read(_POWER[operator])))
            else:
                break
        return found

    def _operand(self) -> Expression:
        node = self._take()
        if text(node) in {"!", "-"}:
            return Expression("not" if text(node) == "!" else "minus", (self._suffixed(self._operand()),))
        if node.type == "parenthesized_expression":
            return expression(node.named_children[0])
        if node.type in {"identifier", "property_identifier"}:
            if self._peek() == "=>":
                self._take()
                return Expression("lambda", (text(node), self.read(0)))
            if self.left() and self._leaves[self._at].type == "arguments":
                return Expression("call", (text(node), *_arguments(self._take())))
            return Expression("name", (text(node),))
        return Expression("literal", (node,))

    def _suffixed(self, found: Expression) -> Expression:
        while self._peek() in {".", ".?", "["}:
            operator = text(self._take())
            if operator == "[":
                found = Expression("item", (found, self.read(0)))
                self._take()  # the bracket
                continue
            safe = operator == ".?"
            if not safe and self._peek() == "?":
                safe = bool(self._take())
            name = text(self._take())
            if self.left() and self._leaves[self._at].type == "arguments":
                found = Expression("call", (name, *_arguments(self._take())))
            else:
                found = Expression("member?" if safe else "member", (found, name))
        return found


def _arguments(node: Node) -> list[Expression]:
    return [expression(child) for child in node.named_children if child.type != "comment"]
