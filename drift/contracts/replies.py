"""What a model is asked for: the shape of each reply."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from drift.contracts.lenient import (
    at_most,
    citation,
    first,
    identifier,
    judgement,
    listed,
    numbers,
    only_text,
    position,
    questions,
    score,
    text,
    without_nulls,
    yes,
)
from drift.model.tree import Verdict

# Bounds on what is read of a reply, so that a model that does not stop costs no more than this.
# What exceeds them is cut off before anything else is checked.
MAX_ANSWER_CHARS = 16_000
MAX_STATEMENT_CHARS = 4_000
MAX_ID_CHARS = 500
MAX_FOLLOWUPS_READ = 20
MAX_CITATIONS = 50

# Constraints stand next to their type. Behind a validator, pydantic would check them in a step of
# their own and would not write them into the schema of the type.
_Words = Annotated[str, StringConstraints(strip_whitespace=True), BeforeValidator(text)]
Answer = Annotated[_Words, at_most(MAX_ANSWER_CHARS)]
Statement = Annotated[_Words, at_most(MAX_STATEMENT_CHARS)]

AboutWhole = Annotated[bool, BeforeValidator(yes)]
"""Whether a question is about the documents as a whole; a reply that does not say so means no."""


class ReplyShape(BaseModel):
    """A model's reply: unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


PositionAsked = Annotated[
    Literal["beginning", "end", "before", "after", ""],
    BeforeValidator(position),
    WithJsonSchema({"type": "string"}),
]
"""The position that a question asks about; empty for most."""


class _Proposed(ReplyShape):
    """A follow-up question; a bare string is one."""

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), at_most(1_000)]

    @model_validator(mode="before")
    @classmethod
    def _bare_question(cls, value: object) -> object:
        return {"question": value} if isinstance(value, str) else value


_Ids = Annotated[
    list[Annotated[str, BeforeValidator(identifier), at_most(MAX_ID_CHARS)]],
    first(50),
    BeforeValidator(without_nulls),
]


class FollowupReply(_Proposed):
    """A follow-up of the primer: what to read first, where to look, and a `document`'s position."""

    read: _Ids = Field(default_factory=list)
    target_communities: _Ids = Field(default_factory=list)
    position: PositionAsked = ""
    document: Annotated[str, at_most(MAX_ID_CHARS), BeforeValidator(only_text)] = ""


Followups = Annotated[list[FollowupReply], first(MAX_FOLLOWUPS_READ), BeforeValidator(questions)]


class PrimerReply(ReplyShape):
    """Reply of the primer: a coarse answer and 1 to 6 follow-ups; a bare list is the follow-ups."""

    about_whole: AboutWhole = False
    initial_answer: Answer = ""
    followups: Followups = Field(default_factory=list)
    rationale: Statement = ""

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: object) -> object:
        return {"followups": value} if isinstance(value, list) else value

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.initial_answer or self.followups):
            raise ValueError("initial_answer and followups must not both be empty")
        return self

    @classmethod
    def empty(cls) -> PrimerReply:
        """Return that of a primer which gave no reply."""
        return cls.model_construct()

    def said(self, write: Callable[[str], str]) -> PrimerReply:
        """Return the reply with each of its texts as `write` makes it of them."""
        return self.model_copy(
            update={
                "initial_answer": write(self.initial_answer),
                "followups": [
                    f.model_copy(update={"question": write(f.question)}) for f in self.followups
                ],
                "rationale": write(self.rationale),
            }
        )


class StandaloneReply(ReplyShape):
    """Reply about a question in a conversation: that it stands alone, or how it would."""

    stands_alone: Annotated[bool, BeforeValidator(yes)] = False
    question: _Words = ""  # one that is too long is none, and half of it too

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.stands_alone or self.question):
            raise ValueError("stands_alone and question must not both be empty")
        return self


class CitationReply(ReplyShape):
    """Evidence as a model names it: a chunk, numbers of its sentences, and their first words.

    `sentences` is "4" or "4-5". Without a number, `words` are looked for in the chunk; a field
    `span` is read as them, `sentence` as the number, and "K3.4" is chunk K3 and sentence 4. A
    missing id is logged and kept empty, for the check to drop.
    """

    chunk_id: Annotated[str, at_most(MAX_ID_CHARS)] = ""
    sentences: Annotated[
        str, BeforeValidator(numbers), at_most(MAX_ID_CHARS), Field(description='"4", or "4-5"')
    ] = ""
    words: Annotated[Statement, Field(description="the first four words of that sentence")] = ""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        return citation(value)


class NextReply(_Proposed):
    """A follow-up that an executor proposes; `beside` is "after K3", "before K3" or empty."""

    beside: Annotated[str, at_most(MAX_ID_CHARS), BeforeValidator(text)] = ""


class LastReply(ReplyShape):
    """Reply to a follow-up of the last pass: evidence first, then what follows from it."""

    citations: Annotated[list[CitationReply], first(MAX_CITATIONS), BeforeValidator(listed)] = (
        Field(default_factory=list)
    )
    verdict: Annotated[Verdict, BeforeValidator(judgement)] = "partly"
    answer: Answer
    confidence: Annotated[float, Field(ge=0, le=1), BeforeValidator(score)] = 0.0


class LocalReply(LastReply):
    """Reply to a follow-up: an answer with its evidence, and 0 to 3 new follow-ups."""

    new_followups: Annotated[
        list[NextReply], first(MAX_FOLLOWUPS_READ), BeforeValidator(questions)
    ] = Field(default_factory=list)


class _Named(ReplyShape):
    followup: Annotated[str, BeforeValidator(identifier), at_most(MAX_ID_CHARS)] = ""


class JointAnswer(LocalReply, _Named):
    """Answer to one of several follow-ups; `followup` is its id in the prompt."""


class LastJointAnswer(LastReply, _Named):
    """Answer to one of several follow-ups of the last pass."""


def _usable(value: object) -> object:
    """Leave out the answers that cannot be read; their follow-ups are asked alone."""
    items = listed(value)
    if not isinstance(items, list):
        return items

    read = []
    for item in items:
        with suppress(ValidationError):
            read.append(JointAnswer.model_validate(item))
    return read


class JointReply(ReplyShape):
    """Reply to several follow-ups: an answer to each; a bare list is the answers."""

    answers: Annotated[list[JointAnswer], Field(min_length=1), first(10), BeforeValidator(_usable)]

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: object) -> object:
        return {"answers": value} if isinstance(value, list) else value


class LastJointReply(ReplyShape):
    """Reply to several follow-ups of the last pass; it is read as a JointReply."""

    answers: list[LastJointAnswer]
