"""Where two values differ, each place by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_ABSENT = object()


def differences(wanted: Any, found: Any, place: str) -> Iterator[str]:
    """Yield a sentence for each place at which `found` is not what is wanted."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key in sorted({*wanted, *found}):
            yield from differences(
                wanted.get(key, _ABSENT), found.get(key, _ABSENT), f"{place}.{key}"
            )
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif type(wanted) is not type(found) or wanted != found:
        yield f"{place} is {_shown(found)}, not {_shown(wanted)}"


def _shown(value: Any) -> str:
    return "absent" if value is _ABSENT else repr(value)
