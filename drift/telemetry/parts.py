"""The parts of a request: each is timed, counted and logged, and becomes a span.

A part is a `with` block. Calls inside add their cost to it, and it adds that to the part around it,
so that usage, log lines, spans and metrics read the same counts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial

from drift.contracts.answer import UsageOut
from drift.contracts.progress import Phase
from drift.core import clock
from drift.core.errors import DriftError, UnusableReplyError
from drift.core.logs import bound, log
from drift.model.calls import Cost, PhaseUsage, Spending
from drift.model.tree import CitationCounts, FollowupState
from drift.telemetry import arrivals, otel

SPAN_NAMES: Mapping[Phase, str] = {
    Phase.EXPANDING_QUERY: "expand query",
    Phase.RETRIEVING_COMMUNITIES: "primer",
    Phase.EXECUTING_FOLLOWUP: "followups",
    Phase.AGGREGATING_RESULTS: "aggregate",
}


CANCELLED = "cancelled"


@dataclass(slots=True)
class Part:
    """A part of a request while it runs: `fields` go into its log line and its span.

    `client_s` are the seconds of requests to each kind of server, `critical_path_s` those of its
    longest chain of calls that waited for each other; None means that all of its calls did.
    """

    fields: dict[str, object]
    cost: Cost = field(default_factory=Cost)
    spending: Spending = field(default_factory=Spending)
    client_s: dict[str, float] = field(default_factory=dict)
    phases: dict[Phase, Part] = field(default_factory=dict)
    critical_path_s: float | None = None
    outcome: str = "ok"
    duration_s: float = 0.0

    def add(self, **fields: object) -> None:
        """Add counts; never text."""
        self.fields.update(fields)

    def spend(self, kind: str, seconds: float) -> None:
        """Add the seconds of requests to a server."""
        self.client_s[kind] = self.client_s.get(kind, 0.0) + seconds

    def receive(self, inner: Part) -> None:
        """Add the cost of an inner part, and the phases in it."""
        self.cost.add(inner.cost)
        self.spending.add(inner.spending)
        self.phases |= inner.phases

        for kind, seconds in inner.client_s.items():
            self.spend(kind, seconds)

    def usage(self) -> UsageOut:
        """Return the cost of an ended retrieval, as callers read it."""
        chains = (
            part.cost.waited_s if part.critical_path_s is None else part.critical_path_s
            for part in self.phases.values()
        )
        phases = {
            phase.value: PhaseUsage(**part.cost.of_models(), seconds=round(part.duration_s, 4))
            for phase, part in self.phases.items()
        }

        return UsageOut(
            **self.cost.model_dump(exclude={"waited_s"}),
            wall_seconds=round(self.duration_s, 4),
            critical_path_seconds=round(sum(chains), 4),
            phases=phases,
        )


_current: ContextVar[Part | None] = ContextVar("drift_part", default=None)


def current() -> Part | None:
    """Return the part that runs; None outside of any."""
    return _current.get()


@contextmanager
def _part(
    name: str, event: str | None, ended: Callable[[Part], Mapping[str, object]], **fields: object
) -> Iterator[Part]:
    """Measure a block with a span, and an `event` at its end that holds what `ended` gives."""
    part, outer = Part(dict(fields)), _current.get()
    token = _current.set(part)
    start = clock.seconds()

    with otel.span(name) as span, bound(trace_id=otel.trace_id(span)):
        try:
            yield part
        except BaseException as error:
            part.outcome = outcome_of(error)
            if part.outcome != CANCELLED:
                otel.mark_failed(span, part.outcome)
            raise
        finally:
            _current.reset(token)
            part.duration_s = clock.seconds() - start
            if outer is not None:
                outer.receive(part)

            written = {**part.fields, "outcome": part.outcome}
            for key, value in written.items():
                if isinstance(value, str | int | float):
                    span.set_attribute(f"drift.{key}", value)

            times = {"duration_s": part.duration_s, **part.client_s}
            if event:
                log.info(event, extra={**written, **times, **ended(part)})


def outcome_of(error: BaseException) -> str:
    """Return the code of an error of ours, `cancelled`, or `internal` for an unforeseen error."""
    if isinstance(error, DriftError):
        return error.code
    return CANCELLED if isinstance(error, asyncio.CancelledError) else DriftError.code


@contextmanager
def measured() -> Iterator[Part]:
    """Sum the cost of a block for our own account, without a span or a log line.

    The part around it gets it too.
    """
    part, outer = Part({}), _current.get()
    token = _current.set(part)
    try:
        yield part
    finally:
        _current.reset(token)
        if outer is not None:
            outer.receive(part)


# ------------------------------------------------------------------------------- parts of a request
def retrieval(retrieval_id: str, project_id: str) -> AbstractContextManager[Part]:
    """Measure a whole retrieval; its last line holds the counts of its phases, and its cost."""
    ended = partial(_request_ended, "drift.retrievals", "drift.retrieval.duration")
    ids = {"retrieval_id": retrieval_id, "project_id": project_id}
    return _part("retrieve", "retrieval_ended", ended, **ids)


def rag(retrieval_id: str, project_id: str) -> AbstractContextManager[Part]:
    """Measure a whole question to the nodes; its last line holds its counts and its cost."""
    ended = partial(_request_ended, "drift.rag.queries", "drift.rag.duration")
    return _part("rag query", "rag_ended", ended, retrieval_id=retrieval_id, project_id=project_id)


def _request_ended(counter: str, histogram: str, part: Part) -> Mapping[str, object]:
    # Whoever asked has waited since the request came, so that it is what a search took.
    part.duration_s = max(part.duration_s, clock.seconds() - arrivals.current().at)
    about = {"outcome": part.outcome}
    otel.count(counter, 1, about)
    otel.record(histogram, part.duration_s, about)
    whole = {"duration_s": part.duration_s, "graph_round_trips": part.cost.graph_round_trips}
    return {**part.cost.of_models(), **whole}


def reconciling(project_id: str, label: str) -> AbstractContextManager[Part]:
    """Measure a look at one label in one project; its line holds the differences."""

    def ended(part: Part) -> Mapping[str, object]:
        otel.count("drift.nodes.reconciled", 1, {"outcome": part.outcome})
        otel.count("drift.nodes.mended", int(str(part.fields.get("mended", 0))), {})
        return {}

    return _part("reconcile", "nodes_reconciled", ended, project_id=project_id, label=label)


def scored(scores: Sequence[float], threshold: float | None) -> None:
    """Log how near the nearest nodes are, and count them, so that the threshold can be tuned."""
    for score in scores:
        is_near = threshold is None or score >= threshold
        otel.record("drift.rag.score", score, {"near": str(is_near).lower()})
    log.info("rag_scored", extra={"scores": list(scores), "threshold": threshold})


def recalled() -> None:
    """Count an answer that was found for an earlier request, and say so on the part's last line."""
    otel.count("drift.answers.recalled", 1, {})
    arrivals.tell(from_cache=True)
    if part := _current.get():
        part.add(from_cache=1)


