"""The replies that answer a user's question: sentences, each with the numbers of its facts."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext, suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from drift.contracts import marked_prose
from drift.contracts.lenient import MOST_NUMBERS, at_most, first, judgement, listed, score, text
from drift.contracts.replies import (
    MAX_ANSWER_CHARS,
    MAX_CITATIONS,
    MAX_STATEMENT_CHARS,
    AboutWhole,
    CitationReply,
    PositionAsked,
    ReplyShape,
    Statement,
)
from drift.model.tree import Verdict

ANSWER_CUT = f"The answer was cut after {MAX_ANSWER_CHARS:,} characters."


def sentences(value: object) -> object:
    """Read sentences with their facts as `sentence` does, one list of all, and prose.

    Raises:
        ValueError: prose whose numbers cannot be read for certain.
    """
    if not isinstance(value, list):
        return value if value is not None and not isinstance(value, str | dict) else sentence(value)

    found: list[dict[str, object]] = []
    for item in value[:2_000]:
        if isinstance(item, int) and found:
            found[-1]["facts"] = [*_facts(found[-1]["facts"]), *_facts(item)]
        else:
            found += sentence(item)
    return found


def sentence(value: object) -> list[dict[str, object]]:
    """Read `["Words.", 1, 3]`, an object of text and facts, or prose with numbers in brackets.

    Raises:
        ValueError: prose whose numbers cannot be read for certain.
    """
    naming = ("facts", "fact", "numbers", "evidence", "citations", "references")
    saying = ("text", "sentence", "statement", "row", "table", "code", "item", "heading")
    facts: list[int] = []
    is_prose = isinstance(value, str)
    if isinstance(value, list):
        value, facts = (value[0], _facts(value[1:])) if value else ("", [])
    elif isinstance(value, dict):
        given = {str(name).casefold(): one for name, one in value.items()}
        facts = _facts([given[name] for name in naming if name in given])
        value = next((given[name] for name in saying if given.get(name)), "")

    said = text(value)
    if not isinstance(said, str) or not said.strip():
        return []
    said = said[:60_000].replace("\r\n", "\n")  # more than is delivered
    said = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not facts:
        with nullcontext() if is_prose else suppress(ValueError):
            return [{"text": words, "facts": named} for words, named in marked_prose.read(said)]
    return [{"text": said, "facts": facts}]


def _facts(value: object) -> list[int]:
    """Return the numbers in a value, in whatever lists and texts they stand."""
    too_many_digits = 6  # of a number that is no fact's
    if isinstance(value, list | tuple):
        return [number for one in value[:MOST_NUMBERS] for number in _facts(one)]
    if isinstance(value, str):
        return [
            int(digits)
            for digits in re.findall(r"\d++", value[:200])
            if len(digits) < too_many_digits
        ]
    return [value] if isinstance(value, int) and not isinstance(value, bool) else []


class SentenceReply(ReplyShape):
    """A sentence of an answer with the numbers of its facts: `["Marley was dead.", 1, 3]`.

    In its place stands an item of a list, a row of a table, a heading, or a whole block of code.
    """

    text: Annotated[str, at_most(MAX_ANSWER_CHARS + 1)]
    facts: tuple[int, ...] = ()

    def said(self, write: Callable[[str], str]) -> SentenceReply:
        """Return the sentence with its text as `write` makes it of it."""
        return self.model_copy(update={"text": write(self.text)})


Sentences = Annotated[
    tuple[SentenceReply, ...],
    BeforeValidator(sentences),
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "type": "array",
                "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "description": 'a sentence, then its numbers: ["It is so.", 1, 3]',
            },
        }
    ),
]


class _Concluding(ReplyShape):
    """A reply that answers the user's question, in sentences with the numbers of their facts.

    It says so where its answer is longer than is read of it. Only a reply that has found nothing
    may be without a sentence that names a fact.
    """

    if TYPE_CHECKING:  # the fields stand below, in the order in which they are asked for
        sentences: tuple[SentenceReply, ...]
        verdict: Verdict
        residual_uncertainty: str

    @property
    def names_evidence(self) -> bool:
        """Whether there is anything that its sentences could name."""
        return True

    @model_validator(mode="before")
    @classmethod
    def _in_prose(cls, value: object) -> object:
        if isinstance(value, list):
            return {"sentences": value}
        if not isinstance(value, dict) or value.get("sentences") is not None:
            return value
        fields = ("sentences", "final_answer", "answer", "response", "text")
        prose = [value[name] for name in fields if name in value]
        return {**value, "sentences": prose[-1]} if prose else value

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        has_found = self.verdict != "not_found" and self.names_evidence
        if has_found and not any(one.facts for one in self.sentences):
            raise ValueError(
                f"with the verdict {self.verdict}, sentences must name the numbers of their facts"
            )

        lengths = accumulate(len(one.text) for one in self.sentences)
        kept = sum(length <= MAX_ANSWER_CHARS for length in lengths)
        if kept == len(self.sentences):
            return self
        uncertain = f"{ANSWER_CUT} {self.residual_uncertainty}".strip()
        first_part = self.sentences[0].said(lambda text: text[:MAX_ANSWER_CHARS].rstrip())
        return self.model_copy(
            update={
                "sentences": self.sentences[:kept] or (first_part,),
                "residual_uncertainty": uncertain[:MAX_STATEMENT_CHARS].rstrip(),
            }
        )


class _Kind(ReplyShape):
    """What kind of question the user's is: another look may answer it better."""

    about_whole: AboutWhole = False
    position: PositionAsked = ""


class WholeReply(_Concluding):
    """Reply to a look: places of sentences ("K3.4"), and an answer that names them by number.

    1 is the first of `evidence`.
    """

    evidence: Annotated[
        list[CitationReply],
        first(MAX_CITATIONS),
        BeforeValidator(listed),
        WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    ] = Field(default_factory=list)
    verdict: Annotated[Verdict, BeforeValidator(judgement)] = "partly"
    sentences: Sentences
    confidence: Annotated[float, Field(ge=0, le=1), BeforeValidator(score)] = 0.0
    residual_uncertainty: Statement = ""

    @property
    def names_evidence(self) -> bool:
        """Whether there is a place; without one its sentences say nothing."""
        return bool(self.evidence)


class QuickReply(WholeReply, _Kind):
    """Reply to the first look."""


class AggregateReply(_Concluding):
    """Reply of the aggregation: sentences with the numbers of facts, and whether they answer.

    What else it holds is not looked at: key facts are made of the sentences.
    """

    verdict: Annotated[Verdict, BeforeValidator(judgement)] = "partly"
    sentences: Sentences
    residual_uncertainty: Statement = ""
