"""A Bicep file as its declarations, from the concrete syntax tree of tree-sitter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import tree_sitter
import tree_sitter_bicep
from tree_sitter import Node

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bicep.language()))

KINDS = {
    "parameter_declaration": "param",
    "variable_declaration": "var",
    "resource_declaration": "resource",
    "module_declaration": "module",
    "output_declaration": "output",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where."""

    file: str
    line: int
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.what}"


@cache
def text(node: Node) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode()


@cache
def literal(node: Node) -> str | None:
    """Return the text of a string without interpolation, None for anything else."""
    if node.type != "string" or any(part.type == "interpolation" for part in node.children):
        return None
    return "".join(text(part) for part in node.children if part.type == "string_content")


@cache
def entries(obj: Node) -> dict[str, Node]:
    """Return the properties of an object node; a key that is computed is left out."""
    found: dict[str, Node] = {}
    for pair in obj.named_children:
        if pair.type == "object_property":
            key, *value = (child for child in pair.named_children if child.type != "comment")
            name = literal(key) if key.type == "string" else text(key)
            if name is not None and value:
                found[name] = value[-1]
    return found


def descendants(node: Node) -> Iterator[Node]:
    """Return a node and all below it."""
    yield node
    for child in node.children:
        yield from descendants(child)


def names_read(node: Node) -> Iterator[Node]:
    """Return the identifiers that an expression reads: keys of objects and names of properties are none."""
    if node.type == "identifier":
        yield node
    children = node.named_children
    if node.type == "object_property" and children[0].type == "identifier":
        children = children[1:]
    for child in children:
        yield from names_read(child)


@dataclass(eq=False)
class Declaration:
    """A param, var, resource, module or output: its decorators with their arguments, and the parts after its name."""

    kind: str
    name: str
    node: Node
    decorators: dict[str, list[Node]] = field(default_factory=dict)

    @property
    def line(self) -> int:
        return self.node.start_point.row + 1

    @cached_property
    def _rest(self) -> list[Node]:
        return [child for child in self.node.named_children if child.type != "comment"][1:]

    @property
    def type(self) -> str:
        """The declared type of a param or output."""
        return next((text(part) for part in self._rest if part.type == "type"), "")

    @property
    def value(self) -> Node | None:
        """The value of a var or output, the default of a param."""
        last = self._rest[-1] if self._rest else None
        return None if last is None or last.type == "type" else last

    @property
    def reference(self) -> str:
        """The type@version of a resource, the path of a module."""
        return literal(self._rest[0]) or ""

    @property
    def existing(self) -> bool:
        return any(child.type == "existing" for child in self.node.children)

    @cached_property
    def body(self) -> Node:
        """The object of a resource or module, inside its condition or loop."""
        return next(node for node in descendants(self._rest[-1]) if node.type == "object")

    @property
    def condition(self) -> Node | None:
        last = self._rest[-1]
        return last.named_children[0] if last.type == "if_statement" else None

    @property
    def loop(self) -> Node | None:
        last = self._rest[-1]
        return last if last.type == "for_statement" else None


class BicepFile:
    """One file: `declared` by name (outputs have names of their own: `outputs`)."""

    def __init__(self, path: Path, source: str | None = None) -> None:
        self.path = path
        self.source = path.read_text() if source is None else source
        self.root = _PARSER.parse(self.source.encode()).root_node
        self.declarations = list(self._read())
        self.declared = {d.name: d for d in self.declarations if d.kind != "output"}
        self.outputs = {d.name: d for d in self.declarations if d.kind == "output"}

    def of(self, kind: str) -> list[Declaration]:
        """Return the declarations of a kind."""
        return [declaration for declaration in self.declarations if declaration.kind == kind]

    def finding(self, node: Node, rule: str, what: str) -> Finding:
        return Finding(self.path.name, node.start_point.row + 1, rule, what)

    def syntax_errors(self) -> list[Finding]:
        """Return where the grammar does not fit."""
        bad = (node for node in descendants(self.root) if node.is_error or node.is_missing)
        return [self.finding(node, "syntax", text(node)[:60] or f"{node.type} is missing") for node in bad]

    def _read(self) -> Iterator[Declaration]:
        decorators: dict[str, list[Node]] = {}
        for node in self.root.named_children:
            if node.type == "decorators":
                decorators = dict(_decorator(child) for child in node.named_children if child.type == "decorator")
            elif node.type in KINDS:
                yield Declaration(KINDS[node.type], text(node.named_children[0]), node, decorators)
            if node.type not in {"decorators", "comment"}:
                decorators = {}


def _decorator(node: Node) -> tuple[str, list[Node]]:
    call = node.named_children[0]
    arguments = next((part.named_children for part in call.named_children if part.type == "arguments"), [])
    return text(call.named_children[0]), list(arguments)
