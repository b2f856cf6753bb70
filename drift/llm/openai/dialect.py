"""The options that the server of a chat model takes, found out by its refusals.

Servers that speak the same API differ in the fields they know. So every request says all that is
wanted, and what a server refuses by name is left out from then on: json_schema becomes
json_object with the
schema in the prompt, then the schema in the prompt alone; max_completion_tokens becomes max_tokens;
an effort becomes the nearest one that the server names; instructions go before the user's text
where a model's template knows no system role; the other fields go. A server that says nothing is
asked for the prompt alone, and then for all of it as the user's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from openai import APIStatusError

from drift.core.logs import log
from drift.llm.errors import status_of
from drift.llm.options import EFFORTS, Effort
from drift.llm.provider import ChatRequest, in_words
from drift.model.calls import Prompt

Forms = frozenset[str]
"""Forms of a request that a server may refuse: fields, response formats, and efforts
(`reasoning_effort=none`)."""

JSON_SCHEMA, JSON_OBJECT = "json_schema", "json_object"
SCHEMA_ALONE = "json_schema alone"
"""A schema that the prompt does not repeat: some servers take it and forget it."""
EFFORT, CACHE, TEMPERATURE = "reasoning_effort", "prompt_cache_options", "temperature"
LENGTH, OLD_LENGTH = "max_completion_tokens", "max_tokens"
STREAM, STREAM_OPTIONS = "stream", "stream_options"
SYSTEM = "system role"
IN_PROMPT = "the prompt alone"
_FORMATS = frozenset({JSON_SCHEMA, JSON_OBJECT})
ALL: Forms = _FORMATS | {EFFORT, CACHE, TEMPERATURE, LENGTH, OLD_LENGTH, STREAM, STREAM_OPTIONS}

_WORDS: Mapping[str, tuple[str, ...]] = {
    JSON_SCHEMA: ("response_format", "response format", "json_schema", "structured output"),
    JSON_OBJECT: ("response_format", "response format", "json_object", "json mode"),
    EFFORT: ("reasoning_effort", "reasoning effort", ".effort", "thinking", "think value"),
    LENGTH: (LENGTH, OLD_LENGTH),
    OLD_LENGTH: (LENGTH, OLD_LENGTH),
    CACHE: ("prompt_cache",),
    TEMPERATURE: (TEMPERATURE,),
    STREAM: ("'stream'", '"stream"', "`stream`", "streaming"),
    STREAM_OPTIONS: (STREAM_OPTIONS, "include_usage"),
}
"""By which words of an error a form is known."""
_ROLE = r"\broles?\b(?!['\"]\s*:)"  # and no part of a request that is repeated
_NAMED_ROLE = r"\b(?:system|developer|user|assistant)\b"
_NO_SYSTEM = re.compile(
    r"\b(?:system|developer)\W{1,3}(?:role|message|prompt|instruction)|\balternat(?:e|ing)\b|"
    rf"{_ROLE}[^.]{{0,80}}{_NAMED_ROLE}|{_NAMED_ROLE}[^.]{{0,80}}{_ROLE}|"
    r"first message|(?:start|begin) with (?:an? |the )?user|'system'[^{}]{0,60}'user'|"
    r"'user' (?:or|and) 'assistant'"
)
"""How servers, and the templates of models in them, say that there is no system role."""


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The body of a request, and the forms in it that a server may refuse."""

    fields: dict[str, Any]
    forms: Forms


