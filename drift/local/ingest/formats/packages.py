"""Files that are archives of XML, looked at before a parser unpacks them."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

from lxml import etree

from drift.local.ingest.formats import DamagedError, NoDocumentError

MOST_UNPACKED = 500_000_000
"""Bytes that all parts of one file may have together."""
FREE_UNPACKED, UNPACKED_A_BYTE = 20_000_000, 100
"""What any file may unpack to, and more for each of its bytes."""
MOST_PARTS = 20_000
_READ_AT_ONCE = 1 << 20

_DAMAGED = "the damaged part "
Element = Any
"""An element of XML, for which lxml has no type."""

_OLD_FORMAT = b"\xd0\xcf\x11\xe0"
"""The beginning of formats before 2007, and of newer files that have a password."""


def opened(content: bytes, see: Callable[[Iterator[bytes]], None] | None = None) -> BytesIO:
    """Return the content as a file, once it is known that it can be unpacked.

    `see` is shown each of its parts. NoDocumentError when it has a password, is no archive or not
    whole, or would take too much room.
    """
    if content.startswith(_OLD_FORMAT):
        raise NoDocumentError(
            "has a password or the format of an older version: save it anew, without a password"
        )
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            _require_room(archive.infolist(), len(content))
            for part in archive.infolist():
                # Parsers may believe less in the length that a part says: it is read to its end.
                with archive.open(part) as file:
                    chunks = iter(partial(file.read, _READ_AT_ONCE), b"")
                    if see:
                        see(chunks)
                    deque(chunks, maxlen=0)
    except (zipfile.BadZipFile, zlib.error, ValueError, OverflowError, EOFError) as error:
        raise DamagedError(f"is damaged, or not what its ending says ({error})") from error
    except NotImplementedError as error:
        raise NoDocumentError(f"is packed in a way that is not read ({error})") from error

    return BytesIO(content)


def _require_room(parts: Sequence[zipfile.ZipInfo], size: int) -> None:
    unpacked = sum(part.file_size for part in parts)
    most = min(MOST_UNPACKED, FREE_UNPACKED + UNPACKED_A_BYTE * size)
    if unpacked > most or len(parts) > MOST_PARTS:
        raise NoDocumentError(
            f"would unpack to {unpacked:,} bytes in {len(parts):,} parts, more than {most:,} in "
            f"{MOST_PARTS:,}"
        )
    if any(part.flag_bits & 1 for part in parts):
        raise NoDocumentError("has a password: save it anew, without one")


def local(element: Element) -> str:
    """Return the name of an element without its namespace; empty for what is none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def every(root: Element, *names: str) -> Iterator[Element]:
    """Yield the elements of these names, or all, below a root; nothing where there is none."""
    yield from () if root is None else root.iter(*(f"{{*}}{name}" for name in names))


def said_of(element: Element, name: str, default: str = "") -> str:
    """Return an attribute of an element, of whichever namespace; None says nothing."""
    held = () if element is None else element.items()
    return next((value for key, value in held if key.rpartition("}")[2] == name), default)


def number_of(element: Element, name: str, default: int, most: int) -> int:
    """Return an attribute as a number from `default` to `most`, and `default` for what is none."""
    written = said_of(element, name)
    return max(default, min(int(written), most)) if written[:9].isdecimal() else default


class Related(NamedTuple):
    """What a part of a package refers to: its kind, as in `footnotes`, and the part's name."""

    kind: str
    name: str


class Package:
    """The parts of a file that is an archive of XML, by their names."""

    def __init__(
        self, content: bytes, see: Callable[[Iterator[bytes]], None] | None = None
    ) -> None:
        """Unpack nothing yet; errors, and what is to `see`, are those of `opened`."""
        self._archive = zipfile.ZipFile(opened(content, see))
        self._names = {_plain(name): name for name in self._archive.namelist()}
        self.damaged: Counter[str] = Counter()

    def content(self, name: str) -> bytes:
        """Return the content of a part; nothing for one that is not there."""
        known = self._names.get(_plain(name))
        return self._archive.read(known) if known else b""

    def intact(self) -> bytes:
        """Return the file without the parts that are damaged."""
        out = BytesIO()
        with zipfile.ZipFile(out, "w") as whole:
            for name in self._names.values():
                if f"{_DAMAGED}{name}" not in self.damaged:
                    whole.writestr(name, self._archive.read(name))
        return out.getvalue()

    def xml(self, name: str, *, is_needed: bool = False) -> Element:
        """Return the root of a part; None where it is missing, or no XML, which is noted.

        DamagedError for one that `is_needed`, since the file says nothing without it.
        """
        if not (content := self.content(name)):
            return None
        parser = etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True)
        try:
            return etree.fromstring(content, parser)
        except (etree.LxmlError, ValueError) as error:
            if is_needed:
                raise DamagedError(
                    f"is damaged: {name} is no XML that is read ({error})"
                ) from error
            self.damaged[f"{_DAMAGED}{self._names[_plain(name)]}"] = 1
            return None

    def related(self, name: str, *, is_needed: bool = False) -> dict[str, Related]:
        """Return by its id what a part, or with an empty name the whole, refers to inside of it."""
        folder, own = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{own}.rels"), is_needed=is_needed)
        return {
            one.get("Id", ""): Related(
                one.get("Type", "").rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))),
            )
            for one in every(root, "Relationship")
            if one.get("TargetMode") != "External"
        }

    def part(self, kind: str, of: str = "") -> str:
        """Return the name of the first part of a kind that a part refers to, or an empty one."""
        return next((one.name for one in self.related(of).values() if one.kind == kind), "")


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
