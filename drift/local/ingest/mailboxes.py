"""Mail as several documents: the messages of a mailbox, and what is attached to each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from drift.core.moments import moment
from drift.graph.writing.rows import parts
from drift.indexing.documents import Skipped, ending_of, sha256
from drift.indexing.reading_process import Guard, guarded
from drift.local.ingest import formats
from drift.local.ingest.files import REPEATS, SourceFile, bytes_of, known_by, printable
from drift.local.ingest.kinds import Ignored, why_ignored

MOST_MESSAGES = 50_000
"""Of one mailbox."""
MOST_DEPTH = 5
"""Messages in messages."""
_DELETED = "they are deleted, and their mailbox has not been compacted since"
_AT_ONCE = 64
"""Files that one call looks at: of small files, asking costs more than looking."""

Found = SourceFile | Skipped | Ignored


def look_at_all(files: Sequence[tuple[Path, str]], guard: Guard) -> Iterator[Found]:
    """Yield each file, of paths and names, with what is in it; nothing is raised."""
    for group in parts(files, _AT_ONCE):
        found = guard("", partial(_look_at_each, group))
        if isinstance(found, Skipped):  # one of them takes too long, or ended the process
            found = [one for path, name in group for one in _look_at(path, name, guard)]
        yield from found


def _look_at_each(files: Sequence[tuple[Path, str]]) -> list[Found]:
    return [one for path, name in files for one in _look_at(path, name, guarded)]


def _look_at(path: Path, name: str, guard: Guard) -> list[Found]:
    found = guard(printable(name), partial(_opened, path, name))
    return [found] if isinstance(found, Skipped) else found


def _opened(path: Path, name: str) -> list[Found]:
    found = bytes_of(path, name)
    if isinstance(found, Skipped):
        return [found]
    content, ending = found[0], ending_of(name)
    file = known_by(path, name, *found)
    if ending == ".eml":
        return list(_with_attachments(file, content))
    if ending == ".mbox" or (not ending and content.startswith(b"From ")):
        return _messages(file, content) or [file]
    return [file]


def _messages(file: SourceFile, content: bytes) -> list[Found]:
    """Return the messages of a mailbox, which are called after their days and subjects."""
    from drift.local.ingest.formats import mail  # noqa: PLC0415 - most folders hold no mail

    found: list[Found] = []
    used: Counter[str] = Counter()
    spans = mail.messages_in(content)
    for number, (begin, end) in enumerate(spans[:MOST_MESSAGES], 1):
        message = mail.unescaped(content[begin:end])
        try:
            letter = mail.opened(message)
        except formats.NoDocumentError as error:
            found.append(Skipped(f"{file.id}/message {number}", str(error)))
            continue
        if letter.is_deleted:
            found.append(Ignored("message", 1, _DELETED))
            continue
        date = moment(letter.read.own.created_at)
        told = f"{date:%Y-%m-%d} {letter.read.title}" if date else letter.read.title
        id_ = f"{file.id}/{mail.unique(mail.file_name(told.replace('/', ' ') + '.eml'), used)}"
        one = replace(file, id=id_, content_hash=sha256(message), span=(begin, end))
        found += _with_attachments(one, message)
    if len(spans) > MOST_MESSAGES:
        reason = f"holds {len(spans):,} messages, of which the first {MOST_MESSAGES:,} are read"
        found.append(Skipped(file.id, reason))
    return found


def _with_attachments(file: SourceFile, content: bytes) -> Iterator[Found]:
    from drift.local.ingest.formats import mail  # noqa: PLC0415 - most folders hold no mail

    try:
        letter = mail.opened(content)
    except formats.NoDocumentError:
        yield file  # reading it tells why
        return

    date = letter.read.own.created_at
    file = replace(file, updated_at=file.updated_at if date is None else date)
    yield replace(file, talk=letter.talk)
    for number, (name, attached) in enumerate(letter.attachments):
        id_, hashed, place = f"{file.id}/{name}", sha256(attached), (*file.within, number)
        part = replace(file, id=id_, content_hash=hashed, within=place, parent=file.id)
        is_message = ending_of(name) == ".eml"
        if kind := why_ignored(name):
            yield Ignored(kind[0], 1, kind[1])
        elif is_message and len(place) > MOST_DEPTH:
            yield Skipped(id_, f"is in {MOST_DEPTH} messages, one in the other, and is not read")
        elif is_message:
            yield from _with_attachments(part, attached)
        else:
            yield part


def without_repeats(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Have what messages quote be read once: with the message whose words it is, where it is there.

    Where it is not, the reply that quotes the most of it is the one that keeps it.
    """
    seen = {one.talk.id for one in files}
    told: list[SourceFile] = []
    for one in sorted(files, key=lambda one: (-one.talk.quoted, one.id)):
        talk = one.talk
        is_seen = talk.quoted and talk.answers not in {"", talk.id} and talk.answers in seen
        told.append(replace(one, content_hash=one.content_hash + REPEATS) if is_seen else one)
        seen.add(talk.answers)
    return sorted(told, key=lambda one: one.id)
