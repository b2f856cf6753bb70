"""OpenTelemetry's SDK in memory: what a request leaves there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@dataclass(frozen=True)
class Recorded:
    """Spans and metrics since the test began."""

    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader

    def spans(self, name: str = "") -> list[ReadableSpan]:
        """Return the ended spans whose name begins with this."""
        return [span for span in self.exporter.get_finished_spans() if span.name.startswith(name)]

    def span(self, name: str) -> ReadableSpan:
        """Return the only span of that name."""
        [found] = [span for span in self.spans() if span.name == name]
        return found

    def points(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """Return attributes and sum of every point since the last call, by the metric's name."""
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        every = [
            m
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for m in scope.metrics
        ]
        return {
            metric.name: [
                (dict(p.attributes), getattr(p, "value", getattr(p, "sum", 0)))
                for p in metric.data.data_points
            ]
            for metric in every
        }

    def everything(self) -> str:
        """Return every name, attribute, event and status as text."""
        spans = [
            (s.name, dict(s.attributes or {}), s.events, s.status.description) for s in self.spans()
        ]
        return repr((spans, self.points()))


@pytest.fixture(scope="session")
def _telemetry() -> Recorded:
    """Set the SDK up once: a process has one provider of each kind."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    delta = AggregationTemporality.DELTA
    reader = InMemoryMetricReader(preferred_temporality={Counter: delta, Histogram: delta})
    if isinstance(there := metrics.get_meter_provider(), MeterProvider):
        there.add_metric_reader(reader)  # an earlier test has asked for what Prometheus reads
    else:
        metrics.set_meter_provider(MeterProvider([reader], shutdown_on_exit=False))
    return Recorded(exporter, reader)


@pytest.fixture
def recorded(_telemetry: Recorded) -> Iterator[Recorded]:
    """What is recorded from now on."""
    _telemetry.points()
    _telemetry.exporter.clear()
    yield _telemetry
    _telemetry.exporter.clear()
