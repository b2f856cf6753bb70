"""What an operator sees of a request: each part is timed, logged as one line, and a span with metrics where those are on.

A part is a `with` block in the story it measures. Client calls inside it, however deep, add their seconds to it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from drift import otel
from drift.contracts import Phase
from drift.errors import DriftError
from drift.logs import bound, chain, log
from drift.model import CitationCounts, Tokens
from drift.usage import Meter

SPAN_NAMES: Mapping[Phase, str] = {
    Phase.EXPANDING_QUERY: "expand query",
    Phase.RETRIEVING_COMMUNITIES: "primer",
    Phase.EXECUTING_FOLLOWUP: "followups",
    Phase.AGGREGATING_RESULTS: "aggregate",
}

Operation = Literal["chat", "embeddings"]
Statement = Literal["read", "write"]
_SECONDS_OF = {"chat": "chat_s", "embeddings": "embedding_s", "graph": "graph_s"}


@dataclass(slots=True)
class Part:
    """A part of a request while it runs: `fields` go into its log line and its span, `client_s` sums seconds of calls."""

    fields: dict[str, object]
    client_s: dict[str, float] = field(default_factory=dict)
    outcome: str = "ok"
    duration_s: float = 0.0

    def add(self, **fields: object) -> None:
        """Add counts; never text."""
        self.fields.update(fields)

    def spend(self, kind: str, seconds: float) -> None:
        """Add the seconds of client calls."""
        self.client_s[kind] = self.client_s.get(kind, 0.0) + seconds

    def receive(self, inner: Part) -> None:
        """Add what the calls of an inner part took; of calls at the same time, the sum."""
        for kind, seconds in inner.client_s.items():
            self.spend(kind, seconds)


_current: ContextVar[Part | None] = ContextVar("drift_part", default=None)

CANCELLED = "cancelled"


@contextmanager
def _part(name: str, event: str, ended: Callable[[Part], Mapping[str, object]], **fields: object) -> Iterator[Part]:
    """Measure a block: a span, and a log line at its end with what `ended` returns besides the part's own fields."""
    part, outer = Part(dict(fields)), _current.get()
    token = _current.set(part)
    start = time.monotonic()
    with otel.span(name) as span, bound(trace_id=span.trace_id):
        try:
            yield part
        except BaseException as error:
            part.outcome = outcome_of(error)
            if part.outcome != CANCELLED:
                span.failed(part.outcome)
            raise
        finally:
            _current.reset(token)
            part.duration_s = time.monotonic() - start
            if outer is not None:
                outer.receive(part)
            own = {**part.fields, "outcome": part.outcome}
            span.set({f"drift.{key}": value for key, value in own.items() if isinstance(value, str | int | float)})
            log.info(event, extra={**own, "duration_s": part.duration_s, **part.client_s, **ended(part)})


def outcome_of(error: BaseException) -> str:
    """Return the code of an error of ours, `cancelled`, or `internal` for one that nobody foresaw."""
    if isinstance(error, DriftError):
        return error.code
    return CANCELLED if isinstance(error, asyncio.CancelledError) else DriftError.code


# ------------------------------------------------------------------------------------------- parts of a request
def retrieval(retrieval_id: str, project_id: str, meter: Meter) -> AbstractContextManager[Part]:
    """Measure a whole retrieval; its last line holds what its phases have counted, and all that it cost."""

    def ended(part: Part) -> Mapping[str, object]:
        about = {"outcome": part.outcome}
        otel.count("drift.retrievals", 1, about)
        otel.record("drift.retrieval.duration", part.duration_s, about)
        return meter.report(0).model_dump(exclude={"phases", "wall_seconds", "critical_path_seconds"})

    return _part("retrieve", "retrieval_ended", ended, retrieval_id=retrieval_id, project_id=project_id)


def refused(code: str) -> None:
    """Count a retrieval that was not begun."""
    otel.count("drift.retrievals", 1, {"outcome": code})


