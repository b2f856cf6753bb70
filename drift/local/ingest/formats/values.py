"""Values within each other: JSON, also with comments, JSON lines and YAML; nothing is built of it.

A chunk stands under the keys that lead to it. A list of alike objects in JSON is a table.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from drift.local.ingest.formats import Growth, Read
from drift.local.ingest.formats.encodings import text_in
from drift.local.ingest.formats.key_paths import (
    MOST_OUTLINED,
    Outline,
    cut_as_it_is,
    is_packed,
    shown_without_secrets,
)
from drift.local.ingest.formats.tables import as_text

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
        return _cut(text, note, may_be_broken=True)  # or it has comments, or is very deep
    else:
        table = as_text(rows, Growth.of(content))
        table, hidden = shown_without_secrets(f"{heading}{table}")
        return Read(table, note="; ".join(filter(None, (note, hidden))))

    if is_packed(text) and len(text) <= MOST_OUTLINED:
        return _cut(_laid_out(text), note, has_lines=False)
    return _cut(text, note)


def read_json_lines(content: bytes) -> Read:
    """Return values in lines of their own as they are written."""
    text, note = text_in(content)
    return cut_as_it_is(text, (), note)


def _cut(text: str, note: str, *, has_lines: bool = True, may_be_broken: bool = False) -> Read:
    if len(text) > MOST_OUTLINED:
        return cut_as_it_is(text, (), note)
    outline = Outline()
    _follow(_json_events(text), outline)
    broken = "is no whole JSON" if may_be_broken and not outline.is_whole else ""
    found = outline.found(text.count("\n"))
    return cut_as_it_is(text, found, note, broken, has_lines=has_lines)


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
    for key, value in told.items():
        if isinstance(value, dict) and within < _MOST_WITHIN:
            flat |= {f"{key}.{name}": one for name, one in _flat(value, within + 1).items()}
            continue
        listed = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict | list) for one in listed):
            raise _NoTableError
        flat[key] = ", ".join(map(_said, listed))
    return flat


def _said(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


# ------------------------------------------------------------------------------------------- YAML
def read_yaml(content: bytes) -> Read:
    """Return YAML as it is written, under its keys as far as it is valid."""
    text, note = text_in(content)
    outline, broken = Outline(), ""
    if len(text) <= MOST_OUTLINED:
        try:
            _follow(_yaml_events(text), outline)
        except yaml.MarkedYAMLError as error:
            row = error.problem_mark.line if error.problem_mark else 0
            broken = f"is no valid YAML from line {row + 1:,} on"
        except yaml.YAMLError:
            broken = "is no valid YAML"
    return cut_as_it_is(text, outline.found(text.count("\n")), note, broken)


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
@dataclass(slots=True)
class _Container:
    """An open object or list; `key` is the one whose value comes next, in `row`."""

    is_list: bool
    key: str | None = None
    row: int = 0
    count: int = 0


def _follow(events: Iterable[Event], outline: Outline) -> None:
    """Outline values: one behind a key is called after that, and an entry of a list as it says."""
    within = [_Container(is_list=True)]
    for sign, said, first, last in events:
        top = within[-1]
        if sign and sign in "}]":
            if len(within) > 1:
                within.pop()
                _end(outline, last, is_entry=within[-1].is_list)
        elif not (sign or top.is_list) and top.key is None:
            top.key, top.row = said, first
        else:
            top.count += 1
            name = str(top.count) if top.is_list else top.key or ""
            row = first if top.key is None else top.row
            top.key = None
            if sign:
                within.append(_Container(sign == "["))
                outline.begin(name, row)
                continue
            if not top.is_list and outline.top:
                outline.top.call(name, said)
            if last > row:
                outline.begin(name, row)
                outline.end(last)


def _end(outline: Outline, row: int, *, is_entry: bool) -> None:
    part = outline.end(row)
    if part is None or not part.label:
        return
    if is_entry:
        part.name = part.label
    elif part.name == "metadata" and part.above:
        part.above.qualify(part.label)
