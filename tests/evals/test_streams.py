"""What `bench streams` counts, played by a function and a model's server with a clock of ours."""

from __future__ import annotations

import json
import time

import httpx2
import pytest

from drift.http import http
from drift.local.evals.load.measure import Held, Target
from drift.local.evals.load.streams import measure_streams

REPLY = '{"evidence": ["K1.1"], "answer": "Marley was dead [1]. Nobody knew it [1].", "verdict": '
KNOWN, ENDED = 3.0, 4.0
"""Seconds before its arrival: when the first sentence could be told, and when it had ended."""


async def held() -> Held:
    return {}


def answer(_: httpx2.Request) -> httpx2.Response:
    told = ["Marley was dead.", " Nobody knew it."]
    deltas = [http.event("answer_delta", json.dumps({"text": text})) for text in told]
    events = b"".join([http.OPEN, *deltas, http.event("result", "{}")])
    return httpx2.Response(200, content=events, headers={"content-type": "text/event-stream"})


def noted(request: httpx2.Request) -> httpx2.Response:
    """Tell that each question's reply was written some seconds ago."""
    if request.method == "DELETE":
        return httpx2.Response(204)
    now = time.monotonic()
    ended, known = REPLY.index(" Nobody"), REPLY.index(" Nobody") + 4
    times = [(ended, now - ENDED), (known, now - KNOWN), (len(REPLY), now)]
    written = [{"question": f"Who? ({turn})", "text": REPLY, "times": times} for turn in range(4)]
    return httpx2.Response(200, json={"written": written})


async def test_a_sentence_is_late_by_the_models_own_clock() -> None:
    async with (
        httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url="http://f") as function,
        httpx2.AsyncClient(transport=httpx2.MockTransport(noted), base_url="http://m") as model,
    ):
        target = Target(function, "p", ("Who?",), held, "quick")
        (level,) = await measure_streams(target, model, (2,), 4)

    assert (level.answers, level.failed, level.replaced, level.sentences) == (4, 0, 0, 8)
    assert level.relayed_p99_ms == pytest.approx(1000 * KNOWN, abs=900)
    assert level.ended_p99_ms == pytest.approx(1000 * ENDED, abs=900)
