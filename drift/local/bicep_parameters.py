"""Parameters of a Bicep template and of its parameter file, read without the Bicep command.

Reads what these files consist of: literals, lists, `readEnvironmentVariable`, and the conversions around it. Anything else is
`UNREAD`: nothing is said about its value. No library reads parameter files (pycep and tree-sitter-bicep both refuse them).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final


class _Unread:
    """The value of an expression that is not understood here."""

    def __repr__(self) -> str:
        return "UNREAD"


UNREAD: Final = _Unread()

_TOKEN = re.compile(r"(?:\s|//[^\n]*)*('(?:\\.|[^'\\])*'|-?\d+|[A-Za-z_]\w*|[()\[\],]|\S|$)")
_STRING = re.compile(r"'(?:\\.|[^'\\])*'")
_STATEMENT = re.compile(r"^(?:param|using|var|extends|type|import|@)\b|^(?=//)", re.MULTILINE)
_GIVEN = re.compile(r"^param\s+(\w+)\s*=", re.MULTILINE)
_DECLARED = re.compile(r"param\s+(\w+)\s+([\w\[\]]+)\??\s*(?:=\s*(.*))?")


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter of a template; `default` is UNREAD where it is computed, `rules` are its decorators with their argument."""

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
    """What a parameter file gives: the value, the variable it is read from, and what is wrong with either.

    `literal` tells whether the file itself holds a value, be it as a default; `problem` is `missing` for a variable that is needed
    and not set.
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
            while _open_brackets(whole):
                whole += "\n" + next(lines, ")")
            name, _, argument = whole[1:].partition("(")
            rules[name] = _evaluated(argument.rstrip().removesuffix(")"), {}).value
        elif match := _DECLARED.match(line):
            name, kind, default = match.groups()
            value = _evaluated(default, {}).value if default else None
            found[name] = Declared(name, kind, default is None, value, rules)
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
        given = _evaluated(rest[: end.start()] if end else rest, environment)
        given.name = match[1]
        found[given.name] = given
    return found


def _open_brackets(text: str) -> bool:
    bare = _STRING.sub("", text)
    return bare.count("(") > bare.count(")")


def _evaluated(expression: str, environment: Mapping[str, str]) -> Given:
    """Evaluate one expression; what is left over behind it makes it UNREAD."""
    reader = _Reader(_TOKEN.findall(expression), environment)
    reader.given.value = reader.value()
    if reader.tokens and reader.tokens[0]:
        reader.given.value = UNREAD
    return reader.given


class _Reader:
    """A recursive descent over the tokens of one expression."""

    def __init__(self, tokens: list[str], environment: Mapping[str, str]) -> None:
        self.tokens = tokens
        self.environment = environment
        self.given = Given("")

    def value(self) -> Any:  # noqa: ANN401 - any value of Bicep
        word = self.tokens.pop(0) if self.tokens else ""
        if word.startswith("'"):
            return UNREAD if "${" in word else re.sub(r"\\(.)", r"\1", word[1:-1])
        if re.fullmatch(r"-?\d+", word):
            return int(word)
        if word == "[":
            return self._until("]")
        if self.tokens and self.tokens[0] == "(" and word.isidentifier():
            self.tokens.pop(0)
            return self._called(word, self._until(")"))
        return {"true": True, "false": False, "null": None}.get(word, UNREAD)

    def _until(self, end: str) -> list[Any]:
        items: list[Any] = []
        while self.tokens and self.tokens[0] not in {end, ""}:
            if self.tokens[0] == ",":
                self.tokens.pop(0)
            else:
                items.append(self.value())
        del self.tokens[:1]
        return items

    def _called(self, function: str, arguments: list[Any]) -> Any:  # noqa: ANN401 - the same
        if any(one is UNREAD for one in arguments):
            return UNREAD
        if function == "readEnvironmentVariable" and arguments:
            return self._variable(str(arguments[0]), arguments[1:])
        if function in {"any", "string"} and len(arguments) == 1:
            return arguments[0]
        try:
            return _CONVERSIONS[function](*arguments)
        except (KeyError, TypeError):
            return UNREAD
        except ValueError:
            self.given.problem = f"{arguments[0]!r} is not a value for {function}()"
            return UNREAD

    def _variable(self, name: str, default: list[Any]) -> Any:  # noqa: ANN401 - the same
        self.given.variable = name
        self.given.literal = bool(default and default[0])
        if name in self.environment:
            return self.environment[name]
        if default:
            return default[0]
        self.given.problem = "missing"
        return UNREAD


def _bool(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "int": int,
    "bool": _bool,
    "json": json.loads,
    "split": lambda text, separator: text.split(separator),
    "empty": lambda value: not value,
}
