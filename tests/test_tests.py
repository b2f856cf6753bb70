"""Every test asserts something, and none returns before it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OF_OTHERS = {"raises", "warns", "fail", "call_and_validate", "wait_for_function"}

PLANTED = """
def checked(): assert fine
def read(): return 1
def test_good(): pytest.raises(E, read)
def test_early():
    if fake: return
    checked()
def test_nothing(): read()
"""


def said(node: ast.AST, *, whole: bool) -> Iterator[str]:
    """Yield "assert", "return" and names that are called, in order; `whole` of inner functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assert | ast.Return):
            yield type(child).__name__.lower()
        elif isinstance(child, ast.Call):
            yield getattr(child.func, "attr", getattr(child.func, "id", ""))
        if whole or not isinstance(child, (*FUNCTIONS, ast.Lambda)):
            yield from said(child, whole=whole)


def faults(*texts: str) -> list[str]:
    """Return the tests that assert nothing, or return before they do, of the texts of files."""
    nodes = (node for text in texts for node in ast.walk(ast.parse(text)))
    functions = [node for node in nodes if isinstance(node, FUNCTIONS)]
    does = [(one.name, set(said(one, whole=True))) for one in functions]
    names, asserting = {name for name, _ in does}, {"assert", *OF_OTHERS}
    # a name asserts where every function of that name does
    while found := names - asserting - {name for name, done in does if not done & asserting}:
        asserting |= found

    told = []
    for test, (name, done) in zip(functions, does, strict=True):
        if name.startswith("test_"):
            if not done & asserting:
                told.append(f"{name} asserts nothing")
            first = (one for one in said(test, whole=False) if one in {*asserting, "return"})
            if next(first, "") == "return":
                told.append(f"{name} returns first")
    return told


def test_no_test_passes_whatever_happens() -> None:
    files = sorted(Path(__file__).parent.rglob("*.py"))
    assert not faults(*(path.read_text(encoding="utf-8") for path in files))
    assert faults(PLANTED) == ["test_early returns first", "test_nothing asserts nothing"]