def refused(code: str) -> None:
    """Count a retrieval that was not begun."""
    otel.count("drift.retrievals", 1, {"outcome": code})


def phase(which: Phase) -> AbstractContextManager[Part]:
    """Measure a phase of a retrieval; its counts are part of the retrieval's last line too."""
    whole = _current.get()

    def ended(part: Part) -> Mapping[str, object]:
        about = {"phase": which.value}
        otel.record("drift.phase.duration", part.duration_s, {**about, "outcome": part.outcome})
        for kind in ("prompt", "completion", "cached", "cache_write", "reasoning"):
            tokens = getattr(part.cost, f"{kind}_tokens")
            otel.count("drift.tokens", tokens, {**about, "kind": kind})

        costs = part.cost.of_models()
        if whole is not None:
            if earlier := whole.phases.get(which):  # topics were read, and held no answer
                part.receive(earlier)
                part.duration_s += earlier.duration_s
            whole.phases[which] = part
            whole.add(**{name: value for name, value in part.fields.items() if name != "phase"})

        return costs

    return _part(SPAN_NAMES[which], "phase_ended", ended, phase=which.value)


def followup(number: int, depth: int) -> AbstractContextManager[Part]:
    """Measure the search for the evidence of one follow-up, by its number in the tree."""
    return _part("followup", None, lambda _part: {}, followup=number, depth=depth)


def reading(followups: int) -> AbstractContextManager[Part]:
    """Measure the call that answers so many follow-ups together."""
    return _part("executor", "followups_read", lambda _part: {}, followups=followups)


def count_followups(part: Part, states: Iterable[FollowupState], citations: CitationCounts) -> None:
    """Count the ends of a phase's follow-ups, and the results of their citations."""
    states_counted = ("answered", "failed", "no_evidence", "skipped")
    ended = tuple(states)
    by_kind = Counter[str](state.kind for state in ended)
    failed = Counter(state.reason for state in ended if state.kind == "failed")
    for code, number in failed.items():
        otel.count("drift.followups.failed", number, {"code": code})

    for reason, number in citations.dropped.items():
        otel.count("drift.citations.dropped", number, {"reason": reason})

    part.add(followups=len(ended))
    part.add(**{f"followups_{kind}": by_kind[kind] for kind in states_counted})
    part.add(
        citations=citations.total,
        citations_kept=citations.kept,
        citations_repaired=citations.repaired,
        citations_dropped=sum(citations.dropped.values()),
    )


@contextmanager
def waiting() -> Iterator[Cost]:
    """Add the seconds of a call to the part around it; the call counts itself in the given cost."""
    part = _current.get()
    cost = part.cost if part else Cost()
    start = clock.seconds()

    try:
        yield cost
    finally:
        cost.waited_s += clock.seconds() - start


@contextmanager
def round_trip() -> Iterator[None]:
    """Count a statement of a search, and the seconds that are waited for it."""
    with waiting() as cost:
        cost.graph_round_trips += 1
        yield


@contextmanager
def chatting() -> Iterator[Cost]:
    """Count a chat call; one whose reply cannot be used is a call too."""
    with waiting() as cost:
        try:
            yield cost
        except UnusableReplyError:
            cost.chat_calls += 1
            raise
        cost.chat_calls += 1
