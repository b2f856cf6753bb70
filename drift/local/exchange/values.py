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

_POINTS = {7203: CartesianPoint, 9157: CartesianPoint, 4326: WGS84Point, 4979: WGS84Point}


def _in_zone(iso: str, zone: str | None) -> DateTime:
    read: DateTime = DateTime.from_iso_format(iso)
    return read.astimezone(timezone(zone)) if zone else read


_TAGS: Mapping[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, str, float),
    "bytes": (bytes, lambda value: b64encode(value).decode(), b64decode),
    "point": (Point, lambda value: [value.srid, *value], lambda told: _POINTS[told[0]](told[1:])),
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
    """Return what was encoded; ValueError, TypeError or LookupError when it was not."""
    if isinstance(value, list):
        return [decode(one) for one in value]
    if not isinstance(value, dict):
        return value
    ((tag, told),) = value.items()
    return _TAGS[tag][2](told)


def decode_all(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties that were encoded; errors as for `decode`."""
    return {name: decode(value) for name, value in properties.items()}


def line(row: Mapping[str, Any]) -> bytes:
    """Return a row as one line."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
