"""Servers that note each call to them, for a request that is to be explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from typing import Any

from drift.contracts.explain import CallKind, CallOut
from drift.core import clock
from drift.model.calls import Prompt
from drift.ports import Ports
from drift.telemetry import parts

_SERVERS: tuple[CallKind, ...] = ("chat", "embedder", "reranker", "graph", "passages")
_USED = {"prompt_tokens", "completion_tokens", "retries"}


@dataclass(frozen=True, slots=True)
class _Noted:
    """A server that notes its calls."""

    server: Any
    kind: CallKind
    calls: list[CallOut]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the server has
        found = getattr(self.server, name)
        return self._noting(name, found) if iscoroutinefunction(found) else found

    def _noting(self, method: str, call: Callable[..., Any]) -> Callable[..., Any]:
        async def noted(*given: Any) -> Any:  # noqa: ANN401 - as the method
            name = given[0].name if isinstance(given[0], Prompt) else method
            start, error = clock.seconds(), ""
            with parts.measured() as part:
                try:
                    return await call(*given)
                except BaseException as failure:
                    error = parts.outcome_of(failure)
                    raise
                finally:
                    seconds = round(clock.seconds() - start, 4)
                    models = ", ".join(one.reported or one.asked for one in part.spending.models)
                    used = part.cost.model_dump(include=_USED)
                    about = {"kind": self.kind, "name": name, "model": models, "error": error}
                    told = {"seconds": seconds, **about, **used}
                    self.calls.append(CallOut.model_validate(told))

        return noted


def noting(ports: Ports, calls: list[CallOut]) -> Ports:
    """Return the same servers, of which each call is noted."""
    asked = {name: server for name in _SERVERS if (server := getattr(ports, name)) is not None}
    return replace(ports, **{name: _Noted(server, name, calls) for name, server in asked.items()})
