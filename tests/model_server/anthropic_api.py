"""The messages of Anthropic's API, of the model server for tests: in the words of the other one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from drift.local.model_server.bodies import Json, RefusedError

_REPLIES: Mapping[str, str] = {
    "ready": "ready",
    "initial_answer": "primer_reply",
    "answers": "joint_reply",
    "evidence": "quick_reply",
    "sentences": "aggregate_reply",
    "citations": "local_reply",
    "summary": "report_reply",
    "entities": "facts_reply",
}
"""By which field of its schema a reply is known, since this API gives a schema no name."""
PIECE = 12


def as_chat_completion(body: Json) -> Json:
    """Return a request for a message as one for a chat completion.

    Raises:
        RefusedError: it has no messages, no `max_tokens`, or a schema that is not known.
    """
    if not isinstance(body.get("max_tokens"), int):
        raise RefusedError("max_tokens: Field required", "max_tokens")
    given = body.get("messages")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RefusedError("messages: Field required", "messages")

    system = {"role": "system", "content": _text(body.get("system"))}
    said = [{"role": one.get("role"), "content": _text(one.get("content"))} for one in given]
    config = body.get("output_config")
    form = config.get("format") if isinstance(config, dict) else None
    chat: Json = {"model": body.get("model"), "messages": [system, *said]}
    if isinstance(form, dict):
        schema = {"name": _name(form.get("schema")), "schema": form.get("schema")}
        chat["response_format"] = {"type": "json_schema", "json_schema": schema}
    return chat


def _name(schema: object) -> str:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    known = [name for field, name in _REPLIES.items() if field in (properties or {})]
    if not known:
        raise RefusedError("output_config.format.schema: unknown", "output_config.format.schema")
    return known[0]


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return str(content or "")


def as_message(whole: Json) -> Json:
    """Return a chat completion as a message."""
    usage = whole["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return {
        "id": "msg_local",
        "type": "message",
        "role": "assistant",
        "model": whole["model"],
        "content": [{"type": "text", "text": whole["choices"][0]["message"]["content"]}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage["prompt_tokens"] - cached,
            "cache_read_input_tokens": cached,
            "output_tokens": usage["completion_tokens"],
        },
    }


def events(message: Json) -> Iterator[bytes]:
    """Yield a message as a stream of events."""
    [block], usage = message["content"], message["usage"]
    begun = {**message, "content": [], "stop_reason": None}
    yield _event("message_start", message=begun)
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for at in range(0, len(block["text"]), PIECE):
        delta = {"type": "text_delta", "text": block["text"][at : at + PIECE]}
        yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]})
    yield _event("message_stop")


def _event(kind: str, **values: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n".encode()


def error_body(message: str) -> Json:
    """Return an error as Anthropic words it."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
