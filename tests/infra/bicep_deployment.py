"""What a template would deploy: its expressions are worked out as the platform would, without Azure.

A deployment has the resources of all files, with their bodies as plain values. What only the platform knows, such as the
endpoint of an account, is an `Answer`: a text that names the resource and the property.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tree_sitter import Node

from tests.infra.bicep_expressions import Expression, expression
from tests.infra.bicep_functions import FUNCTIONS, SUBSCRIPTION
from tests.infra.bicep_tree import BicepFile, Declaration, entries, literal, text


class RefusedError(Exception):
    """A parameter does not keep to its decorators."""


class Answer(str):
    """What the platform will say: `<Microsoft.X/y NAME.properties.z>`."""

    __slots__ = ()


@dataclass(frozen=True)
class Deferred:
    """A resource or module as expressions see it: absent when its condition does not hold."""

    value: Any
    absent: bool = False


@dataclass
class Resource:
    """A resource that would be deployed: `body` has its properties, `dependsOn` and `parent` aside."""

    type: str
    version: str
    existing: bool
    declaration: Declaration
    scope: Scope
    local: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""

    @cached_property
    def parent(self) -> Resource | None:
        node = entries(self.declaration.body).get("parent")
        found = self.scope.value(node, self.local) if node else None
        return found if isinstance(found, Resource) else None

    @cached_property
    def on(self) -> Resource | None:
        """The resource that an extension resource is of."""
        node = entries(self.declaration.body).get("scope")
        found = self.scope.value(node, self.local) if node else None
        return found if isinstance(found, Resource) else None

    @cached_property
    def name(self) -> str:
        return str(self.scope.value(entries(self.declaration.body)["name"], self.local))

    @property
    def id(self) -> str:
        if self.type == "Microsoft.Resources/resourceGroups":
            return f"{self.group}/resourceGroups/{self.name}"
        before = (
            f"{self.parent.id}/{self.type.rsplit('/', 1)[-1]}" if self.parent else f"{self.group}/providers/{self.type}"
        )
        return f"{before}/{self.name}"

    @cached_property
    def body(self) -> dict[str, Any]:
        skipped = {"parent", "scope", "dependsOn"}
        pairs = entries(self.declaration.body).items()
        return {key: self.scope.value(node, self.local) for key, node in pairs if key not in skipped}

    @property
    def properties(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body.get("properties", {})
        return found


class Scope:
    """One file with its parameters: `resources` and `modules` by symbol, `output` by name."""

    def __init__(self, file: BicepFile, given: Mapping[str, Any], group: str = "") -> None:
        self.file = file
        self.group = group
        self._known: dict[str, Any] = {}
        self.parameters = {d.name: self._parameter(d, given) for d in file.of("param")}
        unknown = set(given) - set(self.parameters)
        if unknown:
            raise RefusedError(f"{file.path.name} has no parameter {sorted(unknown)}")

    def _parameter(self, declaration: Declaration, given: Mapping[str, Any]) -> Any:
        name = declaration.name
        if name in given:
            value = given[name]
        elif declaration.value is not None:
            value = self.value(declaration.value)
        else:
            raise RefusedError(f"{name} is not given")
        self._known[name] = value
        _refuse(declaration, value, self)
        return value

    def output(self, name: str) -> Any:
        declaration = self.file.outputs[name]
        assert declaration.value is not None
        return self.value(declaration.value)

    def resources(self) -> Iterator[Resource]:
        """Return the resources of this file and of its modules."""
        for declaration in self.file.of("resource"):
            found = self.symbol(declaration.name)
            yield from found.value if isinstance(found.value, list) else [] if found.absent else [found.value]
        for declaration in self.file.of("module"):
            found = self.symbol(declaration.name)
            if not found.absent:
                yield from found.value.resources()

    # ------------------------------------------------------------------------------------------- symbols
    def symbol(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._work_out(self.file.declared[name])
        return self._known[name]

    def _work_out(self, declaration: Declaration) -> Any:
        if declaration.kind == "var":
            assert declaration.value is not None
            return self.value(declaration.value)
        absent = declaration.condition is not None and not self.value(declaration.condition)
        if declaration.kind == "module":
            return Deferred(None if absent else self._module(declaration), absent)
        loop = declaration.loop
        if loop is None:
            return Deferred(self._resource(declaration, {}), absent)
        return Deferred([self._resource(declaration, local) for local in self._turns(loop)])

    def _resource(self, declaration: Declaration, local: Mapping[str, Any]) -> Resource:
        kind, _, version = declaration.reference.partition("@")
        return Resource(kind, version, declaration.existing, declaration, self, local, self.group)

    def _module(self, declaration: Declaration) -> Scope:
        body = entries(declaration.body)
        given = self.value(body["params"])
        where = self.value(body["scope"]) if "scope" in body else {"id": self.group}
        group = where.id if isinstance(where, Resource) else where["id"]
        return Scope(_file(self.file.path.parent / declaration.reference), given, group)

    def _turns(self, loop: Node) -> Iterator[Mapping[str, Any]]:
        names = [text(part) for child in loop.named_children[:1] for part in (child.named_children or [child])]
        for index, item in enumerate(self.value(loop.named_children[1])):
            yield dict(zip(names, (item, index), strict=False))

    # ------------------------------------------------------------------------------------------- values
    def value(self, node: Node, local: Mapping[str, Any] | None = None) -> Any:
        """Return the value of an expression; `local` are the names of loops and lambdas."""
        return _plain(self._of(expression(node), local or {}))

    def _of(self, found: Expression, local: Mapping[str, Any]) -> Any:  # noqa: PLR0911 - one line an operation
        match found.operation, found.operands:
            case "literal", (node,):
                return self._literal(node, local)
            case "name", (name,):
                return local[name] if name in local else self.symbol(str(name))
            case "lambda", (name, inner):
                return lambda value: _plain(self._of(inner, {**local, name: value}))
            case "call", (name, *arguments):
                return self._call(str(name), arguments, local)
            case "if", (condition, then, otherwise):
                return self._of(then if _plain(self._of(condition, local)) else otherwise, local)
            case "??", (first, second):
                value = _plain(self._of(first, local))
                return self._of(second, local) if value is None else value
            case ("member" | "member?") as operation, (of, name):
                return _member(self._of(of, local), str(name), safe=operation == "member?")
            case "item", (of, index):
                return _plain(self._of(of, local))[_plain(self._of(index, local))]
            case operation, operands:
                return _operate(operation, [_plain(self._of(one, local)) for one in operands])

    def _call(self, name: str, arguments: list[Any], local: Mapping[str, Any]) -> Any:
        values = [_plain(self._of(one, local)) for one in arguments]
        if name == "loadJsonContent":
            return json.loads((self.file.path.parent / values[0]).read_text())
        return FUNCTIONS[name](*values)

    def _literal(self, node: Any, local: Mapping[str, Any]) -> Any:
        if node.type == "object":
            return {
                str(self.value(key, local)) if key.type == "string" else text(key): self.value(value, local)
                for key, value in (
                    [child for child in pair.named_children if child.type != "comment"]
                    for pair in node.named_children
                    if pair.type == "object_property"
                )
            }
        if node.type == "array":
            return [self.value(child, local) for child in node.named_children if child.type != "comment"]
        if node.type == "string":
            return self._text(node, local)
        return json.loads(text(node))  # true, false, null, numbers

    def _text(self, node: Node, local: Mapping[str, Any]) -> str:
        plain = literal(node)
        if plain is not None:
            return plain
        parts = (part for part in node.children if part.type in {"string_content", "interpolation"})
        return "".join(
            text(part) if part.type == "string_content" else str(self.value(part.named_children[0], local))
            for part in parts
        )


def opened(main: Path, given: Mapping[str, Any]) -> Scope:
    """Return a template with its parameters checked and nothing else worked out yet."""
    return Scope(_file(main), given, f"/subscriptions/{SUBSCRIPTION}")


def deploy(main: Path, given: Mapping[str, Any]) -> Scope:
    """Work out a template with these parameters, and every check of its modules.

    Raises:
        RefusedError: a parameter is missing, or not as its decorators say.
    """
    scope = opened(main, given)
    for declaration in scope.file.of("module"):
        scope.symbol(declaration.name)
    return scope


_files: dict[Path, BicepFile] = {}


def _file(path: Path) -> BicepFile:
    if path not in _files:
        _files[path] = BicepFile(path)
    return _files[path]


def _plain(value: Any) -> Any:
    """Return the resource or module that a symbol stands for; None when it is not deployed."""
    return value.value if isinstance(value, Deferred) else value


def _member(of: Any, name: str, *, safe: bool) -> Any:
    if isinstance(of, Deferred):
        if of.absent and name != "id":
            return Deferred(None, absent=True) if safe else _fail(f".{name} of something that is not deployed")
        of = of.value
    if of is None and safe:
        return None
    if isinstance(of, Scope):
        return _Outputs(of)
    return _of_what_is_there(of, name, safe=safe)


def _of_what_is_there(of: Any, name: str, *, safe: bool) -> Any:
    match of:
        case _Outputs(scope):
            return scope.output(name)
        case Resource():
            return getattr(of, name) if name in {"id", "name"} else Answer(f"<{of.type} {of.name}.{name}>")
        case Answer():
            return Answer(f"{of[:-1]}.{name}>")
        case _:
            return of.get(name) if safe else of[name]


@dataclass(frozen=True)
class _Outputs:
    scope: Scope


def _fail(what: str) -> Any:
    raise LookupError(what)


def _operate(operation: str, operands: list[Any]) -> Any:
    match operation, operands:
        case "not", [value]:
            return not value
        case "minus", [value]:
            return -value
        case "==", [left, right]:
            return left == right
        case "!=", [left, right]:
            return left != right
        case "&&", [left, right]:
            return left and right
        case "||", [left, right]:
            return left or right
    raise NotImplementedError(operation)


_LIMITS = {
    "minLength": lambda value, limit: len(value) >= limit,
    "maxLength": lambda value, limit: len(value) <= limit,
    "minValue": lambda value, limit: value >= limit,
    "maxValue": lambda value, limit: value <= limit,
    "allowed": lambda value, limit: value in limit,
}


def _refuse(declaration: Declaration, value: Any, scope: Scope) -> None:
    for name, arguments in declaration.decorators.items():
        # what the platform will answer is as long as it will be
        if name in _LIMITS and not isinstance(value, Answer) and not _LIMITS[name](value, scope.value(arguments[0])):
            raise RefusedError(f"{declaration.name} is {value!r}, against @{name}({text(arguments[0])})")
