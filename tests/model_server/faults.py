"""Faults that the model server for tests makes on request, over a real socket.

A rule says which requests it hits (`kind`), how often (`times`), and what goes wrong (`fault`).
Rules are tried in order: every `latency` that fits is waited, of the others the first one is made.
Faults come in tables, by where they strike: STATUS answers with an error, REPLY changes a chat
completion, TEXT what the model wrote, VECTORS and DATA an embedding answer. What strikes at the
connection has a table in `connection_faults`, what strikes within a stream one in `streams`.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from drift.llm import local_embedding as embedding
from drift.local.model_server.bodies import Json, encoded, error_body
from tests.model_server.refusals import REFUSALS

Kind = Literal[
    "any",
    "chat",
    "hypothesis",
    "primer_reply",
    "local_reply",
    "joint_reply",
    "aggregate_reply",
    "quick_reply",
    "rag_answer",
    "standalone_reply",
    "ready",
    "embedding",
    "rerank",
]
Fault = Literal[
    "latency", "hang", "drop", "trickle",
    "status", "content_filter",
    "says", "body",
    "refusal", "length", "prose", "invented_ids", "invented_spans", "endless", "bomb",
    "refuses_json_schema", "refuses_json_object", "refuses_response_format",
    "refuses_effort", "refuses_max_completion_tokens", "refuses_max_tokens",
    "refuses_cache_options", "refuses_temperature",
    "refuses_json_schema_silently", "refuses_response_format_silently",
    "refuses_system", "refuses_system_silently", "ignores_schema", "bills_more",
    "refuses_stream", "refuses_stream_options",
    "stream_cut", "stream_dropped", "stream_error", "stream_garbage", "stream_empty",
    "stream_endless", "stream_stalls",
    "wrong_count", "wrong_dimensions", "not_finite", "all_zero", "shuffled",
    "words",
]  # fmt: skip


LATENCY = "latency"
HANG = "hang"
IGNORES_SCHEMA = "ignores_schema"
"""The schema is taken and forgotten, unless the prompt repeats it."""
SAYS = "says"
BODY = "body"


class Rule(BaseModel):
    """One fault to make.

    It strikes so many `times` (None: for ever) after it let `skip` fitting requests pass. A request
    fits when its body holds `contains`. `seconds` is the latency, or the pause between the pieces
    of a trickle. `text` is what `says` and `body` send, a body as `content_type`, and what a fault
    within a stream writes in place of its own reply.
    """

    model_config = ConfigDict(extra="forbid")

    fault: Fault
    kind: Kind = "any"
    times: int | None = Field(default=1, ge=1)
    skip: int = Field(default=0, ge=0)
    contains: str = ""
    seconds: float = Field(default=0.0, ge=0, le=600)
    status: int = Field(default=500, ge=400, le=599)
    code: str = "fault"
    headers: dict[str, str] = Field(default_factory=dict)
    text: str = ""
    content_type: str = "application/json"


RULES = TypeAdapter(list[Rule])


@dataclass(slots=True)
class Plan:
    """The rules that are in force, and how often each may still strike."""

    rules: list[Rule] = field(default_factory=list)

    def strike(self, kind: str, raw: str, body: Json) -> list[Rule]:
        """Return the rules that hit this request, and count them down."""
        struck: list[Rule] = []
        for rule in list(self.rules):
            taken = rule.fault != LATENCY and any(r.fault != LATENCY for r in struck)
            if taken or not _fits(rule, kind, body) or rule.contains not in raw:
                continue
            if rule.skip:
                rule.skip -= 1
                continue
            struck.append(rule)
            if rule.times is not None:
                rule.times -= 1
                if not rule.times:
                    self.rules.remove(rule)
        return struck


def _fits(rule: Rule, kind: str, body: Json) -> bool:
    refusal = REFUSALS.get(rule.fault)
    if refusal and not refusal.strikes(body):
        return False
    return rule.kind in ("any", kind) or (
        rule.kind == "chat" and kind not in {"embedding", "rerank"}
    )


# ---------------------------------------------------------------------------- answers with an error
def _content_filter() -> Json:
    """Return Azure OpenAI's body for a prompt that its content filter refused."""
    body = error_body(
        "The response was filtered due to the prompt triggering the content management policy."
    )
    verdict = {"hate": {"filtered": True, "severity": "high"}}
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": verdict}
    body["error"] |= {
        "code": "content_filter",
        "param": "prompt",
        "status": 400,
        "innererror": inner,
    }
    return body


def _refused(rule: Rule) -> tuple[int, Json]:
    refusal = REFUSALS[rule.fault]
    return refusal.status, refusal.body


