"""The primer's call: a coarse answer from communities and samples, and the first follow-ups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.contracts.replies import PrimerReply
from drift.core.errors import UnusableReplyError
from drift.core.logs import log
from drift.evidence.handles import without_handles
from drift.model.graph import Position, PrimerEvidence
from drift.model.tree import Proposal
from drift.prompting import budget
from drift.prompting.elements import Handles
from drift.search.calls import ChatCalls
from drift.search.replies import ask

MIN_FOLLOWUPS = 2
MAX_FOLLOWUPS = 6


@dataclass(frozen=True, slots=True)
class Plan:
    """The primer's reply, the follow-ups that it proposes, and the user's question as one more."""

    first: PrimerReply
    proposals: tuple[Proposal, ...]
    question: Proposal

    def beside(self, has_begun: bool) -> Sequence[Proposal]:
        """Return what is asked first.

        The question itself is asked where nothing else is, and also beside a single other, unless
        the search has begun with an answer to it.
        """
        if not self.proposals or (len(self.proposals) < MIN_FOLLOWUPS and not has_begun):
            return (*self.proposals, self.question)
        return self.proposals


async def planned(chat: ChatCalls, question: str, found: PrimerEvidence, most_tokens: int) -> Plan:
    """Return what the model makes of the communities; without a usable reply an empty plan.

    Raises:
        ModelUnavailableError, ModelMisconfiguredError: from the model.
    """
    handles = Handles.of("C", (c.id for c in found.communities))
    itself = Proposal(question, handles.keys)
    prompt = budget.primer(question, found, handles, most_tokens)
    try:
        reply = await ask(chat, prompt, PrimerReply)
    except UnusableReplyError as error:
        log.warning("primer_unusable", extra={"reason": error.detail})
        return Plan(PrimerReply(), (), itself)

    in_prose = dict.fromkeys(handles.all_short(), "")
    said_by = [question, *(c.summary for c in found.communities)]
    first = reply.said(lambda text: without_handles(text, in_prose, said_by))
    proposals = (
        Proposal(
            followup.question,
            handles.resolved(followup.target_communities),
            position=Position(followup.position, followup.document) if followup.position else None,
        )
        for followup in first.followups[:MAX_FOLLOWUPS]
    )

    return Plan(first, tuple(proposals), itself)
