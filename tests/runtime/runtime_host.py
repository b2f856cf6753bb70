"""A loopback Functions host around the real worker library: index, load, and carry one HTTP request the streaming way.

Run as `python runtime_host.py FOLDER`; prints one JSON document with what the worker told and how it answered. The
library is handed its messages as plain objects: it only reads and sets attributes.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import azure_functions_runtime as worker
import httpx2
from azure_functions_runtime.http_v2 import http_coordinator

SUCCESS = 1


class Message:
    """Any message of the worker's protocol."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def WhichOneof(self, _group: str) -> str | None:  # noqa: N802 - protobuf's name
        return next((name for name, value in vars(self).items() if value is not None and name != "name"), None)


class Messages:
    """The namespace that the worker takes its message types from: every name is one."""

    BindingInfo = type(
        "BindingInfo", (Message,), {"out": 1, "inout": 2, "undefined": 0, "string": 1, "binary": 2, "stream": 3}
    )
    StatusResult = type("StatusResult", (Message,), {"Failure": 0, "Success": SUCCESS, "Cancelled": 2})

    def __getattr__(self, name: str) -> type:
        return type(name, (Message,), {})


MESSAGES = Messages()


def envelope(**request: Any) -> SimpleNamespace:
    """Wrap a request as the dispatcher hands it to the library."""
    return SimpleNamespace(request=SimpleNamespace(**request), properties={"protos": MESSAGES, "host": "127.0.0.1"})


def successful(reply: Any) -> Any:
    """Return the worker's reply; end with its reason when it failed."""
    if reply.result.status != SUCCESS:
        sys.exit(f"The worker failed: {reply.result.exception.message}")
    return reply


class Host:
    """Knows the functions that the worker has indexed, and invokes them by name."""

    async def start(self, folder: Path) -> None:
        """Index and load the app in this folder."""
        init = SimpleNamespace(capabilities={}, function_app_directory=str(folder))
        started = successful(await worker.worker_init_request(envelope(worker_init_request=init)))
        self.capabilities = dict(started.capabilities)
        found = successful(await worker.functions_metadata_request(envelope()))
        self.functions = {f.name: f for f in found.function_metadata_results}
        for metadata in self.functions.values():
            load = SimpleNamespace(function_id=metadata.function_id, metadata=metadata)
            successful(await worker.function_load_request(envelope(function_load_request=load)))

    def triggers(self) -> dict[str, Any]:
        """Return the HTTP trigger of each function."""
        bindings = {name: [json.loads(b) for b in f.raw_bindings] for name, f in self.functions.items()}
        return {name: next(b for b in found if b["type"] == "httpTrigger") for name, found in bindings.items()}

    async def call(self, name: str, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        """Forward a request to the worker's own port, next to an invocation that holds only the route's parameters."""
        invocation_id = str(uuid.uuid4())
        headers = {"x-ms-invocation-id": invocation_id, "content-type": "application/json"}
        url = self.capabilities["HttpUri"] + path
        transport = httpx2.AsyncHTTPTransport(retries=8)  # the worker's port opens a moment after it is announced
        async with asyncio.timeout(30), httpx2.AsyncClient(transport=transport, trust_env=False) as client:
            forwarding = client.request(method, url, content=body, headers=headers)
            response, invoked = await asyncio.gather(forwarding, self._invoke(name, invocation_id))
        return {"status": response.status_code, "body": response.text, "invocation": invoked.result.status}

    async def _invoke(self, name: str, invocation_id: str) -> Any:
        http = Message(method="", url="", headers={}, query={}, params={}, body=Message())
        request = SimpleNamespace(
            invocation_id=invocation_id,
            function_id=self.functions[name].function_id,
            trigger_metadata={},
            input_data=[Message(name=self.triggers()[name]["name"], data=Message(http=http))],
            trace_context=SimpleNamespace(trace_parent="", trace_state="", attributes={}),
            retry_context=SimpleNamespace(retry_count=0, max_retry_count=0, exception=None),
        )
        return await worker.invocation_request(envelope(invocation_request=request))


async def main(folder: Path) -> dict[str, Any]:
    """Return what the worker told and answered."""
    host = Host()
    worker.start_threadpool_executor()
    await host.start(folder)
    told = {
        "capabilities": host.capabilities,
        "triggers": host.triggers(),
        "live": await host.call("health_live", "GET", "/health/live"),
        "bad": await host.call("retrieve", "POST", "/retrieve", b'{"top_k": 0}'),
        "unset": await host.call("retrieve", "POST", "/retrieve?code=canary-key", b'{"query": "q", "project_id": "p"}'),
    }
    told["entries_left"] = len(http_coordinator._context_references)
    return told


if __name__ == "__main__":
    app = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(app))
    sys.stdout.write(json.dumps(asyncio.run(main(app))) + "\n")
