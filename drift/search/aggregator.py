"""The aggregator: one last call, which makes the answer of all findings."""

from __future__ import annotations

from drift.answer import conclusion
from drift.answer.conclusion import Conclusion
from drift.answer.streaming import GrowingAnswer, Telling
from drift.contracts.final_replies import AggregateReply
from drift.core.errors import UnusableReplyError
from drift.evidence.missing_names import unseen_name
from drift.model.graph import PrimerEvidence, texts_of
from drift.model.tree import Tree
from drift.prompting import budget
from drift.search.scope import Scope


async def aggregate(
    scope: Scope, telling: Telling, tree: Tree, found: PrimerEvidence
) -> Conclusion:
    """Return the answer, of sentences that stand on checked facts, told while it is written."""
    nodes, question = tree.in_order(), scope.question
    prompt, facts = budget.aggregator(question, nodes, tree.retrieved, scope.longest_last_prompt)
    if not facts:
        return Conclusion()

    shown = _shown(tree, found)
    growing = GrowingAnswer(lambda _: () if unseen_name(question, shown) else facts)
    hear = telling.hear(growing.deliverable)
    try:
        reply = await scope.ask(prompt, AggregateReply, hear)
    except UnusableReplyError as error:
        scope.lose("aggregation_unusable", reason=error.detail)
        return as_found(scope, tree, found)

    return conclusion.conclude(question, reply, facts, nodes, shown)


def as_found(scope: Scope, tree: Tree, found: PrimerEvidence) -> Conclusion:
    """Return the follow-ups' own answers as the answer, without a call."""
    return conclusion.without_last_call(scope.question, tree.in_order(), _shown(tree, found))


def _shown(tree: Tree, found: PrimerEvidence) -> list[str]:
    """Return all texts that a model saw."""
    return [*texts_of(tree.retrieved.values()), *(c.summary for c in found.communities)]
