"""Pure: what a message to a chat model asks, where a program has put a prompt of its own around it.

Programs send the words of people inside of templates, and tasks of their own to the same model.
The marks are those of Open WebUI, LibreChat, LangChain and LlamaIndex.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping

from drift.contracts.conversation import MAX_MESSAGE_CHARACTERS, Said

_MAX_TEMPLATE = 64 * 1024  # characters of an earlier message that are looked at
_TAGS = ("user_query", "question", "query")
_EVIDENCE_BEGINS = re.compile(r"^[ \t]*<(?:context|documents|sources)>[ \t]*$", re.MULTILINE)
_ASKED = re.compile(r"^(?:#+ *)?(?:user )?(?:question|query): *", re.IGNORECASE | re.MULTILINE)

_SAID_BY = re.compile(
    r"^(?:user|assistant|ai|system|tool):|</chat_history>", re.IGNORECASE | re.MULTILINE
)


def question_in(text: str) -> str:
    """Return the words of a person in a message, without the template that they stand in."""
    closed = re.finditer(r"^[ \t]*</(?:context|documents|sources)>[ \t]*$", text, re.MULTILINE)
    ends = [found.end() for found in closed]
    begins = _EVIDENCE_BEGINS.search(text)
    if ends and begins:
        before, after = text[: begins.start()], text[ends[-1] :]
        return _tagged(after) or _labelled(after) or _tagged(before) or _labelled(before) or text
    if re.search(
        r"^(?:#+ *)?context:|(?:given|following|provided|below|this)[^\n]{0,40}\bcontext\b"
        r"|\bcontext information\b",
        text,
        re.IGNORECASE | re.MULTILINE,
    ):
        labels = [found.start() for found in _ASKED.finditer(text)]
        return (_labelled(text[labels[-1] :]) if labels else "") or text
    return _tagged(text, _TAGS[:1]) or text


def said_in(role: str, text: str) -> Said:
    """Return an earlier message as it was said: of a question the end, without a template."""
    if role == "user":
        return "user", question_in(text[-_MAX_TEMPLATE:])[-MAX_MESSAGE_CHARACTERS:]
    return "assistant", text[:MAX_MESSAGE_CHARACTERS]


def _tagged(text: str, tags: Iterable[str] = _TAGS) -> str:
    """Return what stands in the last element of the first of these names that is there."""
    for tag in tags:
        _, _, asked = text.rpartition(f"<{tag}>")
        if len(asked) < len(text) and f"</{tag}>" in asked:
            return asked.partition(f"</{tag}>")[0].strip()
    return ""


def _labelled(text: str) -> str:
    """Return what stands behind the first label, else all of it that is no instruction."""
    if label := _ASKED.search(text):
        return re.sub(
            r"^(?:#+ *)?(?:helpful |your )?answer:\Z",
            "",
            text[label.end() :].strip(),
            flags=re.IGNORECASE | re.MULTILINE,
        ).strip()
    return "" if text.lstrip().startswith("###") else text.strip()


def reply_to_task(text: str) -> str | None:
    """Return the answer to a program's own task, in the shape that it asks for; None for none."""
    text = text.strip()
    task, mark, history = text.partition("<chat_history>")
    if mark and task.startswith("### Task:") and not _EVIDENCE_BEGINS.search(task):
        shape = re.search(r'"(title|tags|follow_ups|queries|prompt|text)"', task)
        return _of_shape(shape[1] if shape else "", _said(history))
    if text.startswith(
        "Your task is to reflect the speaker's likely facial expression through a fitting emoji"
    ):
        return "🙂"
    is_of_librechat = re.match(
        r"(?:provide|generate|write|create|please generate|analyze)\b[^\n]{0,120}"
        r"\bconversation\b",
        text,
        re.IGNORECASE,
    )
    wants_title = is_of_librechat and re.search(r"\btitle\b", text[:400], re.IGNORECASE)
    said = _said(text) if wants_title else []
    return _title(said) if said else None


def _said(history: str) -> list[str]:
    """Return what the user said in a conversation that is written as lines with names."""
    said = []
    for begun in re.finditer(r"^user: *", history, re.IGNORECASE | re.MULTILINE):
        ends = _SAID_BY.search(history, begun.end())
        said.append(history[begun.end() : ends.start() if ends else len(history)].strip())
    return [one for one in (one.strip('"') for one in said) if one]


def _title(said: list[str]) -> str:
    words = re.findall(r"[^\s<>\[\]{}`*_#|\\]+", said[0])[:6] if said else []
    return " ".join(words)[:60].strip(" .,;:!?") or "Conversation"


_REPLIES: Mapping[str, Callable[[list[str]], object]] = {
    "title": _title,
    "tags": lambda _: ["General"],
    "follow_ups": lambda _: [],
    "queries": lambda said: said[-1:],
    "prompt": lambda said: said[-1] if said else "",
    "text": lambda _: "",
}


def _of_shape(shape: str, said: list[str]) -> str:
    """Return a task's answer as JSON with this name, or the title alone."""
    if shape not in _REPLIES:
        return _title(said)
    return json.dumps({shape: _REPLIES[shape](said)}, ensure_ascii=False)
