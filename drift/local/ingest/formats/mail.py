"""Messages: who wrote what to whom and when, whom they quote, and what is attached to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.errors import CloseBoundaryNotFoundDefect, MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import count
from mimetypes import guess_extension
from pathlib import PurePosixPath
from typing import Any

from drift.contracts.attributes import MOST_CHARACTERS, metadata_value
from drift.core import moments
from drift.indexing.documents import ending_of
from drift.local.ingest.formats import NoDocumentError, Read, Talk
from drift.local.ingest.formats.encodings import decoded
from drift.local.ingest.formats.escaping import escaped
from drift.local.ingest.formats.quotes import (
    BELOW,
    QUOTED,
    page_with_quotes,
    with_marks,
    without_quotes,
)
from drift.model.attributes import Attributes

MOST_PARTS = 10_000
"""Of one message, with the messages in it."""
_MOST_HEADER, _MOST_NAME = 4_096, 120
_HEADERS = {"from", "to", "date", "subject", "message-id", "received"}
_WORDS = ("text/plain", "text/html", "multipart/")
"""What the text of a message is; one with parts is text where they are not told apart."""
_FEW_WORDS = 30
"""Plain text of no more may only say that there is a page."""
_NOT_UTF_8 = ("iso-2022", "hz", "utf-7")
"""Encodings of which all bytes are ASCII."""
_BROKEN = (MessageError, LookupError, ValueError, TypeError, AttributeError, AssertionError)

_MESSAGE = re.compile(
    rb"From (?:(?<=\AFrom )|(?<=\n\nFrom )|(?<=\n\r\nFrom ))[^\n]{0,1000}\n(?=[!-9;-~]{1,80}:)"
)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Letter:
    """A message, as it is read, and what is attached to it: names and contents.

    No two names are the same, and none is a path.
    """

    read: Read
    talk: Talk
    attachments: tuple[tuple[str, bytes], ...]
    is_deleted: bool


class _Bounded(Compat32):
    """Keeps so much of a header that no other method takes long for it."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_MOST_HEADER]


_POLICY = _Bounded(verify_generated_headers=False)


def messages_in(mailbox: bytes) -> list[tuple[int, int]]:
    """Return where the messages of a mailbox begin and end."""
    starts = [(found.start(), found.end()) for found in _MESSAGE.finditer(mailbox)]
    ends = [*(start for start, _ in starts[1:]), len(mailbox)]
    return [(begin, end) for (_, begin), end in zip(starts, ends, strict=False)]


def unescaped(message: bytes) -> bytes:
    """Return a message of a mailbox as it was before it was put there."""
    return _ESCAPED.sub(rb"\1", message)


def read_mail(content: bytes) -> Read:
    """Return a message with what it quotes at its end; NoDocumentError when it is none."""
    return opened(content).read


def read_mailbox(content: bytes) -> Read:
    """Raise NoDocumentError: a mailbox is many documents."""
    if messages_in(content):
        raise NoDocumentError("is a mailbox: `drift ingest` reads its messages, one by one")
    raise NoDocumentError("is no mailbox: no line `From ` begins a message")


def taken_out(content: bytes, numbers: Sequence[int], *, is_escaped: bool) -> bytes:
    """Return a message, which a mailbox may have escaped, or what is attached to it."""
    content = unescaped(content) if is_escaped else content
    for number in numbers:
        content = opened(content).attachments[number][1]
    return content


@lru_cache(maxsize=8)
def opened(content: bytes) -> Letter:
    """Return what a message says; NoDocumentError when it is none.

    The last ones are kept: what is attached to them is asked for one by one.
    """
    parts = count()

    def counted(**given: Any) -> Message:  # noqa: ANN401 - what the parser gives
        if next(parts) > MOST_PARTS:
            raise NoDocumentError(f"has more than {MOST_PARTS:,} parts")
        return Message(**given)

    try:
        message = BytesParser(counted, policy=_POLICY).parsebytes(content)
        if _HEADERS.isdisjoint(name.lower() for name, _ in message.raw_items()):
            raise NoDocumentError("is no message: it says neither whom it is from nor when")
        return _letter(message)
    except RecursionError as error:
        raise NoDocumentError("is nested too deep") from error
    except _BROKEN as error:
        raise NoDocumentError(f"is no message that can be read ({type(error).__name__})") from error