STATUS: Mapping[str, Callable[[Rule], tuple[int, Json]]] = {
    "status": lambda rule: (rule.status, error_body("A fault was asked for.", rule.code)),
    "content_filter": lambda _: (400, _content_filter()),
    **dict.fromkeys(REFUSALS, _refused),
}


# ------------------------------------------------------------------------ changes a chat completion
THOUGHT = 50
"""Reasoning tokens that a reply is billed with."""


def _choice(**changes: Any) -> Callable[[Json], Json]:
    """Return an edit of the first choice; a key that a message has is set there."""

    def edit(completion: Json) -> Json:
        choice = completion["choices"][0]
        for key, value in changes.items():
            target = choice["message"] if key in choice["message"] else choice
            target[key] = value
        return completion

    return edit


def _cut(completion: Json) -> Json:
    """Cut the reply in half, as the token limit does."""
    text = completion["choices"][0]["message"]["content"]
    return _choice(content=text[: len(text) // 2], finish_reason="length")(completion)


def _billed(completion: Json) -> Json:
    """Report tokens that a newer model would bill beside the others."""
    usage = completion["usage"]
    details = usage["prompt_tokens_details"]
    details["cache_write_tokens"] = usage["prompt_tokens"] - details["cached_tokens"]
    usage["completion_tokens_details"] = {"reasoning_tokens": THOUGHT}
    usage["completion_tokens"] += THOUGHT
    return completion


REPLY: Mapping[str, Callable[[Json], Json]] = {
    "refusal": _choice(content=None, refusal="I'm sorry, I can't help with that."),
    "length": _cut,
    "bills_more": _billed,
}


# ---------------------------------------------------------------------------- changes what it wrote
PROSE = "Certainly! Here is what I found about your question."
INVENTED_ID = "K999"
INVENTED_FACT = 999
INVENTED_SENTENCE = "999"
INVENTED_SPAN = "This sentence stands in no chunk at all, because nobody ever wrote it."


def _edit_json(change: Callable[[Json], Any]) -> Callable[[str], str]:
    """Return an edit of a reply that is a JSON object; others stay as they are."""

    def edit(text: str) -> str:
        try:
            reply = json.loads(text)
        except ValueError:
            return text
        change(reply)
        return json.dumps(reply, ensure_ascii=False)

    return edit


def _invent_ids(reply: Json) -> None:
    for citation in reply.get("citations", ()):
        citation["chunk_id"] = INVENTED_ID
    for sentence in reply.get("sentences", ()):
        sentence[1:] = [INVENTED_FACT]
    for followup in reply.get("followups", ()):
        followup["target_communities"] = ["C999"]


def _invent_spans(reply: Json) -> None:
    for citation in reply.get("citations", ()):
        citation |= {"sentences": INVENTED_SENTENCE, "words": INVENTED_SPAN}


TEXT: Mapping[str, Callable[[str], str]] = {
    "prose": lambda _: PROSE,
    IGNORES_SCHEMA: lambda _: PROSE,
    "invented_ids": _edit_json(_invent_ids),
    "invented_spans": _edit_json(_invent_spans),
}


# ------------------------------------------------------------------------------- changes embeddings
VECTORS: Mapping[str, Callable[[list[Any]], list[Any]]] = {
    "wrong_count": lambda vectors: vectors[:-1],
    "wrong_dimensions": lambda vectors: [vector[:-1] for vector in vectors],
    "not_finite": lambda vectors: [vector * math.nan for vector in vectors],
    "all_zero": lambda vectors: [vector * 0 for vector in vectors],
}


DATA: Mapping[str, Callable[[list[Json]], list[Json]]] = {
    "words": lambda data: [item | {"embedding": "a vector of my own"} for item in data],
    "shuffled": lambda data: data[::-1],
}


def spoil_vectors(answer: Json, fault: str, body: Json) -> Json:
    """Return an embedding answer with a fault in its vectors or in the list of them."""
    data = answer["data"]
    if fault in VECTORS:
        encoding = body.get("encoding_format", "float")
        vectors = VECTORS[fault]([_decoded(item["embedding"]) for item in data])
        data = [
            item | {"embedding": encoded(vector, encoding)}
            for item, vector in zip(data, vectors, strict=False)
        ]
    return answer | {"data": DATA.get(fault, list)(data)}


def _decoded(vector: str | list[float]) -> embedding.Matrix:
    if isinstance(vector, str):
        return np.frombuffer(base64.b64decode(vector), dtype="<f4")
    return np.asarray(vector, dtype=np.float32)
