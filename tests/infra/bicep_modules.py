"""Modules: their files, parameters and outputs; what is conditional; what depends on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tree_sitter import Node

from tests.infra.bicep_expressions import Expression, expression
from tests.infra.bicep_tree import BicepFile, Declaration, Finding, descendants, entries, names_read, text

_KINDS = {"string": "string", "number": "int", "boolean": "bool", "object": "object", "array": "array"}


def check_modules(file: BicepFile, files: Mapping[Path, BicepFile]) -> Iterator[Finding]:
    """Return what is wrong with the modules of a file."""
    for declaration in file.of("module"):
        target = files.get((file.path.parent / declaration.reference).resolve())
        if target is None:
            yield file.finding(declaration.node, "no-such-module", declaration.reference)
            continue
        yield from _parameters(file, declaration, target)
    yield from _members(file, files)
    yield from _needless_dependencies(file)


def _parameters(file: BicepFile, declaration: Declaration, target: BicepFile) -> Iterator[Finding]:
    params = entries(declaration.body).get("params")
    given = entries(params) if params is not None else {}
    wanted = {d.name: d for d in target.of("param")}
    for name, value in given.items():
        if name not in wanted:
            yield file.finding(value, "unknown-parameter", f"{declaration.name}.{name}")
            continue
        actual = _type_of(file, value)
        if actual and actual != wanted[name].type:
            said = f"{declaration.name}.{name} is {wanted[name].type}, given {actual}"
            yield file.finding(value, "wrong-type", said)
    for name, parameter in wanted.items():
        if parameter.value is None and name not in given:
            yield file.finding(declaration.node, "missing-parameter", f"{declaration.name}.{name}")
    for name, value in given.items():
        source = file.declared.get(text(value)) if value.type == "identifier" else None
        if source and "secure" in source.decorators and name in wanted and "secure" not in wanted[name].decorators:
            yield file.finding(value, "secret-not-secure", f"{declaration.name}.{name}")


def _type_of(file: BicepFile, value: Node) -> str | None:
    """Return the type of a literal or of a parameter that is passed on, None where it takes more to know."""
    if value.type == "identifier" and text(value) in file.declared:
        source = file.declared[text(value)]
        return source.type if source.kind == "param" else None
    return _KINDS.get(value.type)


def _members(file: BicepFile, files: Mapping[Path, BicepFile]) -> Iterator[Finding]:
    """Look at every `module.outputs.x`, and at what is read of something that may not be there."""
    for declaration in file.declarations:
        for node in descendants(declaration.node):
            if node.type == "member_expression" and (node.parent is None or node.parent.type != "member_expression"):
                for found in _walk(expression(node)):
                    yield from _member(file, files, node, found)


def _walk(found: object) -> Iterator[Expression]:
    if isinstance(found, Expression):
        yield found
        for operand in found.operands:
            yield from _walk(operand)


def _member(file: BicepFile, files: Mapping[Path, BicepFile], node: Node, found: Expression) -> Iterator[Finding]:
    match found:
        case Expression(
            "member" | "member?", (Expression("member" | "member?", (Expression("name", (name,)), "outputs")), out)
        ):
            module = file.declared.get(str(name))
            target = module and files.get((file.path.parent / module.reference).resolve())
            if target and out not in target.outputs:
                yield file.finding(node, "unknown-output", f"{name}.outputs.{out}")
        case Expression("member", (Expression("name", (name,)), property_name)):
            source = file.declared.get(str(name))
            if source and source.kind in {"module", "resource"}:
                if source.condition is not None and property_name not in {"id", "name"}:
                    yield file.finding(node, "may-be-absent", f"{name}.{property_name}: use .? and ??")
                if source.kind == "module" and property_name != "outputs":
                    yield file.finding(node, "unknown-property", f"{name}.{property_name}")


def _needless_dependencies(file: BicepFile) -> Iterator[Finding]:
    """A dependency that an expression says already is refused by the linter."""
    for declaration in [*file.of("module"), *file.of("resource")]:
        body = entries(declaration.body)
        listed = body.get("dependsOn")
        if listed is None:
            continue
        said = {text(child) for child in listed.named_children if child.type == "identifier"}
        used = set().union(*(symbols_read(file, value) for key, value in body.items() if key != "dependsOn"))
        for name in sorted(said & used):
            yield file.finding(listed, "needless-dependency", f"{declaration.name} on {name}")


def symbols_read(file: BicepFile, node: Node) -> set[str]:
    """Return the resources and modules that an expression reads, through variables."""
    found: set[str] = set()
    for part in names_read(node):
        source = file.declared.get(text(part))
        if source and source.kind == "var" and source.value is not None:
            found |= symbols_read(file, source.value)
        elif source and source.kind in {"module", "resource"}:
            found.add(source.name)
    return found
