"""A search over scripted servers: what the model says, and what a run of it leaves."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from drift import prompts
from drift.contracts.answer import RetrieveResponse
from drift.contracts.request import RetrieveRequest
from drift.plan import Limits
from drift.ports import Ports
from drift.progress import Progress
from drift.search import DriftSearch
from drift.tasks import Deadline
from drift.values.calls import Prompt
from drift.values.graph import Evidence, FollowupQuery, PrimerEvidence
from tests.fakes import (
    HashingEmbedder,
    ListSink,
    ScriptedChat,
    StubGraph,
    chunk,
    community,
    ports,
    request,
)

FOUND = PrimerEvidence((community(7, chunk("s1")), community("x")))
FIRST, SECOND, THIRD = "Who made alpha?", "Where does beta live?", "When was gamma found?"


def asked_in(prompt: Prompt) -> str:
    """Return the follow-up question of a local prompt."""
    return str(block(prompt, "Follow-up question"))


def block(prompt: Prompt, label: str) -> Any:
    found = re.search(rf"^{label}:\n```json\n(.*)\n```", prompt.user, re.MULTILINE)
    assert found, label
    return json.loads(found[1])


def proposals(*questions: str, communities: Sequence[str] = ("C1",)) -> list[dict[str, Any]]:
    return [
        {"question": question, "target_communities": list(communities)} for question in questions
    ]


def primer(*questions: str) -> dict[str, Any]:
    return {"initial_answer": "Perhaps.", "followups": proposals(*questions), "rationale": ""}


def local(
    answer: str = "It is so.",
    cited: Sequence[str] = ("K1",),
    more: Sequence[str] = (),
    confidence: float = 0.5,
) -> dict[str, Any]:
    return {
        "answer": answer,
        "citations": [{"chunk_id": name, "span": ""} for name in cited],
        "new_followups": proposals(*more, communities=["C2"]),
        "confidence": confidence,
        "should_continue": True,
    }


def aggregated(*cited: str, final: str = "The answer.", doubt: str = "") -> dict[str, Any]:
    return {
        "final_answer": final,
        "key_facts": [
            {"fact": f"Fact {n}", "citations": [name]} for n, name in enumerate(cited or ["K1"])
        ],
        "residual_uncertainty": doubt,
    }


def joint(prompt: Prompt, alone: Any) -> dict[str, Any]:
    """Return the reply to several follow-ups: what each of them would be answered alone."""
    answers = []
    for row in block(prompt, "Follow-up questions"):
        single = replace(prompt, user=prompts.block("Follow-up question", row["question"]))
        answer = alone(single) if callable(alone) else alone
        answers.append({"followup": row["id"], **answer})
    return {"answers": answers}


def script(**replies: Any) -> dict[str, Any]:
    """Return a whole search's replies: two follow-ups, each answered from its own chunk."""
    alone = replies.get("local_reply", local())
    return {
        "joint_reply": lambda prompt: joint(prompt, alone),
        "hypothesis": "A paragraph.",
        "primer_reply": primer(FIRST, SECOND),
        "local_reply": local(),
        "aggregate_reply": aggregated(),
        **replies,
    }


def own_chunk(query: FollowupQuery) -> Evidence:
    """Return one chunk for each question, named after it."""
    return Evidence((chunk(f"chunk of {query.question}", document=query.question.split()[0]),))


class Run:
    """One request against fakes: what came back, what was sent, what was reported."""

    def __init__(self, servers: Ports, deadline_s: float = 30, **limits: int) -> None:
        self.ports = servers
        self.limits = Limits(**limits)
        self.deadline_s = deadline_s
        self.sink = ListSink()

    async def __call__(self, asked: RetrieveRequest | None = None) -> RetrieveResponse:
        async with Progress("p", "r", self.sink) as progress:
            search = DriftSearch(self.ports, self.limits)
            return await search.retrieve(
                asked or request(), progress, Deadline.after(self.deadline_s)
            )


def run_of(
    graph: StubGraph | None = None, embedder: HashingEmbedder | None = None, **replies: Any
) -> Run:
    return Run(
        ports(graph or StubGraph(FOUND, own_chunk), ScriptedChat(script(**replies)), embedder)
    )


def states(response: RetrieveResponse) -> dict[str, str]:
    assert response.trace
    return {node.question: node.state for node in response.trace.followups}


TRACED = request(include=("trace", "usage"))
