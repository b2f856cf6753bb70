"""A project as a chat model in OpenAI's API: what chat programs send, and what they get.

The last message of the user is the question; earlier ones say what it refers to. The model is a
project, with a suffix for the depth: `handbook`, `handbook:quick`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from starlette.responses import Response

from drift.contracts.answer import KeyFact, ReferenceOut, RetrieveResponse, TraceNode
from drift.contracts.chat_completions import (
    ChatAnswer,
    ChatChoice,
    ChatModelList,
    ChatModelOut,
    ChatUsage,
    CompletionOut,
    CompletionRequest,
)
from drift.contracts.conversation import newest
from drift.contracts.request import MAX_QUERY_CHARACTERS, Depth, RetrieveRequest
from drift.core.errors import (
    DriftError,
    FieldProblem,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
)
from drift.http import http
from drift.http.streaming import EventStream
from drift.integrations.chat_errors import told_as
from drift.integrations.chat_questions import question_in, reply_to_task, said_in
from drift.integrations.markdown_words import MarkdownWords, as_words

MAX_BODY_BYTES = 8 * 1024 * 1024
"""A program sends the whole conversation each time, with its pictures."""
MAX_QUESTION_CHARACTERS = 1024 * 1024
"""What the last message may have: a question, and what a program puts around it."""
DEFAULT_DEPTH: Depth = "auto"
DONE = b"data: [DONE]\n\n"
THERE_IS = (
    "of OpenAI's API there are POST /v1/chat/completions, POST /v1/vector_stores/{id}/search and "
    "GET /v1/models."
)
_QUOTE_CHARACTERS = 200


def question_of(request: CompletionRequest) -> RetrieveRequest:
    """Return what a conversation asks: its last user message, the end of it where it is too long.

    Of a template that a program has put around it, the question alone.

    Raises:
        InvalidRequestError: there is none, or it is not text.
        TooLargeError: it is far longer than any question.
    """
    text = question_in(_text_of(request))[-MAX_QUERY_CHARACTERS:]
    project, depth = project_of(request.model)
    history = newest([said_in(one.role, str(one.content)) for one in request.messages[:-1]])
    include = ["references", "verdict", "usage", *["query"] * bool(history)]
    named = {"query": text, "project_id": project or None, "depth": depth, "include": include}
    body = {**named, "history": [one.model_dump() for one in history]}
    asked = http.parse(json.dumps(body).encode(), RetrieveRequest)
    return asked.model_copy(update={"filter": request.filter})


def reply_of(request: CompletionRequest) -> RetrieveResponse | None:
    """Return the answer to a task of the program, which asks nothing of the documents; else None.

    Errors as for question_of.
    """
    told = reply_to_task(_text_of(request))
    if told is None:
        return None
    return RetrieveResponse(final_answer=told, key_facts=[], residual_uncertainty="")


def _text_of(request: CompletionRequest) -> str:
    if not request.messages:
        raise _refusal("must hold a message of the user")
    parts = request.messages[-1].content or ""
    if isinstance(parts, list):
        if kinds := sorted({part.type for part in parts} - {"text"}):
            raise _refusal(f"must be text; this service does not read {kinds[0]}")
        parts = "\n".join(part.text or "" for part in parts)
    if len(parts) > MAX_QUESTION_CHARACTERS:
        raise TooLargeError(f"A message may have at most {MAX_QUESTION_CHARACTERS} characters.")
    return parts.strip()


def project_of(model: str) -> tuple[str, Depth]:
    """Return the project that a model is, empty for none, and how far its search goes."""
    name, mark, suffix = model.rpartition(":")
    depths: tuple[Depth, ...] = get_args(Depth)
    found = [depth for depth in depths if depth == suffix and mark]
    return (name, found[0]) if found else (model, DEFAULT_DEPTH)


def _refusal(message: str) -> InvalidRequestError:
    return InvalidRequestError((FieldProblem("messages", message),))


# ---------------------------------------------------------------------------------------- answers
def models(projects: Sequence[str]) -> Response:
    """Return projects as models, each also as the one that takes one look.

    A project whose id ends as a depth does is listed with a depth behind it.
    """
    whole = [one if project_of(one)[0] == one else f"{one}:{DEFAULT_DEPTH}" for one in projects]
    pairs = zip(whole, projects, strict=True)
    names = [name for model, project in pairs for name in (model, f"{project}:quick")]
    return http.read(ChatModelList(data=[ChatModelOut(id=name) for name in names]))


def completion(
    request: CompletionRequest, retrieval_id: str, response: RetrieveResponse
) -> Response:
    """Return an answer as a chat completion; NotFoundError where the project holds nothing."""
    require_model(request, response)
    told = CompletionOut(
        id=f"chatcmpl-{retrieval_id}",
        created=int(time.time()),
        model=request.model,
        choices=[ChatChoice(message=ChatAnswer(content=_in_markdown(response)))],
        usage=_usage(response),
        drift=json.loads(response.to_json()),
    )
    return Response(told.model_dump_json(), media_type=http.JSON)


def told_unused(request: CompletionRequest, response: Response) -> Response:
    """Say in an answer what of its request was not used, so that nobody believes it was obeyed."""
    if request.unused:
        response.headers["x-drift-unused"] = ", ".join(request.unused)
    return response


def require_model(request: CompletionRequest, response: RetrieveResponse) -> None:
    """Raise NotFoundError where nothing is held under a model's name."""
    if response.no_data_found and request.filter is None:
        raise NotFoundError(f"There is no model {request.model!r}: no project holds data under it.")


