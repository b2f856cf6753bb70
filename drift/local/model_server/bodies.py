"""The JSON of the API; tokens in `usage` are estimated as a quarter of the characters."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np

from drift.llm import local_embedding as embedding

Json = dict[str, Any]
"""An object of JSON."""

CHAT_MODEL = "drift-extractive"
EMBEDDING_MODEL = "wordllama-256"
CHARACTERS_PER_TOKEN = 4
MAX_TEXTS = 2048
SCHEMA_IN_PROMPT = re.compile(r'JSON schema, "(\w+)"')
"""How the adapter writes a schema into a prompt."""
_CITES_NODES = "[Node X]"
"""Stands in the prompt that asks for an answer from nodes."""


class RefusedError(Exception):
    """The request is not one that this server can answer; `param` is its wrong field."""

    def __init__(self, message: str, param: str | None = None) -> None:
        """Keep what is wrong."""
        super().__init__(message)
        self.param = param


def error_body(message: str, code: str | None = None, param: str | None = None) -> Json:
    """Return an error as OpenAI words it."""
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    }


def parsed(raw: bytes) -> Json:
    """Return a JSON object; a RefusedError where it is none."""
    try:
        body = json.loads(raw)
    except ValueError:
        body = None

    if not isinstance(body, dict):
        raise RefusedError("The body is not a JSON object.")
    return body


def reply_name(body: Json) -> str:
    """Return the name of the asked schema, of the request or the prompt, or else of plain text."""
    given = body.get("response_format")
    schema = given.get("json_schema") if isinstance(given, dict) else None
    if isinstance(schema, dict):
        return str(schema.get("name"))

    system = _texts_of(body, "system") or _texts_of(body, "user")
    if in_prompt := SCHEMA_IN_PROMPT.search(system):
        return in_prompt[1]
    return "rag_answer" if _CITES_NODES in system else "hypothesis"


def messages(body: Json) -> tuple[str, str]:
    """Return the system text and the user's texts."""
    user = _texts_of(body, "user")
    if not user:
        raise RefusedError("At least one message of the user is needed.", "messages")
    return _texts_of(body, "system"), user


def _texts_of(body: Json, role: str) -> str:
    given = body.get("messages")
    rows = [m for m in given if isinstance(m, dict)] if isinstance(given, list) else []
    return "\n\n".join(_text_of(m.get("content")) for m in rows if m.get("role") == role)


def _text_of(content: object) -> str:
    """Return a message's text, which may come in parts."""
    if not isinstance(content, list):
        return str(content or "")
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def completion(body: Json, text: str, *, cached: bool) -> Json:
    """Return a chat completion that says `text`; `cached` when its system text was seen before."""
    system, user = messages(body)
    prefix = tokens(system)
    return {
        "id": f"chatcmpl-{reply_name(body)}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", CHAT_MODEL),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": _usage(prefix + tokens(user), tokens(text), prefix if cached else 0),
    }


def embeddings(body: Json) -> Json:
    """Return one embedding a text, as floats or as base64 of little-endian 32-bit floats.

    Raises:
        RefusedError: the request is beyond what this server takes.
    """
    texts = _texts(body.get("input"))
    size = body.get("dimensions", embedding.DIMENSIONS)
    if not isinstance(size, int) or not 1 <= size <= embedding.DIMENSIONS:
        raise RefusedError(f"dimensions must be from 1 to {embedding.DIMENSIONS}.", "dimensions")

    encoding = body.get("encoding_format", "float")
    if encoding not in ("float", "base64"):
        raise RefusedError("encoding_format must be float or base64.", "encoding_format")

    vectors = embedding.normalised(embedding.embed(texts)[:, :size])
    data = [
        {"object": "embedding", "index": number, "embedding": encoded(vector, encoding)}
        for number, vector in enumerate(vectors)
    ]

    return {
        "object": "list",
        "data": data,
        "model": body.get("model", EMBEDDING_MODEL),
        "usage": _usage(sum(map(tokens, texts))),
    }


def _texts(given: Any) -> list[str]:  # noqa: ANN401 - JSON
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise RefusedError("input must be a string or a list of strings.", "input")
    if len(texts) > MAX_TEXTS:
        raise RefusedError(f"input must hold at most {MAX_TEXTS} texts.", "input")
    return texts


def encoded(vector: embedding.Matrix, encoding: str) -> str | list[float]:
    """Return a vector as a request wants it: "base64", or else floats."""
    if encoding == "base64":
        return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
    return [float(number) for number in vector]


def _usage(prompt: int, completion: int = 0, cached: int = 0) -> Json:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def tokens(text: str) -> int:
    """Return an estimate of a text's tokens."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