def _letter(message: Message) -> Letter:
    bodies: list[str] = []
    notes: dict[str, None] = {}
    attachments: list[tuple[str, bytes]] = []
    used: Counter[str] = Counter()
    for part, is_told in _parts_of(message):
        kind = part.get_content_type()
        is_attached = part.get_content_disposition() == "attachment" or part.get_filename()
        if any(isinstance(one, CloseBoundaryNotFoundDefect) for one in part.defects):
            notes["has no end: it may be cut"] = None
        if kind.startswith("multipart/") and part.is_multipart():
            continue
        if kind.startswith(_WORDS) and not is_attached:
            if not (is_told and kind == "text/html"):
                text, note = _text_of(part)
                text = text.replace("\r\n", "\n").replace("\0", "")
                bodies.append(page_with_quotes(text) if kind == "text/html" else escaped(text))
                notes |= {note: None} if note else {}
        else:
            name = unique(_name_of(part, len(attachments) + 1), used)
            attachments.append((name, _content_of(part)))

    sender, subject = _header(message, "from"), _header(message, "subject")
    to = ", ".join(filter(None, (_header(message, "to"), _header(message, "cc"))))
    date = _moment(_header(message, "date"))
    known = {"from": sender, "to": to, "subject": subject}
    first, answers = (_header(message, one) for one in ("message-id", "in-reply-to"))
    answers = answers.partition(" ")[0]
    said = known | {"message-id": first, "in-reply-to": answers}
    metadata = {n: metadata_value(n, v[:MOST_CHARACTERS]) for n, v in said.items() if v}
    day = f"{moments.moment(date):%Y-%m-%d %H:%M} UTC" if date is not None else ""
    names = ", ".join(name for name, _ in attachments)
    words, rest, quoted = without_quotes("\n\n".join(bodies))
    told = {**known, "date": day, "attachments": names}
    head = "\n".join(f"{name.capitalize()}: {value}" for name, value in told.items() if value)
    below = rest and f"{BELOW}\n\n{rest}"
    cited = quoted and f"{QUOTED}\n\n{with_marks(quoted)}"
    text = "\n\n".join(filter(None, (head, words, below, cited)))
    own = Attributes((), metadata, date, date)
    return Letter(
        Read(text, subject or sender, note="; ".join(notes), own=own),
        Talk(first, answers, len(quoted)),
        tuple(attachments),
        bool(re.fullmatch("[0-9a-fA-F]{3}[89a-fA-F]", _header(message, "x-mozilla-status"))),
    )


def _parts_of(message: Message) -> Iterator[tuple[Message, bool]]:
    """Yield all parts in order, and whether plain text beside one says the same."""
    waiting = [(message, False)]
    while waiting:
        part, is_told = waiting.pop()
        yield part, is_told
        kids: Any = part.get_payload()
        if part.get_content_maintype() == "multipart" and isinstance(kids, list):
            if part.get_content_subtype() == "alternative":
                is_told = is_told or _says_the_same(kids)
            waiting += [(kid, is_told) for kid in reversed(kids)]


def _says_the_same(kids: Sequence[Message]) -> bool:
    """Tell whether plain text says what the page beside it does, and not where to read that."""
    plain, page = (
        " ".join(_text_of(kid)[0] for kid in kids if kid.get_content_type() == kind)
        for kind in _WORDS[:2]
    )
    few = len(plain.split())
    return few > _FEW_WORDS or 2 * few >= len(page_with_quotes(page).split()) > 0


def _text_of(part: Message) -> tuple[str, str]:
    """Return the text of a part, and a note where its encoding is not what it says."""
    content = _content_of(part)
    charset = str(part.get_content_charset() or "ascii")
    is_bytes = not charset.startswith(_NOT_UTF_8)
    if content.isascii() and is_bytes:
        return content.decode(), ""
    with suppress(LookupError, ValueError):
        return content.decode("utf-8" if is_bytes else charset), ""
    with suppress(LookupError, ValueError):
        return content.decode(charset), ""
    return decoded(content)


def _content_of(part: Message) -> bytes:
    kids: Any = part.get_payload()
    if isinstance(kids, list):  # another message, or the report of a server
        inner = kids[0] if part.get_content_subtype() == "rfc822" else part
        with suppress(UnicodeEncodeError):  # what has no parts, though it says so
            return bytes(inner)
        return str(inner).encode("utf-8", "surrogateescape")
    content: Any = part.get_payload(decode=True)
    return bytes(content or b"")


def _header(message: Message, wanted: str) -> str:
    return next((_told(str(v)) for n, v in message.raw_items() if n.lower() == wanted), "")


def _told(raw: str) -> str:
    """Return the words of a header, which may say their encoding, on one line."""
    text, _ = decoded(raw.encode("utf-8", "surrogateescape"))
    with suppress(MessageError, LookupError, ValueError):  # they stay as they are written
        text = str(make_header(decode_header(text)))
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _moment(date: str) -> int | None:
    try:
        return moments.milliseconds(parsedate_to_datetime(date).isoformat())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _name_of(part: Message, number: int) -> str:
    kind = part.get_content_type()
    kids: Any = part.get_payload()
    told = _told(part.get_filename() or "")
    if not told and isinstance(kids, list):
        told = _header(kids[0], "subject").replace("/", " ")
    name = file_name(told) or f"attachment {number}"
    if kind == "message/rfc822":
        return f"{name.removesuffix('.eml')}.eml"
    is_known = ending_of(name) or kind == "application/octet-stream"
    return name if is_known else f"{name}{guess_extension(kind) or ''}"


def file_name(told: str) -> str:
    """Return the last part of a path as the name of a file; empty where there is none."""
    return PurePosixPath(told.replace("\\", "/")).name[-_MOST_NAME:].rstrip(". ").lstrip()


def unique(name: str, used: Counter[str]) -> str:
    """Return a name that is not used yet, and use it."""
    path, free = PurePosixPath(name), name
    while free.lower() in used:
        used[name.lower()] += 1
        free = f"{path.stem} ({used[name.lower()]}){path.suffix}"
    used[free.lower()] += 1
    return free
