"""The progress of one request: each phase becomes a message, and exactly one last one ends it."""

from __future__ import annotations

import asyncio
import contextlib
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from drift.contracts.progress import CHANNEL, LAST_PHASES, PHASE_PCT, Phase, ProgressMessage
from drift.core.errors import DriftError
from drift.core.folding import whole_words
from drift.core.logs import log
from drift.model.tree import Citation
from drift.ports import ProgressSink

FLUSH_SECONDS = 1.0
"""The most an answer waits for its progress messages; later ones still arrive when they can."""
CANCELLED_FLUSH_SECONDS = 0.25
"""The most a cancelled request waits for them, because another request wants its place."""
MAX_SUMMARY_CHARACTERS = 2_000


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line: no markup, heading, list or rule."""
    line = re.sub(r"([\\`*_\[\]<>|~]|&(?=#?\w{1,32};))", r"\\\1", " ".join(text.split()))
    return re.sub(r"^(\d*)([#+-]|(?<=\d)[.)])(?=[\s#-]|$)", r"\1\\\2", line)


def citation_lines(citations: Iterable[Citation]) -> str:
    """Return citations one a line: `[document_name] "text excerpt"`."""
    lines = []
    for citation in citations:
        excerpt = _cut(" ".join(whole_words(citation.span).split()), 160)
        lines.append(f'[{escape_markdown(citation.document_name)}] "{escape_markdown(excerpt)}"')
    return "\n".join(dict.fromkeys(lines))


def title_lines(summaries: Iterable[str]) -> str:
    """Return a list of titles, which are the first lines of these summaries."""
    titles = (summary.strip().split("\n", 1)[0][:80] for summary in summaries)
    return "\n".join(f"- {escape_markdown(title)}" for title in titles)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + "…"


def name_list(names: Iterable[str], *, bracketed: bool) -> str:
    """Return distinct document names as `a, b` or `[a], [b]`."""
    form = "[{}]" if bracketed else "{}"
    return ", ".join(form.format(escape_markdown(name)) for name in dict.fromkeys(names))


class Progress:
    """Reporter of one request: `async with` it. Reporting never waits.

    After `completed` or `failed` every further report is ignored. Leaving the block sends the last
    message if none was sent, and waits a second at most for the sink.
    """

    def __init__(
        self,
        project_id: str,
        retrieval_id: str,
        sink: ProgressSink | None = None,
        listener: Callable[[str], None] | None = None,
        channel: str = CHANNEL,
    ) -> None:
        """Prepare to publish on this channel; nothing is published yet."""
        self.project_id = project_id
        self.retrieval_id = retrieval_id
        self._sink = sink
        self._listener = listener
        self._channel = channel
        self._pct = 0
        self._ended = False

    async def __aenter__(self) -> Self:
        """Return itself; nothing is sent before the first report."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the last messages arrive; without one the request was cancelled, or crashed."""
        cancelled = kind is None or issubclass(kind, asyncio.CancelledError)
        self.failed(
            "The request was cancelled." if cancelled else "An internal error ended the retrieval."
        )
        if self._sink is not None:
            with _harmless(), contextlib.suppress(TimeoutError):
                async with asyncio.timeout(
                    CANCELLED_FLUSH_SECONDS if kind and cancelled else FLUSH_SECONDS
                ):
                    await self._sink.delivered()

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
            thought_summary=_cut(summary, MAX_SUMMARY_CHARACTERS),
            # Every subscriber reads every message, and a graph's names may be long.
            details_md=_cut(details, 20_000) or None,
            message_id=str(uuid.uuid4()),
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
        ).to_json()
        if self._listener is not None:
            self._listener(message)
        if self._sink is not None:
            with _harmless():
                self._sink.send(message, last=phase in LAST_PHASES, channel=self._channel)

    def completed(self, summary: str, details: str = "") -> None:
        """Report the successful end."""
        self.report(Phase.COMPLETED, summary, details)
        self._ended = True

    def failed(self, reason: str) -> None:
        """Report the failed end, in words that a user may see."""
        self.report(Phase.ERROR, "The retrieval failed.", escape_markdown(reason))
        self._ended = True

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """Report the failure that leaves a block."""
        try:
            yield
        except DriftError as error:
            self.failed(error.detail)
            raise


@contextlib.contextmanager
def _harmless() -> Iterator[None]:
    """Let no failure out: a sink promises not to raise; one that does must not cost the answer."""
    try:
        yield
    except Exception:
        log.warning("progress_publish_failed", exc_info=True)
