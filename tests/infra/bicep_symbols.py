"""Names: undefined, unused, declared twice, unknown to the language; and secrets that go where they may not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from tests.infra.bicep_functions import FUNCTIONS
from tests.infra.bicep_tree import BicepFile, Declaration, Finding, descendants, literal, text

DECORATORS = {
    "allowed",
    "batchSize",
    "description",
    "maxLength",
    "maxValue",
    "metadata",
    "minLength",
    "minValue",
    "secure",
}
BOUNDS = {"allowed", "minLength", "maxLength", "minValue", "maxValue"}
TYPES = {"string", "int", "bool", "object", "array"}
_SECRET_NAME = re.compile(r"password|secret|token|apikey|accountkey|connectionstring", re.IGNORECASE)
_SECRET_FUNCTIONS = {"listKeys", "listAccountSas", "listSecrets", "getSecret"}
_LANGUAGE = {*FUNCTIONS, "loadJsonContent", "readEnvironmentVariable"}


def check_symbols(file: BicepFile) -> Iterator[Finding]:
    """Return what is wrong with the names of a file."""
    yield from _twice(file)
    used: set[str] = set()
    for declaration in file.declarations:
        yield from _decorators(file, declaration)
        roots = declaration.node.named_children[1:]
        for arguments in declaration.decorators.values():
            roots = [*roots, *arguments]
        for root in roots:
            yield from _names(file, root, frozenset(), used)
    for declaration in [*file.of("param"), *file.of("var")]:
        if declaration.name not in used:
            yield file.finding(declaration.node, "unused", f"{declaration.kind} {declaration.name}")
    for declaration in file.of("resource"):
        if declaration.existing and declaration.name not in used:
            yield file.finding(declaration.node, "unused", f"existing {declaration.name}")
    yield from _secrets(file)


def _twice(file: BicepFile) -> Iterator[Finding]:
    seen: set[tuple[bool, str]] = set()
    for declaration in file.declarations:
        key = (declaration.kind == "output", declaration.name)
        if key in seen:
            yield file.finding(declaration.node, "declared-twice", declaration.name)
        seen.add(key)


def _decorators(file: BicepFile, declaration: Declaration) -> Iterator[Finding]:
    for name in set(declaration.decorators) - DECORATORS:
        yield file.finding(declaration.node, "unknown-decorator", f"@{name}")
    if declaration.kind in {"param", "output"}:
        if declaration.type.removesuffix("[]") not in TYPES:
            yield file.finding(declaration.node, "unknown-type", declaration.type)
        if "description" not in declaration.decorators:
            yield file.finding(declaration.node, "no-description", declaration.name)
    if declaration.kind == "param" and declaration.value is not None:
        yield from _default(file, declaration, declaration.value)


def _default(file: BicepFile, declaration: Declaration, value: Node) -> Iterator[Finding]:
    """A literal default has to be of the type, and within the bounds."""
    kinds = {"string": "string", "number": "int", "boolean": "bool", "object": "object", "array": "array"}
    found = kinds.get(value.type)
    if found and found != declaration.type.split("[")[0] and not (found == "array" and declaration.type.endswith("[]")):
        yield file.finding(value, "wrong-type", f"{declaration.name} is {declaration.type}, its default {found}")
        return
    allowed = declaration.decorators.get("allowed")
    if allowed and found in {"string", "int"}:
        said = {text(child) for child in allowed[0].named_children if child.type != "comment"}
        if text(value) not in said:
            yield file.finding(value, "default-not-allowed", f"{declaration.name} = {text(value)}")
    if found == "int":
        for bound, fits in (("minValue", int.__ge__), ("maxValue", int.__le__)):
            limit = declaration.decorators.get(bound)
            if limit and not fits(int(text(value)), int(text(limit[0]))):
                yield file.finding(value, "default-out-of-bounds", f"{declaration.name} = {text(value)}")


def _names(file: BicepFile, node: Node, local: frozenset[str], used: set[str]) -> Iterator[Finding]:
    """Follow the identifiers of an expression; `used` collects those of this file."""
    children = [child for child in node.named_children if child.type != "comment"]
    if node.type in {"type", "property_identifier"}:
        return
    if node.type == "identifier":
        used.add(text(node))
        if text(node) not in file.declared and text(node) not in local:
            yield file.finding(node, "undefined", text(node))
        return
    if node.type == "for_statement":
        local |= {text(part) for part in descendants(children[0]) if not part.named_children}
        children = children[1:]
    elif node.type == "lambda_expression":
        local |= {text(children[0])}
        children = children[1:]
    elif node.type == "object_property":
        children = [*([children[0]] if children[0].type == "string" else []), *children[1:]]
    elif node.type == "call_expression" and children[0].type == "identifier":
        if text(children[0]) not in _LANGUAGE | _SECRET_FUNCTIONS:
            yield file.finding(node, "unknown-function", text(children[0]))
        children = children[1:]
    for child in children:
        yield from _names(file, child, local, used)


def _secrets(file: BicepFile) -> Iterator[Finding]:
    """Follow secure parameters, through variables, into outputs."""
    secret = {d.name for d in file.of("param") if "secure" in d.decorators}
    for declaration in file.of("param"):
        plain = declaration.type == "string" and "secure" not in declaration.decorators
        if plain and _SECRET_NAME.search(declaration.name):
            yield file.finding(declaration.node, "secret-not-secure", declaration.name)
        if not plain and "secure" in declaration.decorators and declaration.value is not None:
            yield file.finding(declaration.node, "secret-with-default", declaration.name)
    tainted = set(secret)
    for declaration in file.of("var"):
        if tainted & _identifiers(declaration):
            tainted.add(declaration.name)
    for declaration in file.of("output"):
        names = _identifiers(declaration)
        if tainted & names or _SECRET_FUNCTIONS & names or "password" in declaration.name.lower():
            yield file.finding(declaration.node, "secret-in-output", declaration.name)
    for kind in ("resource", "module"):
        for declaration in file.of(kind):
            yield from _secret_names(file, declaration, tainted)


def _secret_names(file: BicepFile, declaration: Declaration, tainted: set[str]) -> Iterator[Finding]:
    for node in descendants(declaration.body):
        if node.type == "object_property":
            key = node.named_children[0]
            names = {text(part) for part in descendants(node) if part.type == "identifier" and part != key}
            if (literal(key) or text(key)) in {"name", "tags", "appSettings"} and tainted & names:
                yield file.finding(node, "secret-in-plain-sight", text(key))


def _identifiers(declaration: Declaration) -> set[str]:
    root = declaration.value
    parts = descendants(root) if root is not None else iter(())
    return {text(part) for part in parts if part.type in {"identifier", "property_identifier"}}
