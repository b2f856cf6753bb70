"""The encoding of a text, where the file does not say it."""

from __future__ import annotations

from charset_normalizer import from_bytes

from drift.indexing.documents import Skipped, text_of
from drift.local.ingest.formats import NoDocumentError

_LOOKED_AT = 65_536
_CANDIDATES = [
    *("cp1252", "gb18030", "shift_jis", "euc_jp", "euc_kr", "big5", "cp1250", "cp1251", "koi8_r"),
    *("cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "utf_16_le", "utf_16_be"),
]
_LIKELY, _SHARE = "cp1252", 0.08
"""What is taken where too few of the bytes are no ASCII to tell anything from them."""


def decoded(content: bytes) -> tuple[str, str]:
    """Return a content as text, and in words which encoding it was read by; empty for UTF-8.

    A content is UTF-8 as long as more of its signs are than are not.
    """
    text = content.decode("utf-8-sig", errors="replace")
    bad = text.count("\ufffd")
    if not bad:
        return text, ""
    if sum(1 for sign in text if sign > "\x7f") > 2 * bad:
        return text, f"{bad:,} bytes are not UTF-8 and stand as \ufffd"

    beginning = content[:_LOOKED_AT]
    plain = len(beginning.decode("ascii", errors="ignore"))
    is_likely = len(beginning) - plain < _SHARE * len(beginning)
    best = None if is_likely else from_bytes(beginning, cp_isolation=_CANDIDATES).best()
    encoding = best.encoding if best else _LIKELY
    return content.decode(encoding, errors="replace"), f"was read as {encoding}"


def text_in(content: bytes) -> tuple[str, str]:
    """Return a content as text whose lines end with line feeds, and a note on its encoding.

    NoDocumentError where it is none.
    """
    found = text_of(content, "", decoded)
    if isinstance(found, Skipped):
        raise NoDocumentError(found.reason)
    return found[0].replace("\r\n", "\n").replace("\r", "\n"), found[1]
