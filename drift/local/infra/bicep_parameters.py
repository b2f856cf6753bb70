"""Parameters of a Bicep template and of its parameter file, read without the Bicep command.

Reads plain values only: literals, lists of them, `readEnvironmentVariable` with a conversion
around it, and objects of these, one a line. Anything else is `UNREAD`: nothing is said about its
value, unless a compiler gives it (`bicep_compiler.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final


class _Unread:
    """The value of an expression that is not understood here."""

    def __repr__(self) -> str:
        return "UNREAD"


UNREAD: Final = _Unread()

_STRING = re.compile(r"'(?:\\.|[^'\\])*'")
_COMMENT = re.compile(r"('(?:\\.|[^'\\])*')|//[^\n]*")
_LITERAL = re.compile(r"'(?:\\.|[^'\\$])*'|-?\d+|true|false|null")
_VARIABLE = re.compile(
    r"(?:(any|int|bool|string)\()?readEnvironmentVariable\('(\w+)'(?:,\s*('[^']*'))?\)\)?"
)
_ENTRY = re.compile(r"^[ \t]+'?([\w-]+)'?:[ \t]*(\S.*)$", re.MULTILINE)
_OBJECT = re.compile(r"\{(?:\n[ \t]+'?[\w-]+'?:(?:'(?:\\.|[^'\\\n])*'|[^'\n{}])*)*\s*\}")
_STATEMENT = re.compile(r"^(?:param|using|var|extends|type|import|@)\b|^(?=//)", re.MULTILINE)
_GIVEN = re.compile(r"^param\s+(\w+)\s*=", re.MULTILINE)
_DECLARED = re.compile(r"param\s+(\w+)\s+([\w\[\]]+)(\??)\s*(?:=\s*(.*))?")


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter of a template; `rules` are its decorators, a computed `default` is UNREAD."""

    name: str
    type: str
    required: bool
    default: Any = None
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def secure(self) -> bool:
        """Whether its value is kept out of logs and of the history of deployments."""
        return "secure" in self.rules


@dataclass(slots=True)
class Given:
    """What a parameter file gives: a value, its variable, and what is wrong with either.

    `literal` tells whether the file itself holds a value, be it as a default; `problem` is
    `missing` for a variable that is needed and not set.
    """

    name: str
    value: Any = UNREAD
    variable: str = ""
    literal: bool = True
    problem: str = ""


def declared_in(template: str) -> dict[str, Declared]:
    """Return the parameters that a template declares, by name."""
    found: dict[str, Declared] = {}
    rules: dict[str, Any] = {}
    lines = iter(template.splitlines())
    for line in lines:
        if line.startswith("@"):
            whole = line
            while (bare := _STRING.sub("", whole)).count("(") > bare.count(")"):
                whole += "\n" + next(lines, ")")
            name, _, argument = whole[1:].partition("(")
            rules[name] = _plain(argument.rstrip().removesuffix(")"), {}).value
        elif match := _DECLARED.match(line):
            name, kind, nullable, default = match.groups()
            value = _plain(default, {}).value if default else None
            found[name] = Declared(name, kind, default is None and not nullable, value, rules)
            rules = {}
        elif line.strip():
            rules = {}

    return found


def given_in(file: str, environment: Mapping[str, str]) -> dict[str, Given]:
    """Return what a parameter file gives, by name, with the variables of `environment`."""
    found: dict[str, Given] = {}
    for match in _GIVEN.finditer(file):
        rest = file[match.end() :]
        end = _STATEMENT.search(rest)
        given = _plain(rest[: end.start()] if end else rest, environment)
        given.name = match[1]
        found[given.name] = given

    return found


def _plain(expression: str, environment: Mapping[str, str]) -> Given:
    """Read a literal, a list of literals, or a variable with a conversion around it."""
    text = _COMMENT.sub(lambda match: match[1] or "", expression).strip()
    if match := _VARIABLE.fullmatch(text):
        return _from_variable(match, environment)
    if _LITERAL.fullmatch(text):
        return Given("", _literal(text))
    if _OBJECT.fullmatch(text):
        entries = {name: _plain(value, environment) for name, value in _ENTRY.findall(text)}
        return Given("", {name: one.value for name, one in entries.items()})
    if text.startswith("[") and not _LITERAL.sub("", text[1:-1]).strip(" ,\n"):
        return Given("", [_literal(item) for item in _LITERAL.findall(text)])

    return Given("", literal=False)


def _literal(text: str) -> Any:  # noqa: ANN401 - any value of Bicep
    if text.startswith("'"):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return {"true": True, "false": False, "null": None}[text] if text.isalpha() else int(text)


def _from_variable(match: re.Match[str], environment: Mapping[str, str]) -> Given:
    conversion, name, default = match.groups()
    given = Given("", variable=name, literal=default not in {None, "''"})
    if name not in environment and default is None:
        given.problem = "missing"
        return given

    value = environment.get(name, default[1:-1] if default else "")
    try:
        given.value = _CONVERSIONS[conversion or "any"](value)
    except (ValueError, KeyError):
        given.problem = f"{value!r} is not a value for {conversion}()"

    return given


_CONVERSIONS: dict[str, Callable[[str], Any]] = {
    "any": str,
    "string": str,
    "int": int,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
}
