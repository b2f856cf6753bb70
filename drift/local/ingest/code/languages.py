"""The languages of source code: the grammar of each, and what counts as a definition in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language

NEEDS = "source code is read after `pip install 'drift-neo4j[code]'`"
"""What is said where a grammar is not installed."""

_KINDS_OF_SCRIPTS = {
    "class_declaration": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "variable_declarator": "constant",
    "assignment_expression": "assigned",
    "field_definition": "assigned",
    "export_statement": "whole",
}
_KINDS_OF_TYPED_SCRIPTS = _KINDS_OF_SCRIPTS | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "type",
    "internal_module": "namespace",
    "function_signature": "function",
    "abstract_method_signature": "method",
    "public_field_definition": "assigned",
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where a grammar is, and the kinds of its nodes that define something.

    A `namespace` makes part of no name, a `constant` counts outside of other definitions, a `field`
    is one of a class that does not change, what is `assigned` counts where it is a function, and a
    `whole` is a definition with what stands before it.
    """

    module: str
    kinds: Mapping[str, str]
    factory: str = "language"


_PYTHON = Grammar(
    "tree_sitter_python",
    {
        "class_definition": "class",
        "function_definition": "function",
        "type_alias_statement": "type",
        "assignment": "constant",
        "decorated_definition": "whole",
    },
)
_JAVA = Grammar(
    "tree_sitter_java",
    {
        "class_declaration": "class",
        "record_declaration": "class",
        "interface_declaration": "interface",
        "annotation_type_declaration": "interface",
        "enum_declaration": "type",
        "method_declaration": "method",
        "constructor_declaration": "method",
        "field_declaration": "field",
    },
)
_GO = Grammar(
    "tree_sitter_go",
    {
        "function_declaration": "function",
        "method_declaration": "method",
        "type_spec": "type",
        "type_alias": "type",
        "const_spec": "constant",
        "var_spec": "constant",
        "type_declaration": "whole",
    },
)
_C_SHARP = Grammar(
    "tree_sitter_c_sharp",
    {
        "namespace_declaration": "namespace",
        "class_declaration": "class",
        "struct_declaration": "class",
        "record_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "type",
        "delegate_declaration": "type",
        "method_declaration": "method",
        "constructor_declaration": "method",
        "property_declaration": "method",
        "field_declaration": "field",
    },
)
_SCRIPT = Grammar("tree_sitter_javascript", _KINDS_OF_SCRIPTS)
_TYPED = "tree_sitter_typescript"
LANGUAGES: Mapping[str, Grammar] = {
    ".py": _PYTHON,
    ".js": _SCRIPT,
    ".jsx": _SCRIPT,
    ".mjs": _SCRIPT,
    ".ts": Grammar(_TYPED, _KINDS_OF_TYPED_SCRIPTS, "language_typescript"),
    ".tsx": Grammar(_TYPED, _KINDS_OF_TYPED_SCRIPTS, "language_tsx"),
    ".java": _JAVA,
    ".go": _GO,
    ".cs": _C_SHARP,
}
"""Grammars by the endings of files."""


@cache
def is_installed(suffix: str) -> bool:
    """Tell whether files of this language can be read."""
    return all(find_spec(one) for one in ("tree_sitter", LANGUAGES[suffix].module))


@cache
def language(suffix: str) -> Language:
    """Return the grammar of files with this ending; ImportError where it is not installed."""
    from tree_sitter import Language  # noqa: PLC0415 - an extra

    grammar = LANGUAGES[suffix]
    return Language(getattr(import_module(grammar.module), grammar.factory)())
