"""Files that are archives of XML, looked at before a parser unpacks them."""

from __future__ import annotations

import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO

from drift.local.ingest.formats import DamagedError, NoDocumentError

MOST_UNPACKED = 500_000_000
"""Bytes that all parts of one file may have together."""
FREE_UNPACKED, UNPACKED_A_BYTE = 20_000_000, 100
"""What any file may unpack to, and more for each of its bytes."""
MOST_PARTS = 20_000
_READ_AT_ONCE = 1 << 20

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
