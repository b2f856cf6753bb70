"""Every regular expression of the deployed package, and how each is asked.

Patterns are found twice: as objects in what a module holds, and as calls of `re` in its source, so
that one inside of a function is found as well. What is put into an f-string there is not known
before it runs, and a few letters stand for it.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import BuiltinMethodType, ModuleType

from drift.local.infra.package import deployed_files

ROOT = Path(__file__).parents[2]
FUNCTIONS = frozenset(
    {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
)
METHODS = FUNCTIONS - {"compile"}
UNKNOWN = "ab"
"""Stands for what a function puts into a pattern."""


@dataclass(slots=True)
class Asked:
    """One pattern: the places where it stands, and the methods by which it is asked."""

    pattern: re.Pattern[str]
    places: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)


def deployed_patterns() -> list[Asked]:
    """Return each pattern of the deployed modules once.

    Raises:
        AssertionError: a call of `re` whose pattern cannot be read here.
    """
    known: dict[tuple[str, int], Asked] = {}
    trees = dict(_modules())
    methods = _methods(trees)

    def note(pattern: re.Pattern[str], place: str, asked: Iterable[str]) -> None:
        one = known.setdefault((pattern.pattern, pattern.flags), Asked(pattern))
        one.places.add(place)
        one.methods.update(asked)

    for module, tree in trees.items():
        for name, value in vars(module).items():
            named = methods[_scope(module, name), name]
            for pattern, asked in _held(value, set(), named):
                note(pattern, f"{module.__name__}.{name}", asked)
        kept = _kept(tree)
        for call in _calls(tree):
            if call not in kept:
                place = f"{module.__name__}:{call.lineno}"
                asked = METHODS if _name(call) == "compile" else _asked(call, 1)
                note(_compiled(call, module, place), place, asked)
    return list(known.values())


def _modules() -> Iterator[tuple[ModuleType, ast.Module]]:
    for name in deployed_files(ROOT):
        if name.endswith(".py"):
            dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            tree = ast.parse((ROOT / name).read_text("utf-8"))
            yield importlib.import_module(dotted), tree


def _held(
    value: object, seen: set[int], methods: Iterable[str] = METHODS
) -> Iterator[tuple[re.Pattern[str], Iterable[str]]]:
    """Yield the patterns that a value is or holds, in containers, classes and their objects.

    A method of a pattern that is held alone is the only one by which that is asked.
    """
    if isinstance(value, BuiltinMethodType) and isinstance(value.__self__, re.Pattern):
        value, methods = value.__self__, {value.__name__}
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value, methods
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    inner: Iterable[object] = ()
    if isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = value
    elif isinstance(value, type) and value.__module__.startswith("drift"):
        inner = list(vars(value).values())
    elif is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, one.name, None) for one in fields(value)]
    for one in inner:
        yield from _held(one, seen)


def _methods(trees: Mapping[ModuleType, ast.Module]) -> Mapping[tuple[str, str], set[str]]:
    """Return by which methods each name is asked; all where it is handed on, or by nobody here."""
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in trees.items():
        asked = {
            id(node.value): {node.attr}
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in METHODS
        } | {
            id(node.func.value): _asked(node, 0)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in METHODS
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                name = node.id if isinstance(node, ast.Name) else node.attr
                found[_scope(module, name), name].update(asked.get(id(node), METHODS))
    return found


def _asked(call: ast.Call, at: int) -> set[str]:
    """Return the method of a call; none where its text, behind `at` others, is a short one."""
    text = call.args[at + (_name(call) in {"sub", "subn"}) :]
    return set() if text and _is_short(text[0]) else {_name(call)}


def _is_short(text: ast.expr) -> bool:
    """Tell whether a text is cut to so many characters where it stands."""
    if not (isinstance(text, ast.Subscript) and isinstance(text.slice, ast.Slice)):
        return False
    begin, end = map(ast.unparse, (text.slice.lower or _ZERO, text.slice.upper or _ZERO))
    number = r"(?:\d+|_?[A-Z_]+)"
    return bool(
        (begin == "0" and re.fullmatch(number, end) and end != "0")
        or (end == "0" and re.fullmatch(f"-{number}", begin))
        or re.fullmatch(rf"{re.escape(begin)} \+ {number}", end)
        or re.fullmatch(rf"(?:max\(0, )?{re.escape(end)} - {number}\)?", begin)
    )


_ZERO = ast.Constant(0)


def _scope(module: ModuleType, name: str) -> str:
    return module.__name__ if name.startswith("_") else ""


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == "re"
            and _name(node) in FUNCTIONS
        ):
            yield node


def _kept(tree: ast.Module) -> set[ast.AST]:
    """Return what a module runs once and keeps: the patterns that it makes are found as objects."""
    kept = [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)]
    return {node for one in kept for node in ast.walk(one)}


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _compiled(call: ast.Call, module: ModuleType, place: str) -> re.Pattern[str]:
    method = _name(call)
    at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
    flags = [*call.args[at : at + 1], *(one.value for one in call.keywords if one.arg == "flags")]
    try:
        text = _text(call.args[0], module)
    except NameError as error:
        said = f"{place}: write the pattern itself into the call, so that its time can be tried"
        raise AssertionError(said) from error
    if isinstance(text, re.Pattern):
        return text
    return re.compile(text, *(_value(one, module) for one in flags))  # type: ignore[arg-type]


def _text(node: ast.expr, module: ModuleType) -> str | re.Pattern[str]:
    if not isinstance(node, ast.JoinedStr):
        value = _value(node, module)
        assert isinstance(value, str | re.Pattern)
        return value
    return "".join(_part(part, module) for part in node.values)


def _part(node: ast.expr, module: ModuleType) -> str:
    if isinstance(node, ast.FormattedValue):
        try:
            return str(_value(node.value, module))
        except NameError:
            return UNKNOWN
    return str(_value(node, module))


def _value(node: ast.expr, module: ModuleType) -> object:
    return eval(compile(ast.Expression(node), "", "eval"), vars(module))  # noqa: S307 - our own source
