"""An answer is told to whoever follows the retrieval: as it grows, and then its citations."""

from __future__ import annotations

from collections.abc import Callable

from drift.contracts.answer import RetrieveResponse, TraceNode
from drift.model.calls import Hear
from drift.ports import Listener


class Telling:
    """What a listener has been told of one answer; without a listener nothing is."""

    def __init__(self, listener: Listener | None = None) -> None:
        """Begin with nothing told."""
        self._listener = listener
        self._told = ""

    def hear(self, deliverable: Callable[[str], str]) -> Hear | None:
        """Return what tells of a reply while it is written; None where nobody listens.

        `deliverable` returns what can be delivered of a reply that has come so far. An answer that
        is written once more is told where it differs.
        """
        if self._listener is None:
            return None

        def grown(reply: str) -> None:
            text = deliverable(reply)
            if not self._told.startswith(text):
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
