"""The encoding of a text, where the file does not say it."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from drift.indexing.documents import Detect, Skipped, text_of
from drift.local.ingest.formats import NoDocumentError

_LOOKED_AT = 65_536
_CANDIDATES = [
    *("cp1252", "gb18030", "shift_jis", "euc_jp", "euc_kr", "big5", "cp1250", "cp1251", "koi8_r"),
    *("cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "utf_16_le", "utf_16_be"),
]
_LIKELY, _SHARE = "cp1252", 0.08
"""What is taken where too few of the bytes are no ASCII to tell anything from them."""

_DECLARED = re.compile(
    rb"""(?i)<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|"""
    rb"""\A\s*<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.:-]{1,40})"""
)
_OF_PAGES = re.compile(
    r"cp\d+|iso8859-\d+|gb\w+|big5\w*|shift_jis\w*|euc_\w+|koi8-\w|mac-\w+|tis-620|ascii"
)
_WIDER = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
"""What browsers read instead of what pages say."""
_DECLARED_WITHIN, _MOST_WRONG = 1_024, 0.001


def decoded_page(content: bytes) -> tuple[str, str]:
    """Return a page as text, by the encoding that it declares unless that is plainly wrong.

    Where it declares none, scripts, styles and tags tell nothing of it.
    """
    found = _DECLARED.search(content[:_DECLARED_WITHIN])
    try:
        name = codecs.lookup((found[1] or found[2]).decode()).name if found else ""
    except (LookupError, UnicodeDecodeError):
        name = ""
    if _OF_PAGES.fullmatch(name):
        text = content.decode(_WIDER.get(name, name), errors="replace")
        if text.count("\ufffd") <= _MOST_WRONG * len(text):
            return text, ""
    shown = re.sub(rb"(?is)<(script|style)\b.*?(?:</\1|\Z)|<[^<>]*>", b" ", content)
    return decoded(content, shown)


def decoded(content: bytes, sample: bytes | None = None) -> tuple[str, str]:
    """Return a content as text, and in words which encoding it was read by; empty for UTF-8.

    A content is UTF-8 as long as more of its signs are than are not. The `sample` tells of others.
    """
    text = content.decode("utf-8-sig", errors="replace")
    bad = text.count("\ufffd")
    if not bad:
        return text, ""
    if sum(1 for sign in text if sign > "\x7f") > 2 * bad:
        return text, f"{bad:,} bytes are not UTF-8 and stand as \ufffd"

    beginning = (content if sample is None else sample)[:_LOOKED_AT]
    plain = len(beginning.decode("ascii", errors="ignore"))
    is_likely = len(beginning) - plain < _SHARE * len(beginning)
    best = None if is_likely else from_bytes(beginning, cp_isolation=_CANDIDATES).best()
    encoding = best.encoding if best else _LIKELY
    return content.decode(encoding, errors="replace"), f"was read as {encoding}"


def text_in(content: bytes, detect: Detect = decoded) -> tuple[str, str]:
    """Return a content as text whose lines end with line feeds, and a note on its encoding.

    NoDocumentError where it is none.
    """
    found = text_of(content, "", detect)
    if isinstance(found, Skipped):
        raise NoDocumentError(found.reason)
    return found[0].replace("\r\n", "\n").replace("\r", "\n"), found[1]
