"""Pure: whether one look at the documents settles a question, by a fixed rule.

`depth: "auto"` goes on to primer and follow-ups where it does not. Each reason has a name, which
the trace tells.
"""

from __future__ import annotations

from drift.answer.conclusion import Conclusion
from drift.model.limits import CONFIDENT
from drift.model.tree import CitationCounts

WHOLE = "whole"
"""The question is about all of the documents together, of which one look reads a few passages."""
NO_EVIDENCE = "no_evidence"
"""The question's own search found no chunk."""
UNUSABLE = "unusable_reply"
"""The model's reply could not be used."""
NOT_FOUND = "not_found"
PARTLY = "partly"
"""The verdict, as code leaves it (drift/evidence/verdict.py)."""
CITATION_DROPPED = "citation_dropped"
"""Evidence that the reply names does not stand where it says."""
SENTENCE_LEFT_OUT = "sentence_left_out"
"""A sentence of the answer names no evidence that holds."""
UNSURE = "unsure"
"""The evidence does not say the answer plainly: its confidence is under 0.8."""
SCATTERED = "scattered"
"""The answer is put together from more documents than one look can be sure to have seen all of."""

MAX_DOCUMENTS = 2


def open_question(concluded: Conclusion, counts: CitationCounts) -> str:
    """Return why a look leaves the question open; empty when it settles it."""
    if concluded.verdict != "answered":
        return NOT_FOUND if concluded.verdict == "not_found" else PARTLY
    if counts.dropped:
        return CITATION_DROPPED
    if concluded.left_out:
        return SENTENCE_LEFT_OUT
    if concluded.confidence < CONFIDENT:
        return UNSURE

    facts = [fact for statement in concluded.statements for fact in statement.facts]
    documents = {fact.citation.document_name for fact in facts}
    return SCATTERED if len(documents) > MAX_DOCUMENTS else ""
