"""Answers that are kept for a day, each by all that it depends on, its project's version too."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from drift.auth.caller import Project
from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.core.logs import log
from drift.ports import GraphReader, Kept
from drift.redis.entries import CacheEntries

LOCAL_BYTES = 16 * 1024 * 1024
MOST_BYTES = 256 * 1024  # a longer answer is not kept


@dataclass(slots=True)
class CachedAnswer:
    """AnswerSlot: one answer of these settings, under the project's version when it was asked."""

    reader: GraphReader
    settings: str
    entries: CacheEntries
    project: Project
    asked: BaseModel
    _key: str | None = None

    async def recall(self, shape: type[Kept], deadline: Deadline) -> Kept | None:
        """Return the answer that is kept; None where there is none of this shape."""
        self._key = await self._find_key(deadline)
        if self._key is None:
            return None

        body = (await self.entries.get([self._key])).get(self._key)
        try:
            return shape.model_validate_json(body) if body else None
        except ValidationError:
            return None

    def keep(self, answer: BaseModel) -> None:
        """Keep an answer to what was asked, of the project as it was then; nobody waits for it."""
        body = answer.model_dump_json().encode()
        if self._key is not None and len(body) <= MOST_BYTES:
            self.entries.put({self._key: body})

    async def _find_key(self, deadline: Deadline) -> str | None:
        try:
            version = await self.reader.version(self.project, deadline)
        except DriftError as error:
            # The search meets the same graph, and says what is wrong with it.
            log.info("answer_cache_unasked", extra={"reason": error.detail})
            return None

        if version is None:
            return None

        kind, asked = type(self.asked).__name__, self.asked.model_dump_json()
        # 2 is the format of entries: another one has other keys.
        named = [2, self.settings, self.project.id, version, kind, asked]
        return f"answer:{hashlib.sha256(json.dumps(named).encode()).hexdigest()}"
