"""Pure: the reply in a model's raw text, without its thoughts, and the JSON in it.

Servers put thoughts before, around and behind a reply, in marks of their own. A thought is never
read as the reply. All of this is linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from pydantic_core import from_json

from drift.core import lenient_json

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|seed:think"
_MARK = re.compile(
    rf"(?P<open><(?:{_NAMES})>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|START_THINKING)\|>)"
    rf"|(?P<close></(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|END_THINKING)\|>)",
    re.IGNORECASE,
)

_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start)\|>")
_BARE_CHANNELS = re.compile(r"\Aanalysis(?=\W|[A-Z]).*?assistant\s*final", re.DOTALL)
"""The channels of a server that strips their marks and leaves their names."""

_BRACKET = re.compile(r"[{\[]")


# ------------------------------------------------------------------------------------- thoughts
def without_thoughts(text: str) -> str:
    """Return a whole text without its thoughts; empty where it is nothing else.

    A thought ends at its closing mark, with or without an opening one, or never.
    """
    if is_json(text):
        return text
    if "<|message|>" in text:
        return _final_channel(text)
    if bare := _BARE_CHANNELS.match(text):
        return text[bare.end() :].strip()
    return _without_marked(text) if _MARK.search(text) else text


def _without_marked(text: str) -> str:
    """Return a text without the parts between marks, or before an unopened closing mark."""
    # Ends of thoughts behind which a whole JSON text is looked for; the last one counts otherwise.
    most_looks = 8
    kept, depth, at, looks = list[str](), 0, 0, 0
    for mark in _MARK.finditer(text):
        if mark["open"]:
            if depth == 0:
                kept.append(text[at : mark.start()])
            depth += 1
        else:
            kept = kept if depth else []
            depth = max(0, depth - 1)

        at = mark.end()
        if depth == 0 and looks < most_looks:
            looks += 1
            if is_json(text[at:]):
                break

    if depth == 0:
        kept.append(text[at:])
    return re.sub(
        r"</?answer>|<\|(?:START|END)_RESPONSE\|>|<\|(?:begin|end)_of_solution\|>",
        "",
        "".join(kept),
        flags=re.IGNORECASE,
    ).strip()


def _final_channel(text: str) -> str:
    """Return the message of the last final channel, else of a call; thoughts have other names."""
    channels = list(re.finditer(r"<\|channel\|>\s*+(\w*+)[^<]*+<\|message\|>", text))
    for name in ("final", "commentary"):
        for channel in reversed(channels):
            if channel[1] == name:
                end = _CHANNEL_END.search(text, channel.end())
                return text[channel.end() : end.start() if end else len(text)].strip()

    return ""


def shown_while_growing(text: str, *, is_json: bool) -> str:
    """Return the part of a growing text that may be shown: nothing that may be a thought.

    Of a reply that should be JSON, nothing is told before that begins.
    """
    begun = text.lstrip()
    if begun[:2].casefold().startswith(("<", "[t", "◁")) or begun.startswith("analysis"):
        if not _is_thought_over(begun):
            return ""
        begun = without_thoughts(begun).lstrip()

    if opening := _MARK.search(begun):
        begun = begun[: opening.start()]
    if is_json:
        begun = re.sub(r"\A\s*```\w*[ \t]*\n?", "", begun)
        return begun if begun[:1] in {"{", "["} else ""
    return begun


def _is_thought_over(begun: str) -> bool:
    """Tell whether a text that may begin with a thought has come to something else."""
    longest_mark = 30
    if begun.startswith(("<|", "analysis")):
        return "final<|message|>" in begun or bool(_BARE_CHANNELS.match(begun))

    opening = _MARK.match(begun)
    if opening is None:  # a list in brackets or a mark that is not whole yet
        return len(begun) > longest_mark or begun[:1] == "["
    return any(mark["close"] for mark in _MARK.finditer(begun))


# ----------------------------------------------------------------------------------------- JSON
def is_json(text: str) -> bool:
    """Tell whether a text is one whole JSON object or list, and nothing else."""
    text = text.strip()
    if text[:1] not in {"{", "["} or text[-1:] not in {"}", "]"}:
        return False
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def json_values(text: str) -> Iterator[object]:
    """Yield the objects and lists of a text without thoughts, the likeliest reply first.

    First comes the whole text, then what stands in fences, then what stands between words; the
    last of several is the one that the model settled on. Arguments of a call come before the call,
    JSON in a JSON string as what it says. Nothing is yielded of an object that was cut.
    """
    found = [whole_value(text.strip())]
    if found == [None]:
        fenced = re.findall(r"```\w*[ \t]*\n(.*?)```", text, re.DOTALL)
        found = [whole_value(one) for one in reversed(fenced)]
    if not any(one is not None for one in found):
        begin, end = _BRACKET.search(text), max(text.rfind("}"), text.rfind("]")) + 1
        found = [whole_value(text[begin.start() : end])] if begin else []
    for value in [one for one in found if one is not None] or reversed(_between_words(text)):
        yield from called_with(value)
        yield value


def unwrapped(value: object, fields: AbstractSet[str], depth: int = 4) -> Iterator[object]:
    """Yield a value and the values that it may wrap, the likeliest reply first.

    A wrapping is a list of one, or an object that has one field alone or none of the `fields` of a
    reply; its content may be JSON in a string.
    """
    inside: list[object] = []
    is_strange = isinstance(value, dict) and fields.isdisjoint(value)
    if depth and not is_schema(value):
        if isinstance(value, list) and len(value) == 1:
            inside = value
        elif isinstance(value, dict) and (is_strange or len(value) == 1):
            inside = list(value.values())

    found = list[object]()
    for one in reversed(inside):
        held = whole_value(one) if isinstance(one, str) else one
        if isinstance(held, dict) or (isinstance(held, list) and _are_objects(held)):
            found += unwrapped(held, fields, depth - 1)

    was_text = isinstance(value, dict) and any(isinstance(one, str) for one in inside)
    is_likelier = is_strange or (was_text and any(_has_any(one, fields) for one in found))
    yield from [*found, value] if is_likelier else [value, *found]


def _are_objects(items: list[object]) -> bool:
    return bool(items) and all(isinstance(item, dict) for item in items)


def _has_any(value: object, fields: AbstractSet[str]) -> bool:
    return isinstance(value, dict) and not fields.isdisjoint(value)


def is_schema(value: object) -> bool:
    """Tell whether a value is a JSON schema, which some servers send back as the reply."""
    return isinstance(value, dict) and isinstance(value.get("properties"), dict) and "type" in value


def whole_value(text: str, *kinds: type) -> object:
    """Return the object or list that a text is, or a value of other `kinds`; None for any other."""
    kinds = kinds or (dict, list)
    try:
        value = lenient_json.read(text)
        if isinstance(value, str) and not isinstance(value, kinds):
            value = lenient_json.read(value)
    except (ValueError, RecursionError):
        return None

    return value if isinstance(value, kinds) else None


def called_with(value: object) -> Iterator[object]:
    """Yield the arguments of a call of a tool."""
    if not isinstance(value, dict) or "name" not in value:
        return
    for name in ("arguments", "parameters", "input"):
        arguments = value.get(name)
        if isinstance(arguments, str):
            arguments = whole_value(arguments)
        if isinstance(arguments, dict | list):
            yield arguments


def _between_words(text: str) -> list[object]:
    """Return the outermost objects and lists of a text, in their order.

    After a failure, reading starts again at the next bracket, up to a few times the text in all.
    """
    decoder, values, at = json.JSONDecoder(strict=False), list[object](), 0
    left = 4 * len(text) + 1_000
    for bracket in _BRACKET.finditer(text):
        if bracket.start() < at:
            continue
        try:
            value, at = decoder.raw_decode(text, bracket.start())
        except json.JSONDecodeError as error:
            if error.pos >= len(text) or error.msg.startswith("Unterminated string"):
                break
            left -= error.pos - bracket.start() + 1
        except (ValueError, RecursionError):  # a number of thousands of digits; lists in lists
            break
        else:
            if value:
                values.append(value)
        if left < 0:
            break

    return values
