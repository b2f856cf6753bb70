"""Pure: what a Markdown file says of itself at its head, between two lines of three dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import yaml
from pydantic import TypeAdapter

from drift.contracts.attributes import Tag, metadata_value
from drift.core.moments import milliseconds
from drift.model.attributes import NOTHING_SAID, Attributes, Value

MOST_CHARACTERS = 16_384
_NAMED = 5
_TAG = TypeAdapter[str](Tag)
_HEAD = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TAGS = frozenset({"tags", "tag", "keywords"})
_MOMENTS = {
    **dict.fromkeys(("created", "date"), "created_at"),
    **dict.fromkeys(("updated", "lastmod"), "updated_at"),
}


class _Loader(yaml.SafeLoader):
    """Reads what JSON knows as well; dates, `yes`, 010 and 12:30 stay text, as they are written."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the library's own name


for _kind, _written, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"-?(?:0|[1-9][0-9]{0,14})", "-0123456789"),
    ("float", r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,20}", "-0123456789"),
    ("null", r"~|null|Null|NULL|", "~nN"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"(?:{_written})$"), [*_first, ""]
    )


def without_front_matter(text: str) -> tuple[str, Attributes, str]:
    """Return a text without its front matter, what that says, and a note on what is left out.

    Empty lines stand in its place, so that all others keep their numbers. What is not YAML, or more
    than MOST_CHARACTERS, stays text.
    """
    found = _HEAD.match(text)
    if found is None:
        return text, NOTHING_SAID, ""
    if len(found[1]) > MOST_CHARACTERS:
        return text, NOTHING_SAID, f"its front matter has over {MOST_CHARACTERS:,} characters"

    try:
        told = yaml.load(found[1], _Loader)  # noqa: S506 - a loader that is safe
    except (yaml.YAMLError, ValueError, RecursionError):
        return text, NOTHING_SAID, "what stands at its head between --- is no YAML, and stays text"
    if not isinstance(told, dict | None):
        return text, NOTHING_SAID, ""

    said, left_out = attributes_of(told or {})
    named = ", ".join(f"`{name[:64]}`" for name in left_out[:_NAMED])
    more = f" and {len(left_out) - _NAMED:,} more" if len(left_out) > _NAMED else ""
    note = f"of its front matter {named}{more} cannot be used" if left_out else ""
    return "\n" * found[0].count("\n") + text[found.end() :], said, note


def attributes_of(told: Mapping[Any, Any]) -> tuple[Attributes, list[str]]:
    """Return what a file says of itself, and the names of what cannot be used."""
    tags: dict[str, None] = {}
    metadata: dict[str, Value] = {}
    moments: dict[str, int] = {}
    title, left_out = "", []
    for name, value in told.items():
        known = str(name).lower()
        try:
            if value is None:
                continue
            if known in _TAGS:
                tags |= dict.fromkeys(map(_TAG.validate_python, _listed(value)))
            elif known in _MOMENTS:
                moments.setdefault(_MOMENTS[known], milliseconds(_single(value)))
            elif known == "title":
                title = str(metadata_value("title", value))
            else:
                metadata[str(name)] = metadata_value(str(name), value)
        except ValueError:
            left_out.append(" ".join(str(name).split()))

    times = moments.get("created_at"), moments.get("updated_at")
    return Attributes(tuple(tags), metadata, *times, title), left_out


def _single(value: object) -> str:
    """Return one value as text; ValueError for several, which aliases make very long."""
    if not isinstance(value, str | int | float | date):
        raise ValueError("no single value")  # noqa: TRY004 - of what people write
    return str(value)


def _listed(value: object) -> Iterator[str]:
    """Yield the tags of a list, or of a line with commas between them; ValueError for others."""
    for one in value if isinstance(value, list) else _single(value).split(","):
        if type(one) not in {str, int, float}:
            raise ValueError("no tag")
        if str(one).strip():
            yield str(one)
