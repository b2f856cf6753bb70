"""Pure: how much of what is expected of answers they show, without a judge.

Citations are checked spans of documents already, so it is enough to look at what was cited and
said. A file has one JSON object a line: `{"id", "question"}` and what is expected: `documents` (ids
or names, any number of which must be cited), `spans` (a cited span stands in each, or holds it),
`words` (the answer says each), `answer` or `statements` (most of their words stand in what is said
or cited), or `"unanswerable": true`. Files of `drift eval evidence` are such files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from drift.core.errors import IngestError
from drift.local.evals.comparison import lead, mean
from drift.local.evals.gold_passages import words_of
from drift.local.evals.questions import JsonLine, read_lines

MIN_SAID = 0.6
"""The share of a statement's words, without those of the question, that has to be shown."""
KINDS = ("documents", "spans", "words", "statements")

_Texts = tuple[Annotated[str, Field(min_length=1)], ...]


class AnswerQuestion(JsonLine):
    """A question, and what is expected of its answer."""

    id: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1, alias="question")]
    documents: _Texts = ()
    spans: _Texts = ()
    words: _Texts = ()
    statements: _Texts = ()
    answer: str | None = None
    unanswerable: bool = False

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if self.unanswerable is bool(self.expected):
            raise ValueError(f"needs one of {', '.join(KINDS)}, or unanswerable, and not both")
        return self

    @property
    def expected(self) -> dict[str, _Texts]:
        """What is expected of the answer, by kind."""
        statements = (*self.statements, *([self.answer] if self.answer else ()))
        held = (self.documents, self.spans, self.words, statements)
        return {kind: texts for kind, texts in zip(KINDS, held, strict=True) if texts}


def read_answer_questions(path: Path) -> list[AnswerQuestion]:
    """Return the questions of a file in its order; IngestError names the line that is wrong."""
    if not (questions := read_lines(path, AnswerQuestion)):
        raise IngestError(f"The file {path} holds no question: one JSON object a line is expected.")
    return questions


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """One answer: the shares of what was expected by kind, and what it cost.

    `cost` is None where a price or tokens are not known.
    """

    shares: Mapping[str, float]
    is_given: bool
    chunks: frozenset[str]
    tokens: int
    cost: float | None
    seconds: float

    def met(self, question: AnswerQuestion) -> float:
        """Return the share of what is expected that it shows; of an unanswerable one, silence."""
        if question.unanswerable:
            return float(not self.is_given)
        return sum(self.shares.values()) / len(self.shares)


def measure(
    question: AnswerQuestion, answer: Mapping[str, Any], documents: Mapping[str, Collection[str]]
) -> MeasuredAnswer:
    """Measure an answer of `POST /retrieve` with `usage`; `documents` names those of each chunk."""
    facts, usage = answer["key_facts"], answer["usage"]
    cited = [one for fact in facts for one in fact["citations"] if isinstance(one, dict)]
    spans = [one["span"] for one in cited]
    said = [answer["final_answer"], *(fact["fact"] for fact in facts)] if facts else []
    names = {one["document_name"] for one in cited}
    names = names.union(*(documents.get(one["chunk_id"], ()) for one in cited))
    shown, asked = words_of("\n".join([*said, *spans])), words_of(question.text)
    flat_said, flat_spans = _flat("\n".join(said)), list(map(_flat, spans))

    def is_shown(kind: str, text: str) -> bool:
        match kind:
            case "documents":
                return text in names
            case "spans":
                return any(one in _flat(text) or _flat(text) in one for one in flat_spans)
            case "words":
                return _flat(text) in flat_said
        wanted = words_of(text) - asked or words_of(text)
        return len(wanted & shown) >= MIN_SAID * len(wanted)

    return MeasuredAnswer(
        {k: sum(is_shown(k, t) for t in ts) / len(ts) for k, ts in question.expected.items()},
        bool(facts),
        frozenset(one["chunk_id"] for one in cited),
        usage["prompt_tokens"] + usage["completion_tokens"],
        (usage.get("cost") or {}).get("amount"),
        usage["wall_seconds"],
    )


