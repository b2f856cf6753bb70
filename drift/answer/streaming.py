"""Pure: an answer is told to whoever follows it: as it grows, and then its citations.

A sentence is delivered when nothing that follows can change it: when the next one has begun, or
when the answer has ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic_core import from_json

from drift.contracts.answer import RetrieveResponse, TraceNode
from drift.contracts.lenient import judgement
from drift.contracts.replies import MAX_ANSWER_CHARS
from drift.evidence.sentence_ends import STOPS
from drift.evidence.statements import GrowingStatements
from drift.model.calls import TextCallback
from drift.model.tree import Fact
from drift.ports import Listener


class Telling:
    """What a listener has been told of one answer; without a listener nothing is."""

    def __init__(self, listener: Listener | None = None) -> None:
        """Begin with nothing told."""
        self._listener = listener
        self._told = ""

    def hear(self, deliverable: Callable[[str], str]) -> TextCallback | None:
        """Return what tells of a reply while it is written; None where nobody listens.

        `deliverable` returns what can be delivered of a reply that has come so far; an empty reply
        takes back what was told of it.
        """
        if self._listener is None:
            return None

        def grown(reply: str) -> None:
            text = deliverable(reply)
            if not reply or not self._told.startswith(text):
                self.ended(text)

        return grown

    def ended(self, text: str) -> None:
        """Tell what is left of the answer as it is delivered."""
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
        """Tell what is left of the answer as it is delivered, then its citations."""
        self.ended(response.final_answer)
        if self._listener is not None and response.key_facts:
            self._listener.citations(response.key_facts)


Json = Mapping[str, Any]

_AGAIN = re.compile(r"\s*+\[?\s*+\{\s*+[\"']")
"""The reply once more, as JSON in the text of its answer: it is read when it is whole."""
_ENDINGS = frozenset(f"{STOPS}\n")
"""Without one of these no sentence ends, so nothing has to be looked at again."""
LONGEST_SENTENCE = 4_000
"""Characters. What has not ended after so many waits for the whole answer: each look at it holds up
other requests."""


class GrowingAnswer:
    """The answer in the `field` of a JSON reply that grows.

    `facts` gives the facts that its sentences name by number, of the fields that stand before it.
    `write` makes of the model's words those that are delivered.
    """

    def __init__(
        self, field: str, facts: Callable[[Json], Sequence[Fact]], write: Callable[[str], str] = str
    ) -> None:
        """Begin with nothing."""
        self._field = field
        self._facts_of = facts
        self._write = write
        self._begin("")

    def _begin(self, reply: str) -> None:
        self._reply = reply
        self._facts: Sequence[Fact] | None = None
        self._growing: GrowingStatements | None = None
        self._settled = ""
        self._read = 0
        self._may_end = False
        self._has_ended = False
        self._text = ""

    def deliverable(self, reply: str) -> str:
        """Return what can be delivered of a reply so far; one that does not go on begins anew."""
        if not reply.startswith(self._reply):
            self._begin("")

        news = reply[len(self._reply) :]
        self._reply = reply
        if self._has_ended:
            return self._text

        begun = _parsed(reply, "trailing-strings")
        answer = begun.get(self._field)
        if not isinstance(answer, str) or len(answer) > MAX_ANSWER_CHARS:
            return self._text
        if _AGAIN.match(answer):
            return self._text
        if self._facts is None:
            # A reply may have said before its answer that there is none to deliver.
            is_empty = "verdict" in begun and judgement(begun["verdict"]) == "not_found"
            self._facts = () if is_empty else self._facts_of(begun)

        # No text ends without a mark, so most replies are read once.
        self._has_ended = '"' in news and self._field in _parsed(reply, "on")
        endings = sum(character in _ENDINGS for character in answer[self._read :])
        self._read = len(answer)
        if self._has_ended or endings or self._may_end:
            before = self._text
            self._text = self._read_on(self._write(answer.lstrip()), self._facts)
            self._may_end = endings > 1 or self._text == before

        return self._text

    def _read_on(self, said: str, facts: Sequence[Fact]) -> str:
        """Return what is delivered of the words so far; what has settled is not read again."""
        if self._growing is None or not said.startswith(self._settled):
            self._growing = GrowingStatements(facts)
        if len(said) - self._growing.at > LONGEST_SENTENCE:
            return self._growing.text

        self._growing.more(said, complete=self._has_ended)
        self._settled = said[: self._growing.at]
        return self._growing.text


def _parsed(reply: str, partial: Literal["on", "trailing-strings"]) -> Json:
    """Return the fields of a JSON object that grows; "on" leaves out a text that has not ended."""
    at = reply.find("{")
    if at < 0:
        return {}

    try:
        begun = from_json(reply[at:], allow_partial=partial)
    except ValueError:
        return {}

    return begun if isinstance(begun, dict) else {}
