"""Pure: the definitions and the identifiers of one file, as its grammar finds them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drift.local.ingest.code.languages import LANGUAGES, language
from drift.local.ingest.parts import FoundDefinition

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_PARSE_S = 5.0
"""What is not understood by then is no program: a grammar may take very long for what is none."""
MAX_SIGNATURE, MAX_DOC, MAX_LINE = 300, 200, 1_000
_OF_CLASSES = {"class", "interface"}
_FUNCTIONS = {"arrow_function", "function_expression", "generator_function", "class", "lambda"}
_GROUPS = {"pattern_list", "variable_declaration"}
MOST_OPEN = 1000
"""Angles that may be open at once."""
_BETWEEN = re.compile(rb"[>;{}()]")
_NAME = re.compile(r"\w+")
_COMMENT = re.compile(r"\s*(?:#|//|/?\*|@|\[)")
_MARKS = re.compile(r"^\s*(?:/\*+|\*+/?|//+|#+|<[^>]*>)+\s*|\s*(?:\*/|<[^>]*>)\s*$")
_QUOTES = re.compile(r"^[rRuUbBfF]*(?:\"\"\"|'''|\"|')|(?:\"\"\"|'''|\"|')$")


@dataclass(slots=True)
class Parsed:
    """The definitions of a file in their order, outer ones first, and its identifiers by row."""

    found: list[FoundDefinition] = field(default_factory=list)
    names: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Match:
    kind: str
    node: Node
    name: str
    owner: str = ""


def parse(content: bytes, suffix: str) -> Parsed | None:
    """Return what a file defines and names, not in comments; None where that takes too long."""
    from tree_sitter import Parser  # noqa: PLC0415 - an extra

    if any(part.count(b"<") > MOST_OPEN for part in _BETWEEN.split(content)):
        return None  # grammars with generics take the square of these, and look at no clock
    ends = time.monotonic() + MAX_PARSE_S
    try:
        tree = Parser(language(suffix)).parse(
            lambda start, _: content[start : start + 65536],
            progress_callback=lambda *_: time.monotonic() > ends,
        )
    except ValueError:
        return None

    kinds = LANGUAGES[suffix].kinds
    parsed = Parsed()
    matches: list[_Match] = []
    wholes: dict[int, list[int]] = {}
    for node in _nodes(tree):
        kind = kinds.get(node.type)
        if node.type.endswith("identifier"):
            parsed.names.append((node.start_point.row, _text(node, content)))
        elif kind == "whole":
            wholes.setdefault(node.end_byte, []).append(node.start_point.row)
        elif kind:
            matches += _matches(node, kind, content)

    parsed.found += _placed(matches, content, wholes)
    return parsed


def _nodes(tree: Tree) -> Iterator[Node]:
    """Yield the nodes that have names, each before those in it."""
    cursor = tree.walk()
    while True:
        if (node := cursor.node) is not None and node.is_named:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _matches(node: Node, kind: str, content: bytes) -> Iterator[_Match]:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    is_function = value is not None and value.type in _FUNCTIONS
    if kind == "field" and not any(
        child.type.startswith("modifier")
        and {"const", "readonly", "final"} & set(_text(child, content).split())
        for child in node.named_children
    ):
        return
    if kind == "assigned" and not is_function:
        return
    if kind in {"assigned", "constant"} and is_function:
        kind = "function"
    if kind == "type" and (told := node.child_by_field_name("type")):
        kind = "interface" if told.type == "interface_type" else kind

    receiver = node.child_by_field_name("receiver")
    owner = _NAME.findall(_text(receiver, content).split("[")[0])[-1:] if receiver else []
    for name in _named(node):
        if name.type.endswith("identifier"):
            yield _Match(kind, node, _text(name, content), "".join(owner))


def _named(node: Node) -> Iterator[Node]:
    for place in ("name", "left", "property", "declarator"):
        if at := node.children_by_field_name(place):
            break
    else:
        at = [child for child in node.named_children if child.type in _GROUPS]

    for one in at:
        if one.type == "member_expression":
            yield from one.children_by_field_name("property")
        elif one.type in {"variable_declarator", *_GROUPS}:
            inner = one.children_by_field_name("name") or one.named_children
            yield from (
                i for child in inner for i in child.children_by_field_name("name") or [child]
            )
        else:
            yield from one.named_children[:1] if one.type == "type" else [one]


def _placed(
    ordered: list[_Match], content: bytes, wholes: dict[int, list[int]]
) -> Iterator[FoundDefinition]:
    lines = content.split(b"\n")
    outer: list[tuple[_Match, tuple[str, ...]]] = []
    constants: set[tuple[str, ...]] = set()  # one that is set again is the same
    free = 0  # the first row that no definition before this one ends in
    for one in ordered:
        node = one.node
        if outer and outer[-1][0].node == node:
            outer.pop()  # another name of the same definition
        while outer and outer[-1][0].node.end_byte <= node.start_byte:
            free = outer.pop()[0].node.end_point.row + 1
        around = next((o.kind for o, _ in reversed(outer) if o.kind != "namespace"), "")
        is_inner = one.kind == "constant" and around
        above = outer[-1][1] if outer else ()
        path = above if one.kind == "namespace" else (*above, *filter(None, (one.owner,)), one.name)
        if is_inner or (one.kind == "constant" and path in constants):
            continue
        constants.add(path)

        row = node.start_point.row
        rows = sorted(wholes.get(node.end_byte, ()))
        begin = row
        if rows and rows[0] <= row:  # the outer one of two that end together comes first
            begin = rows[0]
            wholes[node.end_byte] = rows[1:]
        floor = max(free, outer[-1][0].node.start_point.row + 1 if outer else 0)
        first = _with_comments(lines, begin, floor)
        kind = "method" if one.kind == "function" and around in _OF_CLASSES else one.kind
        kind = {"field": "constant", "namespace": ""}.get(kind, kind)
        yield FoundDefinition(
            kind,
            path,
            first,
            row,
            node.end_point.row,
            _signature(node, content),
            _doc(node, content, lines[first:begin]),
        )
        outer.append((one, path))


def _with_comments(lines: list[bytes], row: int, floor: int) -> int:
    """Return the row in which the comments directly above a row begin."""
    while row > floor and _COMMENT.match(lines[row - 1][:200].decode(errors="replace")):
        row -= 1
    return row


def _signature(node: Node, content: bytes) -> str:
    body = node.child_by_field_name("body")
    end = min(body.start_byte if body else node.end_byte, node.start_byte + 4 * MAX_SIGNATURE)
    told = content[node.start_byte : end].decode(errors="ignore")
    return " ".join(told.split()).rstrip(" {:=>")[:MAX_SIGNATURE]


def _doc(node: Node, content: bytes, comments: list[bytes]) -> str:
    """Return the first line of what the author says of a definition."""
    body = node.child_by_field_name("body")
    first = next(iter(body.named_children[:1]), None) if body else None
    if first and first.type == "expression_statement":
        first = next(iter(first.named_children), None)
    if first and first.type == "string":
        lines = _QUOTES.sub("", _text(first, content)).strip().splitlines()
    else:
        lines = [_MARKS.sub("", line[:MAX_LINE].decode(errors="replace")) for line in comments]
    said = (line.strip() for line in lines if any(map(str.isalpha, line)))
    return next((line for line in said if not line.startswith(("@", "["))), "")[:MAX_DOC]


def _text(node: Node, content: bytes) -> str:
    return content[node.start_byte : node.end_byte].decode(errors="replace")
