"""One request's progress: phases become messages, the percentage never falls, exactly one last message ends it."""

from __future__ import annotations

import asyncio
import contextlib
import re
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from drift.contracts import PHASE_PCT, Phase, ProgressMessage
from drift.logs import log
from drift.model import Citation
from drift.ports import ProgressSink

FLUSH_SECONDS = 1.0
"""The most an answer waits for its progress messages to leave."""
CANCELLED_FLUSH_SECONDS = 0.25
"""The most a cancelled request waits for them: nobody waits for its answer, and its slot is wanted."""
EXCERPT_CHARACTERS = 160

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~]|&(?=#?\w{1,32};))")
_MARKDOWN_AT_START = re.compile(r"^(\d*)([#+-]|(?<=\d)[.)])(?=[\s#-]|$)")


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line; no heading, list or rule begins with it."""
    return _MARKDOWN_AT_START.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", " ".join(text.split())))


def citation_lines(citations: Iterable[Citation]) -> str:
    """Return citations one a line: `[document_name] "text excerpt"`."""
    lines = []
    for citation in citations:
        excerpt = " ".join(citation.span.split())
        if len(excerpt) > EXCERPT_CHARACTERS:
            excerpt = excerpt[:EXCERPT_CHARACTERS].rstrip() + "…"
        lines.append(f'[{escape_markdown(citation.document_name)}] "{escape_markdown(excerpt)}"')
    return "\n".join(dict.fromkeys(lines))


def name_list(names: Iterable[str], *, bracketed: bool) -> str:
    """Return distinct document names as `a, b` or `[a], [b]`."""
    form = "[{}]" if bracketed else "{}"
    return ", ".join(form.format(escape_markdown(name)) for name in dict.fromkeys(names))


class Progress:
    """Reporter of one request: `async with` it; reporting never waits, publishing happens beside the search.

    Messages go to the sink in order and, as they are made, to the `listener`. After `completed` or `failed` every further
    report is ignored; leaving the block waits at most a second for the sink.
    """

    def __init__(
        self,
        project_id: str,
        retrieval_id: str,
        sink: ProgressSink | None = None,
        listener: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare; nothing is published yet."""
        self.project_id = project_id
        self.retrieval_id = retrieval_id
        self._sink = sink
        self._listener = listener
        self._pct = 0
        self._ended = False
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._publisher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start publishing."""
        if self._sink is not None:
            self._publisher = asyncio.create_task(self._publish(self._sink))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the last messages leave; a request that ends without a last message was cancelled, or crashed."""
        cancelled = kind is None or issubclass(kind, asyncio.CancelledError)
        self.failed("The request was cancelled." if cancelled else "An internal error ended the retrieval.")
        if self._publisher is None:
            return
        self._queue.put_nowait(None)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._publisher, CANCELLED_FLUSH_SECONDS if kind and cancelled else FLUSH_SECONDS)

    def report(self, phase: Phase, summary: str, details: str = "", pct: int | None = None) -> None:
        """Report a phase with a line for people; `pct` overrides the phase's own percentage."""
        if self._ended:
            return
        self._pct = max(self._pct, PHASE_PCT.get(phase, 0) if pct is None else pct)
        message = ProgressMessage(
            project_id=self.project_id,
            retrieval_id=self.retrieval_id,
            phase=phase,
            progress_pct=self._pct,
            thought_summary=summary,
            details_md=details or None,
            message_id=str(uuid.uuid4()),
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
        ).to_json()
        if self._listener is not None:
            self._listener(message)
        if self._publisher is not None:
            self._queue.put_nowait(message)

    def completed(self, summary: str, details: str = "") -> None:
        """Report the successful end."""
        self.report(Phase.COMPLETED, summary, details)
        self._ended = True

    def failed(self, reason: str) -> None:
        """Report the failed end, in words that a user may see."""
        self.report(Phase.ERROR, "The retrieval failed.", escape_markdown(reason))
        self._ended = True

    async def _publish(self, sink: ProgressSink) -> None:
        while (message := await self._queue.get()) is not None:
            try:
                await sink.publish(message)
            except Exception:  # a sink promises not to raise; one that does must not cost the answer
                log.warning("progress_publish_failed", exc_info=True)
