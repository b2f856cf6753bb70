"""Which documents may be used: OpenAI's grammar of attribute filters, with `prefix` for paths.

Source: OpenAI, "Retrieval: attribute filtering" (ComparisonFilter, CompoundFilter).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    FailFast,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from drift.contracts.body import Body, plain_text
from drift.core.moments import milliseconds
from drift.model.attributes import METADATA_NAME

MAX_DEPTH, MAX_LEAVES, MAX_VALUES, MAX_CHARACTERS = 3, 20, 100, 1000
MAX_NUMBER = 10**18
TEXTS: Mapping[str, str] = {
    "document_id": "id",
    "path": "path",
    "source": "source",
    "media_type": "media_type",
    "tag": "tags",
}
"""The keys whose values are text, with a document's property."""
TIMES = ("created_at", "updated_at")
METADATA = rf"metadata\.{METADATA_NAME}"
KEYS = f"{', '.join((*TEXTS, *TIMES))} and metadata.NAME"
_COMBINING, _OF_SEVERAL, _ORDERING = ("and", "or"), ("in", "nin"), ("gt", "gte", "lt", "lte")

Value = StrictStr | StrictBool | StrictInt | StrictFloat
Condition = dict[str, Any]
Conditions = list[Any]
"""Comparisons as a statement reads them: in lists of lists, LEVELS deep, all of any of all of …"""
LEVELS = 2 * MAX_DEPTH
"""Room for a filter, one of several filters of a caller, and both together."""


def _described(schema: dict[str, Any]) -> None:
    """Say in JSON Schema what a filter may be, but for MAX_LEAVES.

    It does not recur: tools that import descriptions refuse what does.
    """

    def object_of(**fields: object) -> dict[str, Any]:
        closed = {"required": [*fields], "additionalProperties": False}
        return {"type": "object", "properties": fields, **closed}

    def compared(key: Mapping[str, Any], value: Mapping[str, Any], *kinds: str) -> Iterator[Any]:
        several = {"type": "array", "items": value, "minItems": 1, "maxItems": MAX_VALUES}
        yield object_of(type={"enum": kinds}, key=key, value=value)
        yield object_of(type={"enum": _OF_SEVERAL}, key=key, value=several)

    text = {"type": "string", "maxLength": MAX_CHARACTERS, "pattern": r"^[^\u0000]*$"}
    named = {**text, "minLength": 1}
    year = {"type": "string", "pattern": "^[0-9]*[1-9][0-9]*-"}
    time = {"anyOf": [{**year, "format": "date-time"}, {**year, "format": "date"}]}
    number = {"type": "number", "minimum": -MAX_NUMBER, "maximum": MAX_NUMBER}
    own = {"type": "string", "pattern": f"^{METADATA}$"}
    comparisons = [
        *compared({"enum": [*TEXTS]}, named, "eq", "ne"),
        object_of(type={"enum": ["prefix"]}, key={"enum": ["path"]}, value=named),
        *compared({"enum": TIMES}, time, "eq", "ne", *_ORDERING),
        *compared(own, {"anyOf": [text, number, {"type": "boolean"}]}, "eq", "ne", *_ORDERING),
    ]
    allowed = comparisons
    for _ in range(MAX_DEPTH):
        listed = {"minItems": 1, "maxItems": MAX_LEAVES, "items": {"anyOf": allowed}}
        both = object_of(type={"enum": _COMBINING}, filters={"type": "array", **listed})
        allowed = [*comparisons, both]
    for name in ("properties", "required", "additionalProperties"):
        del schema[name]
    schema["anyOf"] = allowed


