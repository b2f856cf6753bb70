"""Both objects answer what HTTP answers, letter by letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

import drift
from drift import (
    Answer,
    AnswerDelta,
    Citations,
    InvalidRequestError,
    ProgressMessage,
    sync,
)
from drift.client.methods import ServiceMethods
from tests.client.objects import EVERYTHING, Connect, in_process, over_http, service

QUESTION = "Who made alpha?"
BOTH = pytest.mark.parametrize("connect", [in_process, over_http])


def bodies_of(methods: ServiceMethods) -> list[bytes]:
    """Return where the bodies go that a client gets from now on."""
    bodies: list[bytes] = []

    async def keep(response: httpx2.Response) -> None:
        bodies.append(await response.aread())

    methods._sender.http.event_hooks["response"].append(keep)
    return bodies


@BOTH
async def test_answers_and_lists_are_the_documents_of_http(connect: Connect) -> None:
    async with connect(service()) as drift:
        bodies = bodies_of(drift)
        asked: dict[str, Any] = {"project": "p", "include": EVERYTHING, "history": ()}
        answer = await drift.ask(QUESTION, **asked)
        assert answer.to_json().encode() == bodies.pop()
        assert answer.trace
        assert answer.trace.followups[0].pass_ == 1
        evidence = await drift.search(QUESTION, **asked)
        assert evidence.to_json().encode() == bodies.pop()
        assert evidence.evidence
        for listing, name in (
            (drift.projects(), "projects"),
            (drift.documents("p007"), "documents"),
        ):
            listed = [one.model_dump(mode="json") async for one in listing]
            assert listed == [row for body in bodies for row in json.loads(body)[name]]
            assert (len(listed), len(bodies)) == (450, 3)
            bodies.clear()


@BOTH
async def test_a_stream_tells_typed_events_and_ends_with_the_answer(connect: Connect) -> None:
    async with connect(service()) as drift:
        told = [one async for one in drift.stream(QUESTION, project="p", include=("trace",))]
    *before, answer = told
    assert isinstance(answer, Answer)
    assert "".join(one.text for one in told if isinstance(one, AnswerDelta)) == answer.final_answer
    assert [one.key_facts for one in told if isinstance(one, Citations)] == [answer.key_facts]
    of_this = {one.retrieval_id for one in before if isinstance(one, ProgressMessage)}
    assert of_this == {str(answer.retrieval_id)}
    kinds = {type(one).__name__ for one in before}
    assert kinds == {"ProgressMessage", "TraceNode", "AnswerDelta", "Citations"}


@BOTH
async def test_what_cannot_be_asked_is_named_by_its_fields(connect: Connect) -> None:
    async with connect(service()) as drift:
        with pytest.raises(InvalidRequestError) as caught:
            await drift.ask(
                "", project="p", top_k=99, filter={"type": "eq", "key": "x", "value": 1}
            )
        assert {one.field for one in caught.value.problems} == {"query", "top_k", "filter"}
        for wrong in ("\ud800", "a\x00"):
            with pytest.raises(InvalidRequestError):
                await drift.search(wrong, project="p")
            with pytest.raises(InvalidRequestError):
                [one async for one in drift.documents(wrong)]
        with pytest.raises(InvalidRequestError, match="tags"):
            await drift.add("a.md", b"text", project="p", tags=["x"])


def test_the_twins_have_the_same_methods() -> None:
    over = service()
    with sync.Drift(over.settings, build=lambda _: over) as drift:
        answer = drift.ask(QUESTION, project="p")
        *_, last = drift.stream(QUESTION, project="p")
        assert isinstance(last, Answer)
        assert last.final_answer == answer.final_answer
        assert len(list(drift.projects())) == 450
        assert drift.search(QUESTION, project="p").evidence
        with pytest.raises(InvalidRequestError):
            drift.ask("", project="p")
    public = {name for name in vars(ServiceMethods) if not name.startswith("_")}
    assert public <= set(dir(sync.DriftClient))


def test_every_public_name_is_there() -> None:
    stub = Path(drift.__file__).with_name("__init__.pyi").read_text()
    told = {line.rpartition(" as ")[2] for line in stub.splitlines() if " as " in line}
    assert told == set(drift.__all__) <= set(dir(drift))
    found = {name: getattr(drift, name) for name in told}
    assert all(one.__name__ == name for name, one in found.items() if isinstance(one, type))
