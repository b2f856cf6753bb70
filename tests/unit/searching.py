"""A search over scripted servers: what the model says, and what a run of it leaves."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from drift.contracts.answer import RetrieveResponse
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.local.prompt_elements import Element, element, elements
from drift.model.calls import Prompt
from drift.model.graph import Evidence, FollowupQuery, PrimerEvidence
from drift.model.limits import Limits
from drift.ports import Listener, Ports
from drift.prompting import markup
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
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

FOUND = PrimerEvidence((community(7), community("x")))
FIRST, SECOND, THIRD = "Who made alpha?", "Where does beta live?", "When was gamma found?"


def asked_in(prompt: Prompt) -> str:
    """Return the follow-up question of a local prompt."""
    return followups_of(prompt)[0].content


def followups_of(prompt: Prompt) -> list[Element]:
    """Return what an executor is asked."""
    return elements(element(prompt.user, "followups").content, "followup")


def asked_before(prompt: Prompt) -> dict[str, Element]:
    """Return what an executor is told of the follow-ups before, by their questions."""
    told = elements(element(prompt.user, "asked").content, "followup")
    return {one.lines()[0]: one for one in told}


def chunks_of(prompt: Prompt) -> list[Element]:
    """Return the chunks that an executor is shown."""
    return elements(prompt.user, "chunk")


def told(prompt: Prompt) -> dict[str, str]:
    """Return the answers that the aggregator is told, by their questions."""
    rows = [finding.lines() for finding in elements(prompt.user, "finding")]
    return {question: answer.removeprefix("Answer: ") for question, answer, *_ in rows}


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
        "citations": [{"chunk_id": name, "sentences": "1", "words": ""} for name in cited],
        "verdict": "answered",
        "answer": answer,
        "confidence": confidence,
        "new_followups": proposals(*more, communities=["C2"]),
    }


def cites_what_it_sees(prompt: Prompt, *more: str) -> dict[str, Any]:
    """Return the reply of a model that cites the first chunk of its prompt, and asks for more."""
    return local(cited=[chunks_of(prompt)[0]["id"]], more=more)


def aggregated(*numbers: int, final: str = "The answer", doubt: str = "") -> dict[str, Any]:
    """Return a final answer with a sentence for each number of a fact."""
    marks = numbers or (1,)
    return {
        "verdict": "answered",
        "sentences": [[f"{final} {place}.", n] for place, n in enumerate(marks)],
        "residual_uncertainty": doubt,
    }


def joint(prompt: Prompt, alone: Any) -> dict[str, Any]:
    """Return the reply to several follow-ups: what each of them would be answered alone."""
    answers = []
    for row in followups_of(prompt):
        asked = markup.element("followup", row.content)
        others = prompt.user[: prompt.user.index("<followups>")]
        single = replace(prompt, user=f"{others}<followups>\n{asked}\n</followups>")
        answer = alone(single) if callable(alone) else alone
        answers.append({"followup": row["id"], **answer})
    return {"answers": answers}


def script(**replies: Any) -> dict[str, Any]:
    """Return a whole search's replies: two follow-ups, each answered from its own chunk."""
    alone = replies.get("local_reply", cites_what_it_sees)
    return {
        "joint_reply": lambda prompt: joint(prompt, alone),
        "hypothesis": "A paragraph.",
        "primer_reply": primer(FIRST, SECOND),
        "local_reply": cites_what_it_sees,
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

    async def __call__(
        self, asked: ProjectRequest | None = None, listener: Listener | None = None
    ) -> RetrieveResponse:
        async with Progress("p", "r", self.sink) as progress:
            search = DriftSearch(self.ports, self.limits)
            return await search.retrieve(
                asked or request(), progress, Deadline.after(self.deadline_s), listener
            )


def run_of(
    graph: StubGraph | None = None, embedder: HashingEmbedder | None = None, **replies: Any
) -> Run:
    return Run(
        ports(graph or StubGraph(FOUND, own_chunk), ScriptedChat(script(**replies)), embedder)
    )


def states(response: RetrieveResponse) -> dict[str, str]:
    return {node.question: node.state for node in response.trace.followups}


TRACED = request(include=("trace", "usage"))
