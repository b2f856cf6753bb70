"""ChatModel over any provider: the choice of the model, its replies and their problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from drift.core.deadline import Deadline
from drift.core.errors import UnusableReplyError
from drift.core.outcomes import Outcomes
from drift.core.plain_words import in_plain_words, shown_in_plain_words
from drift.core.reply_text import (
    json_values,
    shown_while_growing,
    unwrapped,
    without_thoughts,
)
from drift.llm.growing import whole_characters
from drift.llm.options import EFFORTS, SMALL_STEPS, STEPS, ChatOptions, Step, step_of
from drift.llm.prompt_length import PromptLength
from drift.llm.provider import ChatProvider, ChatRequest, Completion
from drift.llm.readiness import ModelWatch
from drift.model.calls import ChatReply, Prompt, TextCallback
from drift.model.health import Readiness
from drift.telemetry import parts

ASKED = Prompt(
    "ready",
    "You are asked whether you answer.",
    'Reply with {"ready": true}.',
    {
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": False,
    },
)
"""What readiness asks: about 50 tokens, and a reply of ten without reasoning."""
AS_IT_IS = "chat"
"""The prompt to whose reply nothing is done: people talk with the model alone."""


@dataclass(slots=True)
class Model:
    """One chat model: the setting that names it, and observations of its replies.

    `is_closed_alone` says whether its thoughts end in a mark that none has opened: what comes
    before that is not told. None until a reply has shown it.
    """

    name: str
    setting: str
    watch: ModelWatch
    read: PromptLength = field(default_factory=PromptLength)
    cut: set[Step] = field(default_factory=set)
    """Steps of which a reply was cut by its bound."""
    is_closed_alone: bool | None = None


@dataclass(slots=True)
class Chat:
    """ChatModel: one completion a call; `model` comes from the setting of this name."""

    provider: ChatProvider
    model: str
    options: ChatOptions = field(default_factory=ChatOptions)
    setting: str = "OAI_MODEL"
    models: Mapping[str, Model] = field(init=False)

    def __post_init__(self) -> None:
        """Know nothing yet of the models."""
        settings = {self.model: self.setting}
        if self.options.small_model:
            settings.setdefault(self.options.small_model, f"{self.setting}_SMALL")
        self.models = {name: self._model(name, setting) for name, setting in settings.items()}

    def _model(self, name: str, setting: str) -> Model:
        asking = replace(
            self.options,
            efforts=dict.fromkeys(STEPS, EFFORTS[0]),
            lengths=dict.fromkeys(STEPS, 64),  # a reply that is cut is an answer too
        )

        async def ask() -> None:
            deadline = Deadline.after(self.provider.caller.timeout_s)
            await self._complete(model, ASKED, asking, deadline)

        model = Model(name, setting, ModelWatch(name, ask))
        return model

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        """Return the model's reply without its thoughts; see ports.ChatModel for the errors.

        The detail of an UnusableReplyError is one of refused, content_filter, length, empty. A
        request that the server refused and took with less in it counts as a retry.
        """
        small = self.options.small_model
        name = small if small and step_of(prompt.name) in SMALL_STEPS else self.model
        with parts.chatting() as cost:
            reply = await self._complete(self.models[name], prompt, self.options, deadline, hear)
            cost.replied(reply)
            return reply

    @property
    def longest_prompt(self) -> int | None:
        """The most tokens that every model was seen to read of a prompt; None for no bound."""
        bounds = [model.read.bound for model in self.models.values() if model.read.bound]
        return min(bounds, default=None)

    async def health(self) -> Readiness:
        """Return whether the models answer: known from requests, or asked, but seldom."""
        return Readiness.joined([await self._readiness(model) for model in self.models.values()])

    async def _readiness(self, model: Model) -> Readiness:
        readiness = await model.watch.readiness(lambda: self.provider.described(model.name))
        if problem := model.read.problem:
            return Readiness.joined([readiness, Readiness.degraded(problem)])
        return readiness

    async def aclose(self) -> None:
        """Close the connections."""
        await self.provider.close()

    async def _complete(
        self,
        model: Model,
        prompt: Prompt,
        options: ChatOptions,
        deadline: Deadline,
        hear: TextCallback | None = None,
    ) -> ChatReply:
        step = step_of(prompt.name)
        length = options.length(step, was_cut=step in model.cut)
        effort = options.effort(step)
        request = ChatRequest(model.name, prompt, effort, length, options.temperature)
        growing = _growing(hear, model, prompt) if hear else None

        # What readiness asks is no request.
        outcomes = model.watch.outcomes if options is self.options else Outcomes()
        with outcomes.noted(deadline, step):
            completion, retries = await self.provider.caller.retry.run(
                lambda: self.provider.complete(request, growing),
                deadline,
                lambda error: self.provider.failure(error, model.setting),
            )
        try:
            text = _text(completion, model, prompt)
        except UnusableReplyError as error:
            is_empty = error.detail == "empty"
            model.watch.answered("its answer holds nothing, or thoughts alone" if is_empty else "")
            if error.detail == "length" and options is self.options:
                model.cut.add(step)
            if hear is not None:  # what was told of it does not hold
                hear("")
            raise

        if hear is not None:  # which may have heard nothing of it yet
            hear(text)
        is_kept = prompt.schema is None or _has_any_field(text, prompt.schema)
        if is_kept:
            model.watch.answered()
        else:
            model.watch.answered("its answer is not JSON of the shape that was asked for")
            self.provider.ignored_schema(model.name)

        is_cut = model.read.counted(prompt, completion.tokens.prompt)
        return ChatReply(text, completion.tokens, retries + completion.refusals, is_cut)


def _growing(hear: TextCallback, model: Model, prompt: Prompt) -> TextCallback:
    """Return what is told of a text while it grows: nothing that may be a thought.

    Nor anything of what is not JSON, before a whole reply has shown where its thoughts end.
    """
    is_json = prompt.schema is not None

    def grown(text: str) -> None:
        may_be_thought = model.is_closed_alone or (not is_json and model.is_closed_alone is None)
        if may_be_thought and without_thoughts(text) == text:
            return
        said = shown_while_growing(text, is_json=is_json)
        if said and (is_json or prompt.name == AS_IT_IS):
            hear(said)
        elif told := shown_in_plain_words(said):
            hear(told)

    return grown


def _text(completion: Completion, model: Model, prompt: Prompt) -> str:
    """Return the model's words; UnusableReplyError: refused, content_filter, length or empty."""
    if completion.end:
        raise UnusableReplyError(completion.end)

    whole = whole_characters(completion.text)
    text = without_thoughts(whole)
    is_closed_alone = text != whole and not whole.lstrip().startswith(("<", "[", "◁"))
    if prompt.schema is None and prompt.name != AS_IT_IS:
        text = in_plain_words(text)
    if not text.strip():
        raise UnusableReplyError("empty")

    model.is_closed_alone = is_closed_alone
    return text


def _has_any_field(text: str, schema: Mapping[str, object]) -> bool:
    """Whether a reply holds an object with any field that its schema requires.

    A reply that lacks some of them is asked for again, with their names.
    """
    required: frozenset[str] = frozenset(schema.get("required", ()))  # type: ignore[call-overload]
    return any(
        isinstance(value, dict) and not required.isdisjoint(value)
        for found in json_values(text)
        for value in unwrapped(found, required)
    )
