"""What this process has counted, in Prometheus' text; the exporter is an extra, and loads here."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from opentelemetry import metrics

from drift.core.errors import NotFoundError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@cache
def begin() -> CollectorRegistry | None:
    """Count from now on, beside whatever else reads the metrics; None without the extra."""
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader  # noqa: PLC0415
        from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
        from prometheus_client import CollectorRegistry  # noqa: PLC0415
    except ImportError:
        return None

    registry = CollectorRegistry()
    # The target's labels hold what an environment says of a machine.
    reader = PrometheusMetricReader(True, scope_info_enabled=False, registry=registry)
    if isinstance(provider := metrics.get_meter_provider(), MeterProvider):
        provider.add_metric_reader(reader)
    else:
        metrics.set_meter_provider(MeterProvider([reader]))
    return registry


def text() -> bytes:
    """Return the sums since the process began to count; NotFoundError without the extra."""
    if (registry := begin()) is None:
        raise NotFoundError("Metrics need a package: pip install 'drift-neo4j[metrics]'.")

    from prometheus_client import generate_latest  # noqa: PLC0415 - an extra

    return generate_latest(registry)
