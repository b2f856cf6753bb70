"""Resource bodies against the types of Azure: unknown, missing and read-only properties, enumerations, plain types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tree_sitter import Node

from tests.infra.bicep_tree import BicepFile, Declaration, Finding, entries, literal, text

TYPES_FILE = Path(__file__).with_name("resource_types.json")
_OURS = {"parent", "scope", "dependsOn"}
_PLAIN = {"string": "string", "boolean": "bool", "number": "int"}

Shape = Mapping[str, str]


@cache
def resource_types() -> Mapping[str, Mapping[str, Shape]]:
    """Return the shapes by `type@version`; the shape named `` is the resource's own.

    A property ends with `!` when it is required and with `-` when it is read-only.
    """
    loaded: dict[str, dict[str, Shape]] = json.loads(TYPES_FILE.read_text())["types"]
    return loaded


def check_types(file: BicepFile) -> Iterator[Finding]:
    """Return what is wrong with the bodies of the resources of a file."""
    for declaration in file.of("resource"):
        shapes = resource_types().get(declaration.reference)
        if shapes is None:
            yield file.finding(declaration.node, "unknown-resource-type", declaration.reference)
        elif not declaration.existing:
            yield from _TypeCheck(file, shapes).body(declaration)
        yield from _parent(file, declaration)


def _parent(file: BicepFile, declaration: Declaration) -> Iterator[Finding]:
    """A child is of the type of its parent, and its name has no slash."""
    kind = declaration.reference.partition("@")[0]
    body = entries(declaration.body)
    if kind.count("/") < 2:
        return
    if "parent" not in body:
        yield file.finding(declaration.node, "no-parent", declaration.name)
        return
    name = re.match(r"\w+", text(body["parent"]))
    parent = file.declared.get(name[0]) if name else None
    if parent is None or parent.reference.partition("@")[0] != kind.rpartition("/")[0]:
        yield file.finding(body["parent"], "wrong-parent", f"{declaration.name} of {text(body['parent'])}")


class _TypeCheck:
    def __init__(self, file: BicepFile, shapes: Mapping[str, Shape]) -> None:
        self._file = file
        self._shapes = shapes

    def body(self, declaration: Declaration) -> Iterator[Finding]:
        yield from self._object(declaration.body, self._shapes[""], declaration.name)

    def _object(self, node: Node, shape: Shape, where: str) -> Iterator[Finding]:
        known = {name.rstrip("!-"): (wanted, name[-1]) for name, wanted in shape.items()}
        given = entries(node)
        for name, value in given.items():
            if name in known:
                wanted, mark = known[name]
                if mark == "-":
                    yield self._file.finding(value, "read-only", f"{where}.{name}")
                yield from self._value(value, wanted, f"{where}.{name}")
            elif name not in _OURS and "*" not in shape:
                near = next((one for one in known if one.lower() == name.lower()), None)
                hint = f", is it {near}?" if near else ""
                yield self._file.finding(value, "unknown-property", f"{where}.{name}{hint}")
        for name, (_, mark) in known.items():
            if mark == "!" and name not in given:
                yield self._file.finding(node, "missing-property", f"{where}.{name}")

    def _value(self, node: Node, wanted: str, where: str) -> Iterator[Finding]:
        if node.type == "ternary_expression":
            for branch in node.named_children[1:]:
                yield from self._value(branch, wanted, where)
        elif node.type == "identifier" and text(node) in self._file.declared:
            yield from self._parameter(node, self._file.declared[text(node)], wanted, where)
        elif wanted in self._shapes and node.type == "object":
            yield from self._object(node, self._shapes[wanted], where)
        elif wanted.endswith("[]") and node.type == "array":
            for item in node.named_children:
                yield from self._value(item, wanted[:-2], f"{where}[]")
        elif node.type == "string" and "'" in wanted:
            value = literal(node)
            if value is not None and f"'{value}'" not in wanted.split("|"):
                yield self._file.finding(node, "unknown-value", f"{where} = {value}, of {wanted}")
        elif node.type in {*_PLAIN, "object", "array"}:
            yield from self._plain(node, wanted, where)

    def _parameter(self, node: Node, source: Declaration, wanted: str, where: str) -> Iterator[Finding]:
        if source.kind != "param":
            return
        kind = "string" if "'" in wanted else wanted
        if kind in {"string", "int", "bool"} and source.type != kind:
            yield self._file.finding(node, "wrong-type", f"{where} is {kind}, {source.name} is {source.type}")

    def _plain(self, node: Node, wanted: str, where: str) -> Iterator[Finding]:
        given = _PLAIN.get(node.type, node.type)
        fits = {
            "string": wanted == "string" or "'" in wanted,
            "bool": wanted == "bool",
            "int": wanted == "int",
            "object": wanted in self._shapes or wanted.startswith("{}"),
            "array": wanted.endswith("[]"),
        }[given]
        if not fits and wanted != "any":
            yield self._file.finding(node, "wrong-type", f"{where} is {wanted}, given {given}")
