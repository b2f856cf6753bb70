"""Files that are archives of XML, looked at before a parser unpacks them."""

from __future__ import annotations

import zipfile
from io import BytesIO

from drift.local.ingest.formats import NoDocumentError

MOST_UNPACKED = 500_000_000
"""Bytes that all parts of one file may have together."""
MOST_PARTS = 20_000

_OLD_FORMAT = b"\xd0\xcf\x11\xe0"
"""The beginning of formats before 2007, and of newer files that have a password."""


def opened(content: bytes) -> BytesIO:
    """Return the content as a file, once it is known that it can be unpacked.

    NoDocumentError when it has a password, is no archive, or would take too much room.
    """
    if content.startswith(_OLD_FORMAT):
        raise NoDocumentError(
            "has a password or the format of an older version: save it anew, without a password"
        )
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OverflowError) as error:
        raise NoDocumentError(f"is damaged, or not what its ending says ({error})") from error

    unpacked = sum(part.file_size for part in parts)
    if unpacked > MOST_UNPACKED or len(parts) > MOST_PARTS:
        raise NoDocumentError(
            f"would unpack to {unpacked:,} bytes in {len(parts):,} parts, more than "
            f"{MOST_UNPACKED:,} in {MOST_PARTS:,}"
        )
    if any(part.flag_bits & 1 for part in parts):
        raise NoDocumentError("has a password: save it anew, without one")
    return BytesIO(content)
