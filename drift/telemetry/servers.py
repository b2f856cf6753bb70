"""Requests to servers: a span, a duration, and their cost in the part around them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from drift.core import clock
from drift.core.logs import chain, log
from drift.model.calls import Cost, ModelName, Spending, Tokens
from drift.telemetry import otel
from drift.telemetry.parts import current

Operation = Literal["chat", "embeddings", "rerank"]
Statement = Literal["read", "write"]


@dataclass(slots=True)
class ServerCall:
    """A request to a server while it runs; `tokens` and `model` are those of its answer."""

    tokens: Tokens = field(default_factory=Tokens)
    model: str = ""


@contextmanager
def model_call(operation: Operation, model: str, provider: str) -> Iterator[ServerCall]:
    """Measure one request to the model server by the `gen_ai` conventions."""
    about = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
    }
    call = ServerCall()
    seconds = {"chat": "chat_s", "embeddings": "embedding_s", "rerank": "rerank_s"}[operation]
    duration = "gen_ai.client.operation.duration"
    with (
        _client(f"{operation} {model}", seconds, duration, about) as span,
        _spending(call, operation, model),
    ):
        yield call
        used = {"input": call.tokens.prompt, "output": call.tokens.completion}
        shares = {
            "cache_read.input": call.tokens.cached,
            "cache_creation.input": call.tokens.cache_write,
            "reasoning.output": call.tokens.reasoning,
        }
        reported = used | {kind: number for kind, number in shares.items() if number}
        span.set_attributes(
            {f"gen_ai.usage.{kind}_tokens": number for kind, number in reported.items()}
        )
        if call.model:
            span.set_attribute("gen_ai.response.model", call.model)

        for kind, number in used.items():
            if number:
                otel.record(
                    "gen_ai.client.token.usage", number, {**about, "gen_ai.token.type": kind}
                )


@contextmanager
def _spending(call: ServerCall, operation: Operation, model: str) -> Iterator[None]:
    """Add the tokens of a request to the part around it; an interrupted one may be billed."""
    part = current()
    spending, cost = (part.spending, part.cost) if part else (Spending(), Cost())
    try:
        yield
    except BaseException as error:
        spending.uncounted += not hasattr(error, "status_code")
        raise

    cost.answered(call.tokens)
    if call.tokens.prompt and (call.tokens.completion or operation != "chat"):
        spending.answered(ModelName(call.model, model), call.tokens)
    else:
        spending.uncounted += 1


@contextmanager
def graph_call(operation: Statement, database: str | None) -> Iterator[None]:
    """Measure one statement by the `db` conventions; its text is not kept.

    The name of a home database is not known.
    """
    about = {"db.system.name": "neo4j", "db.operation.name": operation}
    if database:
        about["db.namespace"] = database
    with _client(
        f"{operation} {database or 'neo4j'}", "graph_s", "db.client.operation.duration", about
    ):
        yield


@contextmanager
def _client(name: str, seconds: str, metric: str, about: dict[str, str]) -> Iterator[otel.Span]:
    failure: dict[str, str] = {}
    start = clock.seconds()
    try:
        with otel.span(name, about, client=True) as span:
            try:
                yield span
            except BaseException as error:
                failure = {"error.type": _kind(error)}
                otel.mark_failed(span, failure["error.type"])
                raise
    finally:
        spent = clock.seconds() - start
        otel.record(metric, spent, {**about, **failure})
        if part := current():
            part.spend(seconds, spent)


def _kind(error: BaseException) -> str:
    code = str(getattr(error, "code", ""))
    return str(
        getattr(error, "status_code", None)
        or (code if code.startswith("Neo.") else type(error).__name__)
    )


def retrying(error: BaseException, attempt: int, wait_s: float) -> None:
    """Log and count that a call is repeated after `wait_s` seconds, because an attempt failed."""
    otel.count("drift.retries", 1, {"error.type": _kind(error)})
    log.warning("retrying", extra={"attempt": attempt, "wait_s": wait_s, "cause": chain(error)})
