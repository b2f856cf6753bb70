"""Pure: what a property holds, as JSON and back, so that nothing of it is lost."""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from pytz import timezone  # the zones of the driver's times

INTEGERS = range(-(2**63), 2**63)
"""What the graph holds as a whole number."""
_POINTS = {7203: CartesianPoint, 9157: CartesianPoint, 4326: WGS84Point, 4979: WGS84Point}
_GLOBE = (180, 90)


def _in_zone(iso: str, zone: str | None) -> DateTime:
    read: DateTime = DateTime.from_iso_format(iso)
    return read.astimezone(timezone(zone)) if zone else read


def _point(told: list[Any]) -> Point:
    srid, *place = told
    bounds = _GLOBE if _POINTS[srid] is WGS84Point else (math.inf, math.inf)
    if not all(abs(x) <= most for x, most in zip(place, bounds, strict=False)):
        raise ValueError(place)
    point: Point = _POINTS[srid](place)
    if point.srid != srid or not all(map(math.isfinite, point)):
        raise ValueError(place)
    return point


_TAGS: Mapping[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, str, float),
    "bytes": (bytes, lambda value: b64encode(value).decode(), b64decode),
    "point": (Point, lambda value: [value.srid, *value], _point),
    "duration": (
        Duration,
        list,
        lambda told: Duration(months=told[0], days=told[1], seconds=told[2], nanoseconds=told[3]),
    ),
    "datetime": (
        DateTime,
        lambda value: [value.iso_format(), getattr(value.tzinfo, "zone", None)],
        lambda told: _in_zone(*told),
    ),
    "date": (Date, Date.iso_format, Date.from_iso_format),
    "time": (Time, Time.iso_format, Time.from_iso_format),
}
"""What JSON has no word for, by its tag: its type, there, and back."""


def encode(value: Any) -> Any:  # noqa: ANN401 - whatever a property holds
    """Return a value as JSON; TypeError names a type that is not known here."""
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [encode(one) for one in value]
    for tag, (kind, there, _) in _TAGS.items():
        if isinstance(value, kind):
            return {tag: there(value)}
    raise TypeError(type(value).__name__)


def encode_all(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties as JSON; errors as for `encode`."""
    return {name: encode(value) for name, value in properties.items()}


def decode(value: Any) -> Any:  # noqa: ANN401 - whatever a property holds
    """Return what was encoded; ValueError when `encode` would not have written this."""
    if not isinstance(value, list):
        return _decoded(value)
    held = [_decoded(one) for one in value]
    if len(set(map(_kind, held))) > 1 or any(isinstance(one, bytes) for one in held):
        raise ValueError("it is a list of several types")
    return held


def _decoded(value: Any) -> Any:  # noqa: ANN401 - as above
    match value:
        case str():
            value.encode()  # a half of a letter has no bytes
            return value
        case bool():
            return value
        case int() if value in INTEGERS:
            return value
        case float() if math.isfinite(value):
            return value
        case dict():
            return _tagged(value)
    raise ValueError("it is no value that a property holds")


def _tagged(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as above
    try:
        ((tag, told),) = value.items()
        _, there, back = _TAGS[tag]
        held = back(told)
        is_same = json.dumps(there(held)) == json.dumps(told)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
        is_same = False
    if not is_same or (tag == "float" and math.isfinite(held)):
        raise ValueError("it is no value that a property holds")
    return held


def _kind(value: Any) -> object:  # noqa: ANN401 - as above
    """Return what tells apart the values that no list of the graph holds together."""
    return type(value), getattr(value, "srid", 0), getattr(value, "tzinfo", None) is None


def decode_all(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties that were encoded; ValueError names one that was not."""
    held = {}
    for name, value in properties.items():
        try:
            held[name] = decode(value)
        except ValueError as error:
            problem = "it holds half a letter" if isinstance(error, UnicodeError) else error
            raise ValueError(f"property {name[:60]!r}: {problem}") from None
    return held


def line(row: Mapping[str, Any]) -> bytes:
    """Return a row as one line."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
