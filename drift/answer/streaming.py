"""An answer is told to whoever follows the retrieval: as it grows, and then its citations."""

from __future__ import annotations

from typing import Protocol

from drift.contracts.answer import RetrieveResponse, TraceNode
from drift.model.calls import Hear
from drift.ports import AnswerListener, Listener


class Growing(Protocol):
    """An answer that is read while the model writes it."""

    def deliverable(self, reply: str) -> str:
        """Return what can be delivered of a reply that has come so far."""
        ...


class Words:
    """What a listener has been told of the words of one answer; without a listener nothing is."""

    def __init__(self, listener: AnswerListener | None = None) -> None:
        """Begin with nothing told."""
        self._hearer = listener
        self._told = ""

    def hear(self, growing: Growing) -> Hear | None:
        """Return what tells of a reply while it is written; None where nobody listens."""
        if self._hearer is None:
            return None
        return lambda reply: self._grown(growing.deliverable(reply))

    def _grown(self, text: str) -> None:
        """Tell what has come; an answer that is written once more is told where it differs."""
        if not self._told.startswith(text):
            self._tell(text)

    def ended(self, text: str) -> None:
        """Tell what is left of the answer as it is delivered."""
        if text != self._told:
            self._tell(text)

    def _tell(self, text: str) -> None:
        if self._hearer is None:
            return

        if text.startswith(self._told):
            self._hearer.answer_delta(text[len(self._told) :])
        else:
            self._hearer.answer_replaced(text)

        self._told = text


class Telling(Words):
    """What a listener has been told of the answer of a whole search."""

    def __init__(self, listener: Listener | None = None) -> None:
        """Begin with nothing told."""
        super().__init__(listener)
        self._listener = listener

    def followup(self, node: TraceNode) -> None:
        """Tell of a follow-up that begins, or has ended."""
        if self._listener is not None:
            self._listener.followup(node)

    def whole(self, response: RetrieveResponse) -> None:
        """Tell what is left of the answer as it is delivered, then its citations."""
        if self._listener is None:
            return
        self.ended(response.final_answer)
        if response.key_facts:
            self._listener.citations(response.key_facts)