def phase(which: Phase, meter: Meter) -> AbstractContextManager[Part]:
    """Measure a phase: what it counts is part of the retrieval's last line too, its tokens are those of the meter."""
    outer = _current.get()

    def ended(part: Part) -> Mapping[str, object]:
        usage, about = meter.of(which), {"phase": which.value}
        otel.record("drift.phase.duration", part.duration_s, {**about, "outcome": part.outcome})
        for kind in ("prompt", "completion", "cached"):
            otel.count("drift.tokens", getattr(usage, f"{kind}_tokens"), {**about, "kind": kind})
        if outer is not None:
            outer.add(**{name: value for name, value in part.fields.items() if name != "phase"})
        return usage.model_dump()

    return _part(SPAN_NAMES[which], "phase_ended", ended, phase=which.value)


def followup(number: int, depth: int) -> AbstractContextManager[Part]:
    """Measure one follow-up by its number in the tree."""
    return _part("followup", "followup_ended", lambda _part: {}, followup=number, depth=depth)


def count_followups(part: Part, states: Iterable[str], citations: CitationCounts) -> None:
    """Count how the follow-ups of a phase have ended, by the words of `Node.state`, and what became of their citations."""
    by_state = Counter(states)
    by_word: Counter[str] = Counter()
    for state, number in by_state.items():
        word, _, code = state.partition(": ")
        by_word[word] += number
        if word == "failed":
            otel.count("drift.followups.failed", number, {"code": code})
    for reason, number in citations.dropped.items():
        otel.count("drift.citations.dropped", number, {"reason": reason})
    part.add(followups=by_state.total())
    part.add(**{f"followups_{word}": by_word[word] for word in ("answered", "failed", "no_evidence", "skipped")})
    part.add(citations=citations.total, citations_kept=citations.kept, citations_repaired=citations.repaired)
    part.add(citations_dropped=sum(citations.dropped.values()))


# ------------------------------------------------------------------------------------------------- client calls
@dataclass(slots=True)
class Call:
    """A request to a server while it runs; `tokens` and `model` are what its answer says."""

    tokens: Tokens = field(default_factory=Tokens)
    model: str = ""


@contextmanager
def model_call(operation: Operation, model: str, provider: str) -> Iterator[Call]:
    """Measure one request to the model server by the `gen_ai` conventions; a repeated request is a call of its own."""
    about = {"gen_ai.operation.name": operation, "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    call = Call()
    with _client(f"{operation} {model}", operation, "gen_ai.client.operation.duration", about) as span:
        yield call
        used = {"input": call.tokens.prompt, "output": call.tokens.completion}
        span.set({f"gen_ai.usage.{kind}_tokens": number for kind, number in used.items()})
        if call.model:
            span.set({"gen_ai.response.model": call.model})
        for kind, number in used.items():
            if number:
                otel.record("gen_ai.client.token.usage", number, {**about, "gen_ai.token.type": kind})


@contextmanager
def graph_call(operation: Statement, database: str) -> Iterator[None]:
    """Measure one statement by the `db` conventions; its text is not kept."""
    about = {"db.system.name": "neo4j", "db.namespace": database, "db.operation.name": operation}
    with _client(f"{operation} {database}", "graph", "db.client.operation.duration", about):
        yield


@contextmanager
def _client(name: str, kind: str, metric: str, about: dict[str, str]) -> Iterator[otel.Span]:
    failure: dict[str, str] = {}
    start = time.monotonic()
    try:
        with otel.span(name, about, client=True) as span:
            try:
                yield span
            except BaseException as error:
                failure = {"error.type": _kind(error)}
                span.failed(failure["error.type"])
                raise
    finally:
        spent = time.monotonic() - start
        otel.record(metric, spent, {**about, **failure})
        if part := _current.get():
            part.spend(_SECONDS_OF[kind], spent)


def _kind(error: BaseException) -> str:
    """Return an HTTP status, a status code of Neo4j, or a class name."""
    code = str(getattr(error, "code", ""))
    return str(getattr(error, "status_code", None) or (code if code.startswith("Neo.") else type(error).__name__))


def retrying(error: BaseException, attempt: int, wait_s: float) -> None:
    """Say that a call is repeated after `wait_s` seconds because attempt number `attempt` failed."""
    otel.count("drift.retries", 1, {"error.type": _kind(error)})
    log.warning("retrying", extra={"attempt": attempt, "wait_s": wait_s, "cause": chain(error)})
