"""No secret leaves with an exception that nobody foresaw, nor from the real worker."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from drift.http.dispatcher import Dispatcher
from drift.http.service import Service
from drift.local.hosts.local_host import serving
from drift.model.graph import Evidence, PrimerEvidence
from drift.model.health import Readiness
from tests.fake_service import fake_service, put_behind
from tests.fakes import ScriptedChat, StubGraph, chunk, community, ports
from tests.function.corpus import PROJECT, QUESTION
from tests.runtime.test_planted_faults import crashing
from tests.runtime.worker_process import KEY, NEEDS_PYTHON_313, REASON, worker_host
from tests.security import telltales
from tests.security.canaries import SECRETS, Outputs
from tests.security.every_route import HEADERS, call_every_route
from tests.security.raw_http import JSON, STREAM, call
from tests.security.telltales import telltale
from tests.telemetry_fixture import Recorded
from tests.unit.searching import script


def unforeseen() -> Exception:
    """Return an exception with a cause, a note and attributes, all of which hold secrets."""
    words = SECRETS["words of an exception"]
    error = KeyError(words, {"password": SECRETS["password of Neo4j"]})
    error.__cause__ = OSError(5, words, f"bolt://u:{SECRETS['userinfo of the Neo4j URI']}@host")
    error.add_note(words)
    error.code = SECRETS["key of the model"]
    return error


FOUND = PrimerEvidence((community(7, chunk("s1")),))
BROKEN: Mapping[str, Callable[[], Service]] = {
    "in the primer": lambda: serving_fakes(StubGraph(unforeseen())),
    "in a follow-up": lambda: serving_fakes(StubGraph(FOUND, lambda _query: unforeseen())),
    "in the model": lambda: serving_fakes(
        StubGraph(FOUND, Evidence((chunk("k"),))), aggregate_reply=lambda _: unforeseen()
    ),
    "in the sink": lambda: serving_fakes(StubGraph(FOUND, Evidence((chunk("k"),))), FailingSink()),
}


class FailingSink:
    """A ProgressSink that breaks its promise not to raise."""

    def send(self, _message: str, *, last: bool, channel: str = "") -> None:  # noqa: ARG002 - the port's names
        raise unforeseen()

    async def delivered(self) -> None:
        raise unforeseen()

    async def health(self) -> Readiness:
        raise unforeseen()


def serving_fakes(graph: StubGraph, sink: FailingSink | None = None, **replies: object) -> Service:
    """Return a service over fakes."""
    return fake_service(ports(graph, ScriptedChat(script(**replies))), sink)


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
async def test_an_exception_nobody_foresaw_gives_no_secret_away(
    dispatcher: Dispatcher, outputs: Outputs, recorded: Recorded, make: Callable[[], Service]
) -> None:
    put_behind(dispatcher, make())
    async with serving(dispatcher=dispatcher) as url:
        answer = await call_every_route(url, outputs)
    outputs.keep_telemetry(recorded)
    assert answer.status in (200, 500)
    assert '"error":"keyerror"' in "".join(
        text for channel, text in outputs.kept if channel == "log line of drift"
    )
    assert outputs.leaks(SECRETS) == set()


# ------------------------------------------------------------------------------- in the real worker
@pytest.mark.slow
@pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON)
async def test_the_real_worker_gives_no_secret_away(tmp_path: Path, outputs: Outputs) -> None:
    words = SECRETS["words of an exception"]
    folder = crashing(tmp_path, words)
    async with telltale(telltales.model, 401) as refusing:
        settings = {
            "OAI_BASE_URL": f"http://{refusing.address}",
            "OAI_MODEL": "m",
            "OAI_KEY": SECRETS["key of the model"],
            "OAI_EMBED_MODEL_NAME": "e",
            "HYDE": "always",
            "NEO4J_URI": "bolt://127.0.0.1:1",
            "NEO4J_PASSWORD": SECRETS["password of Neo4j"],
            "REDIS_URL": f"redis://:{quote(SECRETS['password of Redis'], safe='')}@127.0.0.1:1/0",
        }
        with worker_host(settings, folder) as host:
            for headers in (JSON, STREAM):
                for target, key in (
                    ("/retrieve", {"x-functions-key": KEY}),
                    (f"/retrieve?code={KEY}", {}),
                ):
                    body = json.dumps({"query": QUESTION, "project_id": PROJECT}).encode()
                    answer = await call(
                        host.url, "POST", target, {**HEADERS, **key, **headers}, body
                    )
                    outputs.keep("response", answer.raw)
                    assert b"model_misconfigured" in answer.body
            crashed = await call(host.url, "GET", "/health/live", HEADERS)
            outputs.keep("response", crashed.raw)
            outputs.keep("log of the worker", host.log_text())
            logged = host.log_text()
    assert (crashed.status, SECRETS["key of the model"].encode() in refusing.heard) == (500, True)
    assert "AuthenticationError" in logged
    assert outputs.leaks({**SECRETS, "key of the host": KEY}) == set()