def _usage(response: RetrieveResponse) -> ChatUsage:
    used = response.usage
    prompt, written = (used.prompt_tokens, used.completion_tokens) if used else (0, 0)
    return ChatUsage(prompt_tokens=prompt, completion_tokens=written, total_tokens=prompt + written)


def _in_markdown(response: RetrieveResponse) -> str:
    """Return the answer with the numbers of its references, and these below it."""
    told = response.references
    if told is None or not told.items:
        nothing = "The documents do not answer this."
        return as_words(response.final_answer or response.residual_uncertainty or nothing)
    from drift.answer.references import line_of  # noqa: PLC0415 - loads with the first answer

    listed = "\n".join(["References:", *map(line_of, told.items)])
    text = told.answer.rpartition(f"\n\n{listed}")[0]
    return f"{as_words(text)}{_references(response)}"


def _references(response: RetrieveResponse) -> str:
    items = response.references.items if response.references else []
    return "".join(["\n\n**References**\n", *map(_line, items)]) if items else ""


def _with_entity(address: re.Match[str]) -> str:
    return re.sub(r"\\<\Z", "&lt;", address[0])


def _line(item: ReferenceOut) -> str:
    """Return a reference as an item of a list; an address of the web is the only link in it."""
    from drift.search.progress import escape_markdown  # noqa: PLC0415 - the same

    quote = " ".join(item.span.split())
    if len(quote) > _QUOTE_CHARACTERS:
        quote = f"{quote[:_QUOTE_CHARACTERS]}…"
    address = item.source_uri or ""
    # Readers take a backslash for a part of an address.
    label, told = (
        re.sub(
            r"(?:https?://|ftp://|www\.)[^\s<]*+<?",
            _with_entity,
            escape_markdown(one),
            flags=re.IGNORECASE,
        )
        for one in (item.label, quote)
    )
    # Nothing can follow such an address but the end of its link.
    links = re.fullmatch(r"https?://[^\s\x00-\x20\"()<>\[\\\]^`{|}]+", address, re.IGNORECASE)
    named = f"[{label}]({address})" if links else label
    return f"\n{item.number}. {named}: “{told}”"


# ----------------------------------------------------------------------------------------- streams
class ChatStream(EventStream):
    """A running answer as the chunks of a streamed completion.

    Sentences are told as they are sure. The references follow with the last of them, as they are
    numbered when the answer has ended.
    """

    def __init__(self, request: CompletionRequest, retrieval_id: str) -> None:
        """Begin with the role, as OpenAI does."""
        super().__init__(retrieval_id)
        self._request = request
        self._told = ""
        self._words = MarkdownWords()
        self._send({"role": "assistant", "content": ""})

    def progress(self, message: str) -> None:
        """Take no progress: the shape has no place for it."""

    def followup(self, node: TraceNode) -> None:
        """Take no follow-ups: the last chunk has all of them."""

    def citations(self, key_facts: Sequence[KeyFact]) -> None:
        """Take no citations: the references follow the answer."""

    def answer_delta(self, text: str) -> None:
        """Tell what comes next of the answer."""
        self._told += text
        self._tell_words(self._words.take(text))

    def answer_replaced(self, text: str) -> None:
        """Tell the answer anew; what a client has it cannot take back."""
        withdrawn = "\n\n---\n\nWhat stands above is withdrawn. The answer is:\n\n"
        lead = f"{self._words.end()}{withdrawn}" if self._told.strip() else ""
        self._told, self._words = text, MarkdownWords()
        self._tell_words(f"{lead}{self._words.take(text)}")

    def _finish(self, result: RetrieveResponse) -> None:
        try:
            require_model(self._request, result)
        except NotFoundError as error:
            self._fail(error)
            return
        is_told = bool(self._told.strip())
        self._tell_words(
            f"{self._words.end()}{_references(result)}" if is_told else _in_markdown(result)
        )
        self._send({}, finish_reason="stop", drift=json.loads(result.to_json()))
        options = self._request.stream_options
        if options and options.include_usage:
            self._put({**self._chunk(), "choices": [], "usage": _usage(result).model_dump()})
        self._add(DONE)

    def _fail(self, error: DriftError) -> None:
        self._put(told_as(error).model_dump())
        self._add(DONE)

    def _chunk(self) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._retrieval_id}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": self._request.model,
        }

    def _tell_words(self, text: str) -> None:
        if text:
            self._send({"content": text})

    def _send(
        self, delta: Mapping[str, str], finish_reason: str | None = None, **more: object
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        self._put({**self._chunk(), "choices": [choice], **more})

    def _put(self, body: Mapping[str, Any]) -> None:
        self._add(b"data: " + json.dumps(body).encode() + b"\n\n")
