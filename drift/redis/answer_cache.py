"""Answers that are kept for a day, each by all that it depends on.

They are kept in the process, in a bounded layer, and in Redis, for all processes. The key is a hash
of question, project, the project's version, depth and settings, so that a project which was written
anew has no answers from before.
"""

from __future__ import annotations

import hashlib
import json
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError

from drift.auth.caller import Project
from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.core.logs import log
from drift.ports import GraphReader, Kept
from drift.redis.cache_entries import KEPT_S, LocalEntries, SharedEntries

LOCAL_BYTES = 16 * 1024 * 1024
MOST_BYTES = 256 * 1024
"""A longer answer is not kept."""
_HEAD = struct.Struct("<4sQ16s")
"""The kind of entry, the second until which it counts, a checksum."""
_KIND = b"drA1"


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """Answers of the settings that `settings` names, by projects that `reader` knows."""

    reader: GraphReader
    settings: str
    shared: SharedEntries | None = None
    local: LocalEntries = field(default_factory=lambda: LocalEntries(LOCAL_BYTES))
    now: Callable[[], float] = time.time

    def slot(self, project: Project, asked: BaseModel) -> CachedAnswer:
        """Return where the answer to what is asked of a project is kept."""
        return CachedAnswer(self, project, asked)

    async def entry(self, key: str) -> bytes | None:
        """Return what stands under a key, whatever it is."""
        entry = self.local.get(key)
        if entry is None and self.shared:
            entry = (await self.shared.get([key])).get(key)
        return entry


@dataclass(slots=True)
class CachedAnswer:
    """AnswerSlot: an entry of other bytes is no answer, whatever it holds."""

    cache: AnswerCache
    project: Project
    asked: BaseModel
    _key: str | None = None

    async def recall(self, shape: type[Kept], deadline: Deadline) -> Kept | None:
        """Return the answer that is kept; None where there is none of this shape."""
        self._key = await self._named(deadline)
        if self._key is None:
            return None
        entry = await self.cache.entry(self._key) or b""
        body = _body(self._key, entry, self.cache.now())
        if body is None:
            return None
        try:
            known = shape.model_validate_json(body)
        except ValidationError:
            return None
        self.cache.local.put(self._key, entry)
        return known

    def keep(self, answer: BaseModel) -> None:
        """Keep an answer to what was asked, of the project as it was then; nobody waits for it."""
        body = answer.model_dump_json().encode()
        if self._key is None or len(body) > MOST_BYTES:
            return
        entry = _entry(self._key, body, int(self.cache.now()) + KEPT_S)
        self.cache.local.put(self._key, entry)
        if self.cache.shared:
            self.cache.shared.put({self._key: entry})

    async def _named(self, deadline: Deadline) -> str | None:
        """Return the key; None where the project's version cannot be told."""
        try:
            version = await self.cache.reader.version(self.project, deadline)
        except DriftError as error:
            # The search meets the same graph, and says what is wrong with it.
            log.info("answer_cache_unasked", extra={"reason": error.detail})
            return None
        if version is None:
            return None
        kind, asked = type(self.asked).__name__, self.asked.model_dump_json()
        named = [self.cache.settings, self.project.id, version, kind, asked]
        return f"answer:{hashlib.sha256(json.dumps(named).encode()).hexdigest()}"


def _entry(key: str, body: bytes, until: int) -> bytes:
    return _HEAD.pack(_KIND, until, _checksum(key, until, body)) + body


def _body(key: str, entry: bytes, now: float) -> bytes | None:
    """Return what was kept under this key; None for anything else."""
    if len(entry) < _HEAD.size:
        return None
    kind, until, checksum = _HEAD.unpack_from(entry)
    body = entry[_HEAD.size :]
    is_whole = kind == _KIND and until > now and checksum == _checksum(key, until, body)
    return body if is_whole else None


def _checksum(key: str, until: int, body: bytes) -> bytes:
    return hashlib.sha256(b"".join((key.encode(), _KIND, until.to_bytes(8), body))).digest()[:16]