class Filter(Body):
    """A comparison of one key with a value, or several filters of which all (any) must hold.

    A comparison has `type`, `key` and `value`, a combination `type` and `filters`. A document
    without the key matches `ne` and `nin` alone, and one with several values of it (`tag`) is equal
    to each of them.
    """

    model_config = ConfigDict(json_schema_extra=_described)

    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "prefix", "and", "or"]
    key: Annotated[str, Field(max_length=80)] | None = None
    value: Value | Annotated[tuple[Value, ...], FailFast(), Field(strict=False)] | None = None
    filters: Annotated[tuple[Filter, ...], FailFast(), Field(strict=False)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.type not in _COMBINING:
            if self.filters is not None:
                raise ValueError(f"has `filters`, which only {' and '.join(_COMBINING)} have")
            self.values()
        elif not self.filters:
            raise ValueError("must have `filters`, at least one")
        elif self.key is not None or self.value is not None:
            raise ValueError("has `key` or `value`, which only a comparison has")
        elif self.depth > MAX_DEPTH:
            raise ValueError(f"goes deeper than {MAX_DEPTH} levels of `and` and `or`")
        elif (count := sum(1 for _ in self.leaves())) > MAX_LEAVES:
            raise ValueError(f"has {count} comparisons; up to {MAX_LEAVES} are read")
        return self

    @property
    def depth(self) -> int:
        """How many combinations stand in each other; 0 of a comparison."""
        return 1 + max(one.depth for one in self.filters) if self.filters else 0

    def leaves(self) -> Iterator[Filter]:
        """Yield every comparison in it."""
        if not self.filters:
            yield self
        for one in self.filters or ():
            yield from one.leaves()

    def values(self) -> list[Value]:
        """Return what a comparison compares with, times in milliseconds since 1970.

        Raises:
            ValueError: the key is unknown, or this cannot be compared with it.
        """
        if self.key is None or not (
            self.key in TEXTS or self.key in TIMES or re.fullmatch(METADATA, self.key)
        ):
            raise ValueError(f"must have a known `key`: {KEYS}")

        is_several = self.type in _OF_SEVERAL
        given = self.value if isinstance(self.value, tuple) else (self.value,)
        if self.value is None or is_several != isinstance(self.value, tuple):
            wanted = f"a list of 1 to {MAX_VALUES} values" if is_several else "one value"
            raise ValueError(f"must have a `value`, for `{self.type}` {wanted}")
        if not 1 <= len(given) <= MAX_VALUES:
            raise ValueError(f"compares with {len(given)} values; 1 to {MAX_VALUES} are read")
        if self.type == "prefix" and self.key != "path":
            raise ValueError("may ask for a `prefix` of `path` alone")
        if self.type in _ORDERING and self.key in TEXTS:
            raise ValueError(f"cannot order by `{self.key}`: ask for eq, ne, in or nin")
        return [_comparable(self.key, one) for one in given]

    def conditions(self) -> Conditions:
        """Return the filter as all of any of all of any comparisons."""
        nested: Conditions = _nested(self, "and", LEVELS)
        return nested

    def condition(self) -> Condition:
        """Return a comparison as a statement reads it; what is not equal is `negated`."""
        key, negated = str(self.key), self.type in {"ne", "nin"}
        kind = "in" if negated or self.type in {"eq", "in"} else self.type
        about = {"key": TEXTS.get(key, key), "type": kind}
        return {**about, "values": self.values(), "negated": negated}


def _comparable(key: str, value: object) -> Value:
    """Return a value as documents have it; ValueError where no document can."""
    if key in TIMES:
        return _milliseconds(key, value)
    if key in TEXTS and not (isinstance(value, str) and value):
        raise ValueError(f"must compare `{key}` with text that is not empty")
    if isinstance(value, str):
        if len(value) > MAX_CHARACTERS:
            raise ValueError(f"compares with more than {MAX_CHARACTERS} characters")
        return plain_text(value)
    assert isinstance(value, int | float)  # noqa: S101 - as Value says
    if not abs(value) <= MAX_NUMBER:
        raise ValueError(f"compares with a number beyond {MAX_NUMBER:,}")
    return value


def _milliseconds(key: str, value: object) -> int:
    try:
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d([Tt ].+)?", value, re.ASCII):
            return milliseconds(value)
    except ValueError:
        pass
    wanted = "with a time of RFC 3339, such as 2026-03-31T12:00:00Z"
    raise ValueError(f"must compare `{key}` {wanted}")


def _parts(one: Filter, kind: str) -> Iterator[Filter]:
    """Yield what a filter combines in this way, through those of the same way in each other."""
    if one.type != kind:
        yield one
    else:
        for part in one.filters or ():
            yield from _parts(part, kind)


def _nested(one: Filter, kind: str, levels: int) -> Any:  # noqa: ANN401 - lists in lists
    if levels == 0:
        return one.condition()
    other = "or" if kind == "and" else "and"
    return [_nested(part, other, levels - 1) for part in _parts(one, kind)]


def combined(how: Literal["and", "or"], filters: Iterable[Filter | None]) -> Filter | None:
    """Return the filter of which all (any) must hold, beyond the bounds of a single one."""
    given = tuple(one for one in filters if one is not None)
    if len(given) > 1:
        return Filter.model_construct(type=how, filters=given)
    return given[0] if given else None


def equal_to(pairs: Iterable[tuple[str, str]]) -> Filter:
    """Return the filter of documents that have one of the values of each key.

    Raises:
        ValidationError: a key is unknown, or there are too many.
    """
    values: dict[str, list[str]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    leaves = [{"type": "in", "key": key, "value": some} for key, some in values.items()]
    return Filter.model_validate({"type": "and", "filters": leaves})
