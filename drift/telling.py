"""An answer is told to whoever follows the retrieval: as it grows, and then its citations."""

from __future__ import annotations

from drift.answering.growing import GrowingAnswer
from drift.contracts.answer import RetrieveResponse
from drift.ports import Listener
from drift.values.calls import Hear


class Telling:
    """What a listener has been told of one answer; without a listener nothing is."""

    def __init__(self, listener: Listener | None = None) -> None:
        """Begin with nothing told."""
        self._listener = listener
        self._told = ""

    def hear(self, growing: GrowingAnswer) -> Hear | None:
        """Return what tells of a reply while it is written; None where nobody listens."""
        if self._listener is None:
            return None
        return lambda reply: self._grown(growing.deliverable(reply))

    def _grown(self, text: str) -> None:
        """Tell what has come; an answer that is written once more is told where it differs."""
        if not self._told.startswith(text):
            self._tell(text)

    def whole(self, response: RetrieveResponse) -> None:
        """Tell what is left of the answer as it is delivered, then its citations."""
        if self._listener is None:
            return
        if response.final_answer != self._told:
            self._tell(response.final_answer)
        if response.key_facts:
            self._listener.citations(response.key_facts)

    def _tell(self, text: str) -> None:
        if self._listener is None:
            return
        if text.startswith(self._told):
            self._listener.answer_delta(text[len(self._told) :])
        else:
            self._listener.answer_replaced(text)
        self._told = text