def _flat(text: str) -> str:
    """Return a text as its words between blanks, by which whole words are found."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "


# ------------------------------------------------------------------------------------------ report
@dataclass(slots=True)
class SettingAnswers:
    """The answers of one setting by question, and the questions that got an error in its place."""

    answers: dict[str, list[MeasuredAnswer]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def report(questions: Iterable[AnswerQuestion], measured: SettingAnswers) -> dict[str, Any]:
    """Return the figures, shares in percent; None where no question is of a kind."""
    asked = [(one, measured.answers[one.id]) for one in questions if one.id in measured.answers]
    every = [run for _, runs in asked for run in runs]
    costs = [run.cost for run in every]
    silent = [not run.is_given for one, runs in asked if one.unanswerable for run in runs]
    given = [run.is_given for one, runs in asked if not one.unanswerable for run in runs]
    pairs = [pair for _, runs in asked for pair in combinations(runs, 2)]
    return {
        "questions": len(asked),
        "answers": len(every),
        "met": mean([_met(one, runs) for one, runs in asked]),
        **{kind: _mean([r.shares[kind] for r in every if kind in r.shares]) for kind in KINDS},
        "answered": _mean(given),
        "unanswerable_left": _mean(silent),
        "same_verdict": _mean([one.is_given == other.is_given for one, other in pairs]),
        "same_chunks": _mean([_overlap(one.chunks, other.chunks) for one, other in pairs]),
        "tokens": round(median(run.tokens for run in every)) if every else 0,
        "seconds": round(median(run.seconds for run in every), 2) if every else 0.0,
        "cost": round(sum(map(float, filter(None, costs))), 6) if None not in costs else None,
        "failed": measured.failed,
    }


def difference(
    questions: Iterable[AnswerQuestion], ours: SettingAnswers, other: SettingAnswers
) -> dict[str, Any]:
    """Return by how many points `ours` is ahead over the questions of both, with its interval."""
    both = [one for one in questions if one.id in ours.answers and one.id in other.answers]
    met = [[_met(one, side.answers[one.id]) for one in both] for side in (ours, other)]
    ahead, interval = lead(*met)
    return {"questions": len(both), "met": ahead, "met_ci95": interval}


def _met(question: AnswerQuestion, runs: Sequence[MeasuredAnswer]) -> float:
    return sum(run.met(question) for run in runs) / len(runs)


def _mean(shares: Sequence[float]) -> float | None:
    return mean(shares) if shares else None


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


# ------------------------------------------------------------------------------------ from feedback
def question_of(
    said: Mapping[str, Any], chunks: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return a line of feedback as a question; None where it does not say what to expect.

    Of a part of a project, or of a conversation, it says nothing for the question alone.

    `chunks` are those of the project that it names, by id, as `GET /chunks/{id}` tells them.
    """
    if not said.get("stands_alone", True):
        return None
    asked = {"id": said["retrieval_id"], "question": said["question"], "type": "feedback"}
    held = [chunks[one] for one in said["expected"] if one in chunks]
    statements = [one for one in said["expected"] if one not in chunks]
    expected: dict[str, Any] = {"spans": [chunk["text"] for chunk in held]}
    if said["score"] == 1 and not said["expected"]:
        number = said["fact"]
        facts = said["facts"][number - 1 : number] if number else said["facts"]
        if not facts:
            return asked | {"unanswerable": True}
        held = [chunks[id_] for fact in facts for id_ in fact["chunk_ids"] if id_ in chunks]
        statements = [facts[0]["fact"]] if number else []

    named = (chunk["document"]["id"] for chunk in held if chunk["document"])
    expected |= {"documents": list(dict.fromkeys(map(str, named))), "statements": statements}
    found = {kind: texts for kind, texts in expected.items() if texts}
    return asked | found if found else None
