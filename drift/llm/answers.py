"""What the answers of all providers have in common: JSON, errors among them, and content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pydantic_core

EVENT_STREAM = "text/event-stream"
_BARE_ERROR = frozenset({"message", "code", "status", "param", "detail"})
_NO_THOUGHTS = frozenset({"text", "output_text", ""})


def from_json(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text.

    Raises:
        json.JSONDecodeError: the text broke off, or is none.
        RecursionError: its lists are too deep.
    """
    try:
        return pydantic_core.from_json(text)
    except ValueError:  # halves of characters are told by the slower reader
        given = text if isinstance(text, str) else text.decode("utf-8", "replace")
        return json.loads(given)


def told_error(answer: Mapping[str, Any]) -> object:
    """Return the error that an answer or an event of status 200 is or holds; None for none."""
    if error := answer.get("error"):
        return error
    kinds = (answer.get("object"), answer.get("type"))
    is_error = any(isinstance(kind, str) and "error" in kind.casefold() for kind in kinds)
    return answer if is_error or "message" in answer.keys() <= _BARE_ERROR else None


def error_body(error: object) -> Mapping[str, Any]:
    """Return a told error as the body that an SDK's error has."""
    return error if isinstance(error, Mapping) else {"message": str(error)[:200]}


def said(content: object) -> str:
    """Return the text of a content; of its parts, of those that are no thoughts.

    A content that is another JSON value is the reply, which the server has parsed.
    """
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    if any(map(_is_part, parts)):
        return "".join(map(_of_part, parts))
    return json.dumps(content, ensure_ascii=False)


def _is_part(value: object) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, str)
    return isinstance(value.get("type"), str) or "text" in value


def _of_part(part: object) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    return said(part.get("text")) if part.get("type", "") in _NO_THOUGHTS else ""
