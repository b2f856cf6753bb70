"""Pure: the address of its document that a citation may show.

A graph may hold anything as a document's source, most often a path of the machine that ingested it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

MOST_CHARACTERS = 2048
SCHEMES = frozenset("https http s3 gs az abfs abfss wasbs hdfs dbfs ftp ftps sftp".split())  # noqa: SIM905
"""Those of the web and of stores. A path of a machine is no address, and some schemes run code."""

WANTED = f"an address such as https://docs.example.com/manual ({', '.join(sorted(SCHEMES))})"

_BEFORE_AT = frozenset("abfs abfss wasbs".split())  # noqa: SIM905
"""Schemes in which a container stands before the @; in the others it is who signs in."""


def first_shown(stored: Iterable[object]) -> str:
    """Return the first of these that is an address to show; empty when none is."""
    return next((text for text in stored if isinstance(text, str) and is_shown(text)), "")


def is_shown(text: str) -> bool:
    """Tell whether a text is an address to show: of a known scheme, without a password in it."""
    if len(text) > MOST_CHARACTERS or re.search(r"[\s\x00-\x1f\x7f]", text):
        return False

    try:
        parts = urlsplit(text)
    except ValueError:  # such as http://[
        return False

    return (
        parts.scheme in SCHEMES
        and bool(parts.netloc)
        and ("@" not in parts.netloc or (parts.scheme in _BEFORE_AT and not parts.password))
        # parameters of an address that lets in whoever has it
        and not re.search(
            r"(?:^|&)(?:sig|signature|x-amz-[a-z-]+|x-goog-[a-z-]+)=", parts.query, re.IGNORECASE
        )
    )


def below(prefix: str, path: str) -> str:
    """Return the address of a document at a relative path; empty without a prefix."""
    return f"{prefix.rstrip('/')}/{quote(path)}" if prefix else ""
