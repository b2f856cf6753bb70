"""OpenTelemetry: spans, metrics, and the W3C trace context.

Who deploys sets up the SDK and its exporters; without one every call returns at once. No exception
text reaches a span: it may hold addresses, keys or a prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from opentelemetry import context as otel_context
from opentelemetry import metrics, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from drift.core.logs import bound

Span = trace.Span
Attributes = Mapping[str, str | int | float | bool]

_SECONDS = tuple(0.01 * 2**n for n in range(15))

COUNTERS: Mapping[str, tuple[str, str]] = {
    "drift.retrievals": ("{retrieval}", "Retrievals that ended, by outcome"),
    "drift.rag.queries": ("{query}", "Questions to the nodes that ended, by outcome"),
    "drift.answers.recalled": ("{answer}", "Answers that were found for an earlier request"),
    "drift.nodes.reconciled": ("{label}", "Labels looked at in a project, by outcome"),
    "drift.nodes.mended": ("{node}", "Nodes that were given a vector, or lost one of no text"),
    "drift.tokens": ("{token}", "Tokens as the provider reported them, by phase and kind"),
    "drift.retries": ("{retry}", "Calls to the model server that were repeated, by cause"),
    "drift.followups.failed": ("{followup}", "Follow-ups that a failure has cost, by code"),
    "drift.citations.dropped": ("{citation}", "Citations that did not hold, by reason"),
}
"""Unit and meaning by name."""

HISTOGRAMS: Mapping[str, tuple[str, str, tuple[float, ...]]] = {
    "drift.retrieval.duration": ("s", "Time of one retrieval, by outcome", _SECONDS),
    "drift.rag.duration": ("s", "Time of one question to the nodes, by outcome", _SECONDS),
    "drift.rag.score": (
        "1",
        "Raw cosine of a nearest node, by whether it is near",
        tuple(n / 20 for n in range(-4, 21)),
    ),
    "drift.phase.duration": ("s", "Time of one phase, by phase and outcome", _SECONDS),
    "gen_ai.client.operation.duration": ("s", "Time of one request to the model server", _SECONDS),
    "gen_ai.client.token.usage": (
        "{token}",
        "Tokens of one request to the model server",
        tuple(4**n for n in range(11)),
    ),
    "db.client.operation.duration": ("s", "Time of one statement", _SECONDS),
}
"""Unit, meaning and buckets by name; the last three are OpenTelemetry's own conventions."""

_tracer = trace.get_tracer("drift")
_meter = metrics.get_meter("drift")
_counters = {
    name: _meter.create_counter(name, unit, meaning) for name, (unit, meaning) in COUNTERS.items()
}
_histograms = {
    name: _meter.create_histogram(name, unit, meaning, explicit_bucket_boundaries_advisory=buckets)
    for name, (unit, meaning, buckets) in HISTOGRAMS.items()
}
_trace_headers = TraceContextTextMapPropagator()


def count(name: str, value: int, attributes: Attributes) -> None:
    """Add to one of COUNTERS."""
    if value:
        _counters[name].add(value, attributes)


def record(name: str, value: float, attributes: Attributes) -> None:
    """Add a value to one of HISTOGRAMS."""
    _histograms[name].record(value, attributes)


def span(
    name: str, attributes: Attributes | None = None, *, client: bool = False
) -> AbstractContextManager[Span]:
    """Open a span below the current one while the block runs; `client` for calls to servers."""
    kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
    return _tracer.start_as_current_span(
        name,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    )


def mark_failed(span: Span, kind: str) -> None:
    """Mark a span as failed; `kind` is a class name, a code or a status."""
    span.set_attribute("error.type", kind)
    span.set_status(trace.StatusCode.ERROR)


def trace_id(span: Span) -> str | None:
    """Return 32 hexadecimal digits; None when nothing is traced."""
    context = span.get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else None


# ------------------------------------------------------------------------------------ trace context
def outgoing() -> dict[str, str]:
    """Return the headers that carry the current trace on; none without a trace."""
    headers: dict[str, str] = {}
    _trace_headers.inject(headers)
    return headers


class Invocation(Protocol):
    """One call as the platform describes it; it may also have a `trace_context`."""

    @property
    def invocation_id(self) -> str:
        """The platform's own id of the call."""


@contextmanager
def invocation(context: Invocation, headers: Mapping[str, str]) -> Iterator[None]:
    """Bind a call's ids to its log lines and continue its caller's trace, in tasks started too.

    The trace is that of a span which is current already, else that of the platform's context, else
    that of the headers.
    """
    current = otel_context.get_current()
    if trace_id(trace.get_current_span(current)) is None:
        platform = getattr(context, "trace_context", None)
        of_platform = {
            "traceparent": getattr(platform, "trace_parent", None) or "",
            "tracestate": getattr(platform, "trace_state", None) or "",
        }
        current = _trace_headers.extract(of_platform)
    if trace_id(trace.get_current_span(current)) is None:
        current = _trace_headers.extract(headers)

    attached = otel_context.attach(current)
    try:
        id_ = trace_id(trace.get_current_span())
        with bound(invocation_id=context.invocation_id, trace_id=id_):
            yield
    finally:
        otel_context.detach(attached)
