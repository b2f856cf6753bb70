"""Pure: the words of a plain-text reply, without the JSON or tool call that wraps them.

Models that are used to tools and to JSON write them unasked, and people should not see that.
All of this is linear in the text.
"""

from __future__ import annotations

import json
import re

from drift.core.reply_text import called_with, whole_value

_MOST_WRAPPINGS = 6
_TOOL = r"(?:\w{1,20}:)?(?:tool|function|parameter|invoke|arg_)\w{0,40}(?:[=: ][^<>\n]{0,80})?"
_CALL = re.compile(
    rf"(?:(?:<\|?{_TOOL}\|?>|<\|python_tag\|>|\[TOOL_CALLS\]|functools(?=\[))\s*){{1,9}}",
    re.IGNORECASE,
)
_CALL_ENDS = re.compile(rf"(?:</\|?{_TOOL}\|?>\s{{0,9}}){{1,9}}\Z", re.IGNORECASE)
_VALUE = re.compile(r"""\[?\s*+\{\s*+(?:["'“]|\w++\s*+:)|\[\s*+["']|"\s*+\[?\s*+\{\s*+\\\"""")
_UNDECIDED = re.compile(
    r'"(?:[^"\\]|\\.)*+"?\s*\Z|“[^”]*+”?\s*\Z|[{`\[]\s*\Z|\[\s*[{"]|\{|```|<[^>]{0,80}\Z', re.DOTALL
)
_SAYING = (
    "answer", "final_answer", "response", "reply", "text", "content", "result", "output", "message",
)  # fmt: skip
"""Names of fields that hold the words, where nobody asked for fields."""


def in_plain_words(text: str) -> str:
    """Return the words of a reply; empty where it is a call or an object that says nothing."""
    text = text.strip()
    for _ in range(_MOST_WRAPPINGS):
        inner = _taken_off(text)
        if inner == text:
            break
        text = inner
    return text


def shown_in_plain_words(text: str) -> str:
    """Return the part of a growing text that may be shown: nothing that may be wrapped."""
    begun = text.lstrip()
    return "" if _UNDECIDED.match(begun) or _CALL.match(begun) else text


def _taken_off(text: str) -> str:
    """Return the content of a text's outermost wrapping; the text itself where there is none."""
    if call := _CALL.match(text):
        return _CALL_ENDS.sub("", text[call.end() :]).strip()
    if fence := re.match(
        r"```(?:json|text|txt|plaintext|markdown|md)?[ \t]*\n", text, re.IGNORECASE
    ):
        inner = text[fence.end() :].removesuffix("```").strip()
        return text if "```" in inner else inner
    if text[:1] in {'"', "“"} and (said := _unquoted(text)) != text:
        return said
    if _VALUE.match(text) and (value := whole_value(text)) is not None:
        return _said(value).strip()
    return "" if text.casefold() in {"null", "none", "undefined"} else _said_between(text)


def _unquoted(text: str) -> str:
    """Return a text without the quotes that it stands in as a whole."""
    if quoted := re.match(r'"([^"]*)"\Z|“([^”]*)”\Z', text):
        return (quoted[1] or quoted[2] or "").strip()
    said = whole_value(text, str) if text[-1] == '"' else None
    return said.strip() if isinstance(said, str) else text


def _said_between(text: str) -> str:
    """Return the words of an object among a few others; nothing of a cut object; else the text."""
    # The most characters around an object with the words, such as `Here it is:`.
    most_around = 120
    begin, end = text.find("{"), text.rfind("}") + 1
    value = whole_value(text[begin:end]) if 0 <= begin < end else None
    if isinstance(value, dict) and len(text) - (end - begin) <= most_around:
        said = _said(value, is_call=True)
        if " " in said.strip():
            return said
    return "" if begin >= 0 and _VALUE.match(text) and not _is_about_value(text) else text


def _is_about_value(text: str) -> bool:
    """Tell whether a text that begins with an object or a list goes on in words about it."""
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return text[end:].lstrip()[:1].isalnum()


def _said(value: object, depth: int = _MOST_WRAPPINGS, *, is_call: bool = False) -> str:
    """Return the words that an object or a list holds, by the names of its fields.

    A field of another name is read where it is the only one, and not of a call.
    """
    if isinstance(value, str) or not depth:
        return value if isinstance(value, str) else ""
    if isinstance(value, list):
        said = (_said(item, depth - 1, is_call=is_call) for item in value)
        return "\n".join(filter(None, said))
    if not isinstance(value, dict):
        return ""

    given = list(called_with(value))
    fields = {str(name).casefold().replace(" ", "_"): held for name, held in value.items()}
    held = [*given, *(fields[name] for name in _SAYING if name in fields)]
    if not held and len(fields) == 1 and not is_call and "error" not in fields:
        held = list(fields.values())
    said = (_said(one, depth - 1, is_call=is_call or bool(given)) for one in held)
    return next(filter(None, said), "")
