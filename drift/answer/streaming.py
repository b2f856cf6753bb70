"""Pure: an answer is told to whoever follows it: as it grows, and then its citations.

A sentence is delivered when its object in the reply is closed: nothing that follows changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ijson

from drift.contracts.answer import RetrieveResponse, TraceNode
from drift.contracts.final_replies import SentenceReply, sentence
from drift.contracts.lenient import judgement
from drift.contracts.replies import MAX_ANSWER_CHARS
from drift.evidence.answer_statements import GrowingStatements
from drift.model.calls import TextCallback
from drift.model.tree import Fact
from drift.ports import Listener


class Telling:
    """The part of one answer that a listener was told; without a listener, none."""

    def __init__(self, listener: Listener | None = None) -> None:
        """Begin with nothing told."""
        self._listener = listener
        self._told = ""

    def hear(self, deliverable: Callable[[str], str]) -> TextCallback | None:
        """Return a callback that tells of a reply while it is written; None where nobody listens.

        `deliverable` returns the deliverable part of a reply so far; an empty reply
        takes back all that was told.
        """
        if self._listener is None:
            return None

        def grown(reply: str) -> None:
            text = deliverable(reply)
            if not reply or not self._told.startswith(text):
                self.ended(text)

        return grown

    def ended(self, text: str) -> None:
        """Tell the rest of the answer as it is delivered."""
        if self._listener is None or text == self._told:
            return

        if text.startswith(self._told):
            self._listener.answer_delta(text[len(self._told) :])
        else:
            self._listener.answer_replaced(text)

        self._told = text

    def followup(self, node: TraceNode) -> None:
        """Tell of a follow-up that begins, or has ended."""
        if self._listener is not None:
            self._listener.followup(node)

    def whole(self, response: RetrieveResponse) -> None:
        """Tell the rest of the answer as it is delivered, then its citations."""
        self.ended(response.final_answer)
        if self._listener is not None and response.key_facts:
            self._listener.citations(response.key_facts)


Json = Mapping[str, Any]
_MOST_DEPTH = 20  # of lists in lists: a reply that has more is none


class GrowingAnswer:
    """The sentences of a JSON reply that grows, read once, as their objects are closed.

    `facts` gives the facts that sentences name by number, of the fields that stand before them.
    `write` makes of the model's words those that are delivered.
    """

    def __init__(
        self, facts: Callable[[Json], Sequence[Fact]], write: Callable[[str], str] = str
    ) -> None:
        """Begin with nothing."""
        self._facts_of = facts
        self._write = write
        self._begin()

    def _begin(self) -> None:
        self._reply = ""
        self._fields: dict[str, Any] = {}
        self._growing: GrowingStatements | None = None
        self._is_over = False
        self._left = MAX_ANSWER_CHARS
        self._events = ijson.sendable_list()
        self._reader = ijson.basic_parse_coro(self._events, use_float=True)
        self._depth = 0
        self._field = ""
        self._value = ijson.ObjectBuilder()

    def deliverable(self, reply: str) -> str:
        """Return the deliverable part of a reply so far; one that does not go on begins anew."""
        if not reply.startswith(self._reply):
            self._begin()

        news = reply[len(self._reply) :]
        self._reply = reply
        if not self._is_over:
            self._is_over = not self._read(news.encode("utf-8", "replace"))
        return self._growing.text if self._growing else ""

    def _read(self, news: bytes) -> bool:
        """Read on; False where the reply has another shape, and is read when it is whole."""
        try:
            self._reader.send(news)
        except (ijson.JSONError, StopIteration, ValueError):  # half a character, too
            return False

        events = list(self._events)
        self._events.clear()
        return all(self._take(event, value) for event, value in events)

    def _take(self, event: str, value: object) -> bool:
        """Take a part of the reply; an item of `sentences` is added when it is closed."""
        begins, ends = event.startswith("start_"), event.startswith("end_")
        self._depth += begins - ends
        if event == "map_key" and self._depth == 1:
            self._field, self._value = str(value), ijson.ObjectBuilder()
            return True
        if self._depth > _MOST_DEPTH:
            return False
        is_outside = not (self._depth and self._field)
        return is_outside or self._build(event, value, begins=begins)

    def _build(self, event: str, value: object, *, begins: bool) -> bool:
        """Build the value of a field, or an item of `sentences`, and take it when it is whole."""
        is_item = self._field == "sentences"
        if is_item and event in {"start_array", "end_array"} and self._depth == 1 + begins:
            return True
        self._value.event(event, value)
        if begins or event == "map_key" or self._depth != 1 + is_item:
            return True

        given, self._value = self._value.value, ijson.ObjectBuilder()
        if is_item:
            return self._add(given)
        self._fields[self._field] = given
        return True

    def _add(self, given: object) -> bool:
        if not isinstance(given, list | dict):
            return False
        if self._growing is None:
            # A reply may have said before its answer that there is none to deliver.
            is_empty = judgement(self._fields.get("verdict")) == "not_found"
            self._growing = GrowingStatements(() if is_empty else self._facts_of(self._fields))
        try:
            read = [SentenceReply.model_validate(one) for one in sentence(given)]
        except ValueError:
            return False
        for one in read:
            self._left -= len(one.text)
            if self._left < 0:
                return False
            self._growing.add(one.said(self._write))
        return True
