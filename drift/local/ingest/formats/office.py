"""What documents of office programs say of themselves, and what of them is left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from drift.local.ingest.formats.packages import Element, Package, every, local
from drift.local.ingest.formats.titles import own_title
from drift.local.ingest.front_matter import attributes_of
from drift.model.attributes import Attributes

_CORE = {
    "title": "title",
    "creator": "author",
    "created": "created",
    "modified": "updated",
    "language": "language",
    "keywords": "keywords",
}


def core_properties(package: Package) -> tuple[str, Attributes]:
    """Return the title of a package, and what else it says of itself."""
    return told_by(package.xml(package.part("core-properties")), _CORE)


def told_by(root: Element, names: Mapping[str, str]) -> tuple[str, Attributes]:
    """Return the title and all else that a part says, whose elements mean what `names` says."""
    told: dict[str, list[str]] = defaultdict(list)
    for one in every(root):
        name, words = names.get(local(one)), " ".join((one.text or "").split())
        if name and words:
            told[name].append(words)
    said = {name: ", ".join(dict.fromkeys(words)) for name, words in told.items()}
    if "keywords" in said:
        said["keywords"] = said["keywords"].replace(";", ",")
    title = own_title(said.pop("title", ""))
    return title, attributes_of(said)[0]


def comment(author: str, said: str, place: str = "") -> str:
    """Return what somebody remarked, on a `place` where it is known; empty for nothing."""
    by, on = f" ({author})" if author else "", f" on {place}" if place else ""
    return f"Comment{by}{on}: {said}" if said else ""


def note_on(left: Counter[str]) -> str:
    """Return in words what was left out, and how often; empty for nothing."""
    counts = ", ".join(f"{what} ({count:,})" for what, count in sorted((+left).items()))
    return f"left out: {counts}" if counts else ""


class SlideBox(NamedTuple):
    """What stands somewhere on a slide."""

    top: float
    left: float
    height: float
    held: Any


def in_rows(boxes: Iterable[SlideBox]) -> Iterator[Any]:
    """Yield what boxes hold row by row; one that begins above the middle of the first is beside."""
    row: list[SlideBox] = []
    for box in sorted(boxes, key=lambda box: box.top):
        if row and box.top > row[0].top + min(row[0].height, box.height) / 2:
            yield from (one.held for one in sorted(row, key=lambda one: one.left))
            row = []
        row.append(box)
    yield from (one.held for one in sorted(row, key=lambda one: one.left))