@dataclass(slots=True)
class Dialect:
    """The refusals of the server of one model, for as long as the client lives; it only grows."""

    model: str
    explicit_cache: bool = False
    """Ask the provider to write no prompt into its cache."""
    refused: Forms = frozenset()
    taken: Forms = frozenset()
    format: str = ""
    """How the last reply of a schema was asked for."""

    def learn(self, forms: Forms) -> None:
        """Leave these forms out from now on; what is new is logged once."""
        new = forms - self.refused
        self.refused |= forms
        if new:
            log.info("model_option_refused", extra={"model": self.model, "options": sorted(new)})

    def forget_schema(self) -> None:
        """Have the prompt repeat the schema from now on: the server took it and did not keep it."""
        if SCHEMA_ALONE not in self.refused:
            self.refused |= {SCHEMA_ALONE}
            log.info("model_ignored_schema", extra={"model": self.model})

    def body(
        self, request: ChatRequest, *, is_streamed: bool, without: Forms = frozenset()
    ) -> RequestBody:
        """Build the body of a request, without what was refused, nor any of `without`."""
        prompt, system = request.prompt, request.prompt.system
        refused = self.refused | without
        form = _format(prompt, refused)
        if prompt.schema is not None and (form != JSON_SCHEMA or SCHEMA_ALONE in refused):
            system = f"{system}\n\n{in_words(prompt)}"

        fields: dict[str, Any] = {"model": self.model}
        if SYSTEM in refused:
            fields["messages"] = [{"role": "user", "content": f"{system}\n\n{prompt.user}"}]
        else:
            roles = {"system": system, "user": prompt.user}
            fields["messages"] = [{"role": role, "content": text} for role, text in roles.items()]
        if form == JSON_SCHEMA:
            schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
            fields["response_format"] = {"type": JSON_SCHEMA, "json_schema": schema}
        elif form == JSON_OBJECT:
            fields["response_format"] = {"type": JSON_OBJECT}

        options = self._options(request, refused)
        if is_streamed and STREAM not in refused:
            options |= {STREAM: True}
            if STREAM_OPTIONS not in refused:
                options |= {STREAM_OPTIONS: {"include_usage": True}}
        forms = frozenset(options) | ({form} & _FORMATS) | ({SYSTEM} - refused)
        return RequestBody(fields | options, forms)

    def _options(self, request: ChatRequest, refused: Forms) -> dict[str, Any]:
        length = next((name for name in (LENGTH, OLD_LENGTH) if name not in refused), "")
        wanted: dict[str, Any] = {
            TEMPERATURE: request.temperature,
            EFFORT: _nearest(request.effort, refused),
            length: request.length,
            CACHE: {"mode": "explicit"} if self.explicit_cache else None,
        }

        return {
            name: value
            for name, value in wanted.items()
            if name and value is not None and name not in refused
        }

    def took(self, body: RequestBody) -> None:
        """Remember what a request that was answered had in it."""
        self.taken |= body.forms
        self.format = next(iter(body.forms & _FORMATS), self.format)

    def described(self) -> str:
        """Say what the server was found to take and to refuse, in a few words."""
        taken = self.taken - self.refused - _FORMATS - {SYSTEM}
        refused = {form.split("=")[0] for form in self.refused} - _FORMATS - {SCHEMA_ALONE} - taken
        form = IN_PROMPT if self.refused >= _FORMATS else self.format
        repeated = form == JSON_SCHEMA and SCHEMA_ALONE in self.refused
        said = [
            form and f"schema by {form}{' and the prompt' if repeated else ''}",
            taken and f"takes {', '.join(sorted(taken))}",
            refused and f"refuses {', '.join(sorted(refused))}",
        ]

        return "; ".join(str(one) for one in said if one)


def _format(prompt: Prompt, refused: Forms) -> str:
    if prompt.schema is None:
        return ""
    return next((one for one in (JSON_SCHEMA, JSON_OBJECT) if one not in refused), IN_PROMPT)


def _nearest(wanted: Effort | None, refused: Forms) -> Effort | None:
    """Return the effort that is not refused and nearest to the wanted one; the lower of two."""
    if wanted is None:
        return None
    at = EFFORTS.index(wanted)
    left = [effort for effort in EFFORTS if f"{EFFORT}={effort}" not in refused]
    return min(left, key=lambda effort: abs(EFFORTS.index(effort) - at), default=None)


# ----------------------------------------------------------------------- what an error speaks of
def is_refusal(error: APIStatusError, body: RequestBody) -> bool:
    """Tell whether the request may be taken with less in it.

    A 400 may mean anything, a 404 or 422 has to speak of fields, a 500 of one that was sent.
    """
    status = status_of(error)
    if status == HTTPStatus.BAD_REQUEST:
        return True
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY}:
        of_fields = re.search(
            r"(un|not )supported|does not support|unrecogni[sz]ed|(un|not )known|extra input|"
            r"not permitted|not implemented|requested parameters",
            _said(error),
        )
        return bool(of_fields or named(error, body))
    if status in {HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.NOT_IMPLEMENTED}:
        return bool(named(error, body))

    return False


def named(error: APIStatusError, body: RequestBody) -> Forms:
    """Return the forms of a request that the error names: by its `param`, else by its words."""
    param, said = str(error.param or "").lower(), _said(error)
    if SYSTEM in body.forms and _NO_SYSTEM.search(f"{param} {said}"):
        return frozenset({SYSTEM})
    found = _found(param, body.forms) or _found(said, body.forms)
    if EFFORT not in found:
        return found

    sent = body.fields[EFFORT]
    known = set(re.findall(rf"['\"`]({'|'.join(EFFORTS)})['\"`]", said)) - {sent}
    if not known:
        return found

    return found - {EFFORT} | {f"{EFFORT}={effort}" for effort in EFFORTS if effort not in known}


def _found(text: str, forms: Forms) -> Forms:
    def is_named(form: str) -> bool:
        return form == text or any(word in text for word in _WORDS.get(form, ()))

    return frozenset(filter(is_named, forms))


def _said(error: APIStatusError) -> str:
    """Return an error's own words; a server of another make puts them elsewhere."""
    body = error.body
    if isinstance(body, Mapping):
        body = next((body[key] for key in ("message", "detail", "error") if body.get(key)), body)
    return str(body)[:2000].lower()  # some servers repeat the whole request
