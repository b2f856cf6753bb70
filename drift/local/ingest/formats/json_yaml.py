"""Values within each other: JSON, also with comments, JSON lines and YAML; nothing is built of it.

A chunk stands under the keys that lead to it. A list of alike objects in JSON is a table.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from drift.local.ingest.formats import Growth, Read
from drift.local.ingest.formats.encodings import text_in
from drift.local.ingest.formats.key_paths import (
    Outline,
    cut_as_it_is,
    is_packed,
    shown_without_secrets,
)
from drift.local.ingest.formats.secrets import HIDDEN, names_a_secret
from drift.local.ingest.formats.tables import as_text
from drift.local.ingest.parts import FoundDefinition

MOST_COLUMNS = 200
_MOST_WITHIN = 3
_DEEPEST_INDENT = 20
_TOKEN = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"?|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|[{}\[\],:\n]"
    r"|[^\s{}\[\],:\"/]+|/"
)

Event = tuple[str, str, int, int]
"""A sign, one of `{[}]`, or none for a single value; what that says; its first row and its last."""


class _NoTableError(ValueError):
    """A list is none of alike objects."""


# ------------------------------------------------------------------------------------------- JSON
def read_json(content: bytes) -> Read:
    """Return JSON as it is written, or as rows where it is a list of alike objects."""
    text, note = text_in(content)
    told: Any = None
    try:
        told = json.loads(
            text,
            parse_int=str,
            parse_float=str,
            parse_constant=str,
            object_pairs_hook=_without_repeats,
        )
        heading, rows = _table(told)
    except _NoTableError:
        pass
    except (ValueError, RecursionError):
        return cut_as_it_is(text, note, _json_parts)  # not whole, with comments, or very deep
    else:
        table = as_text(rows, Growth.of(content), heads=1)
        table, hidden = shown_without_secrets(f"{heading}{table}", text)
        return Read(table, note="; ".join(filter(None, (note, hidden))))

    packed = is_packed(text)
    return cut_as_it_is(
        _laid_out(text) if packed else text, note, _json_parts, has_lines=not packed
    )


def read_json_lines(content: bytes) -> Read:
    """Return values in lines of their own as they are written."""
    return cut_as_it_is(*text_in(content), lambda _: ((), ""))


def _json_parts(text: str) -> tuple[Iterable[FoundDefinition], str]:
    outline = Outline()
    _follow(_json_events(text), outline)
    is_whole = outline.parts and not outline.top.depth
    return outline.found(), "" if is_whole else "holds no whole object or list of JSON"


def _json_events(text: str) -> Iterator[Event]:
    row = 0
    for found in _TOKEN.finditer(text):
        part = found[0]
        if part in "{[}]":
            yield part, "", row, row
        elif part not in ",:\n" and not part.startswith(("//", "/*")):
            yield "", part.strip('"'), row, row
        row += part.count("\n")


def _laid_out(text: str) -> str:
    """Return JSON of one line in many; what it says is kept as it is written."""
    laid, depth = [], 0
    for found in _TOKEN.finditer(text):
        part = found[0]
        depth += (part in "{[") - (part in "}]")
        line = "\n" + " " * min(depth, _DEEPEST_INDENT)
        if part in "{[,":
            laid.append(part + line)
        elif part in "}]":
            laid.append(line + part)
        elif part != "\n":
            laid.append(": " if part == ":" else part)
    return "".join(laid)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; _NoTableError where a key stands twice, of which a table shows one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NoTableError
    return found


def _table(told: Any) -> tuple[str, Iterable[list[str]]]:  # noqa: ANN401 - JSON
    """Return alike objects as rows below their heads, and what stands around them."""
    heading = ""
    if isinstance(told, dict):
        (name, told), *others = sorted(told.items(), key=lambda one: not isinstance(one[1], list))
        said = _flat(dict(others))
        heading = "".join(f"{key}: {value}\n\n" for key, value in said.items()) + f"# {name}\n\n"
    if not isinstance(told, list) or not all(isinstance(one, dict) for one in told):
        raise _NoTableError
    records = [_flat(one) for one in told]
    names = Counter(name for one in records for name in one)
    if (
        len(records) == 1
        or not 1 < len(names) <= MOST_COLUMNS
        or 2 * names.total() < len(names) * len(records)
    ):
        raise _NoTableError
    return heading, [[*names], *([one.get(name, "") for name in names] for one in records)]


def _flat(told: dict[str, Any], within: int = 0) -> dict[str, str]:
    """Return the values of an object and of those in it by their keys, all as text."""
    flat: dict[str, str] = {}
    called = [one for one in map(told.get, ("name", "key", "Name")) if isinstance(one, str)]
    for key, value in told.items():
        if isinstance(value, dict) and within < _MOST_WITHIN:
            inner = {f"{key}.{name}": one for name, one in _flat(value, within + 1).items()}
            if not flat.keys().isdisjoint(inner):
                raise _NoTableError
            flat |= inner
            continue
        listed = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict | list) for one in listed):
            raise _NoTableError
        if key in flat:
            raise _NoTableError
        said = ", ".join(map(_said, listed))
        names = [key, *(called if key.lower() == "value" else ())]
        flat[key] = HIDDEN if said and any(map(names_a_secret, names)) else said
    return flat


def _said(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


# ------------------------------------------------------------------------------------------- YAML
def read_yaml(content: bytes) -> Read:
    """Return YAML as it is written, under its keys as far as it is valid."""
    return cut_as_it_is(*text_in(content), _yaml_parts)


def _yaml_parts(text: str) -> tuple[Iterable[FoundDefinition], str]:
    outline, broken = Outline(), ""
    try:
        _follow(_yaml_events(text), outline)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        broken = f"is no valid YAML from line {mark.line + 1 if mark else 1:,} on"
    return outline.found(), broken


def _yaml_events(text: str) -> Iterator[Event]:
    """Yield what stands there; an alias is a name, so that none becomes large."""
    seen = 0
    one: Any
    for one in yaml.parse(text, Loader=yaml.CSafeLoader):
        begin, end = one.start_mark, one.end_mark
        row, last = begin.line, end.line
        if isinstance(one, yaml.ScalarEvent | yaml.AliasEvent):
            seen = max(
                row, last if end.column else last - 1
            )  # a block ends where the next line begins
            yield "", one.value if isinstance(one, yaml.ScalarEvent) else "", row, seen
        elif isinstance(one, yaml.CollectionStartEvent):
            yield "{" if isinstance(one, yaml.MappingStartEvent) else "[", "", row, row
        elif isinstance(one, yaml.CollectionEndEvent):
            seen = last if end.index > begin.index else seen
            yield "}", "", seen, seen


# ------------------------------------------------------------------------------------------- both
def _follow(events: Iterable[Event], outline: Outline) -> None:
    """Outline values: one behind a key is called after that, and an entry of a list as it says."""
    for sign, said, first, last in events:
        top = outline.top
        if sign and sign in "}]":
            part = outline.end(last)
            if part.above and part.above.is_list:
                part.name = part.label or part.name
            elif part.above and part.name == "metadata":  # of a manifest, which is a kind of thing
                part.above.label = f"{part.above.label} {part.label}".strip()
        elif not (sign or top.is_list) and top.key is None:
            top.key, top.row = said, first
        else:
            top.count += 1
            name, row = top.key or str(top.count), first if top.key is None else top.row
            if not sign:
                top.call(name, said)
            top.key = None
            if sign or last > row:
                outline.begin(name, row, is_list=sign == "[")
            if not sign and last > row:
                outline.end(last)
