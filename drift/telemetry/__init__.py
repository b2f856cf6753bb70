"""Telemetry of a request: its parts, their cost, log lines, spans and metrics."""
