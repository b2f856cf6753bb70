"""The functions of an app as the worker library knows them."""

from __future__ import annotations

import contextvars
import gc
import json
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import azure_functions_runtime as worker
from azure_functions_runtime.http_v2 import http_coordinator

from tests.runtime.worker.messages import SUCCESS, Message, envelope

INVOCATION = contextvars.ContextVar("invocation", default="")
"""Set around each invocation, as the worker process does."""


def successful(reply: Any) -> Any:
    """Return the worker's reply; end with its reason when it failed.

    The platform would then show no function at all.
    """
    if reply.result.status != SUCCESS:
        sys.exit(f"The worker failed: {reply.result.exception.message}")
    return reply


class Worker:
    """The functions that the library has indexed."""

    def __init__(self) -> None:
        """Know no function yet."""
        self.capabilities: dict[str, str] = {}
        self.functions: dict[str, Any] = {}
        self.triggers: dict[str, dict[str, Any]] = {}
        self.timers: dict[str, dict[str, Any]] = {}
        self.outcomes: Counter[str] = Counter()

    async def start(self, folder: Path) -> None:
        """Index and load the app in this folder."""
        worker.start_threadpool_executor()
        init = SimpleNamespace(capabilities={}, function_app_directory=str(folder))
        started = successful(await worker.worker_init_request(envelope(worker_init_request=init)))
        self.capabilities = dict(started.capabilities)
        found = successful(await worker.functions_metadata_request(envelope()))
        self.functions = {f.name: f for f in found.function_metadata_results}
        for name, metadata in self.functions.items():
            load = SimpleNamespace(function_id=metadata.function_id, metadata=metadata)
            successful(await worker.function_load_request(envelope(function_load_request=load)))
            bindings = [json.loads(binding) for binding in metadata.raw_bindings]
            by_type = {binding["type"]: binding for binding in bindings}
            if "httpTrigger" in by_type:
                self.triggers[name] = by_type["httpTrigger"]
            elif "timerTrigger" in by_type:
                self.timers[name] = by_type["timerTrigger"]

    async def invoke(self, name: str, invocation_id: str) -> None:
        """Invoke a function whose HTTP request is forwarded at the same time."""
        http = Message(method="", url="", headers={}, query={}, params={}, body=Message())
        data = Message(name=self.triggers[name]["name"], data=Message(http=http))
        await self._invoke(name, invocation_id, data)

    async def fire(self, name: str, invocation_id: str) -> None:
        """Invoke a function as the host does when its timer fires, and wait for its end."""
        due = "2026-11-24T03:00:00+00:00"
        status = {"Last": due, "LastUpdated": due, "Next": due}
        told = {"Schedule": {"AdjustForDST": True}, "ScheduleStatus": status, "IsPastDue": False}
        data = Message(name=self.timers[name]["name"], data=Message(json=json.dumps(told)))
        await self._invoke(name, invocation_id, data)

    async def _invoke(self, name: str, invocation_id: str, data: Message) -> None:
        INVOCATION.set(invocation_id)
        request = SimpleNamespace(
            invocation_id=invocation_id,
            function_id=self.functions[name].function_id,
            trigger_metadata={},
            input_data=[data],
            trace_context=SimpleNamespace(trace_parent="", trace_state="", attributes={}),
            retry_context=SimpleNamespace(retry_count=0, max_retry_count=0, exception=None),
        )
        reply = await worker.invocation_request(envelope(invocation_request=request))
        succeeded = reply.result.status == SUCCESS
        self.outcomes["success" if succeeded else reply.result.exception.message] += 1

    def state(self) -> dict[str, Any]:
        """Return what the library holds, and how invocations have ended."""
        gc.collect()
        entries = len(http_coordinator._context_references)
        return {"entries": entries, "outcomes": self.outcomes}
