"""What an answer says of its search: what was lost on the way, and what was searched for."""

from __future__ import annotations

from drift.contracts.answer import QueryOut, RetrieveResponse
from drift.search.scope import EMBEDDED_LOCALLY, UNRERANKED, UNREWRITTEN, Scope

_IN_THE_TRACE = {
    EMBEDDED_LOCALLY: {"embedding": "local"},
    UNRERANKED: {"reranking": "lost"},
    UNREWRITTEN: {"rewriting": "lost"},
}


def searched_for(scope: Scope) -> QueryOut:
    """Return the question of a scope as it was asked, and as it was searched for."""
    asked = scope.asked or scope.question
    return QueryOut(asked=asked, searched=scope.question, rewritten=bool(scope.asked))


def with_remarks(answered: RetrieveResponse, scope: Scope) -> RetrieveResponse:
    """Return an answer that says how it was searched for; one that was kept says so already."""
    told = {
        name: value
        for event, said in _IN_THE_TRACE.items()
        if event in scope.lost
        for name, value in said.items()
    }
    update: dict[str, object] = {}
    if answered.trace and told:
        update["trace"] = answered.trace.model_copy(update=told)
    if EMBEDDED_LOCALLY in scope.lost:
        note = "The embedding model did not answer: a smaller one found the evidence."
        update["residual_uncertainty"] = f"{answered.residual_uncertainty} {note}".strip()
    if "query" in scope.request.include and answered.query is None:
        update["query"] = searched_for(scope)
    return answered.model_copy(update=update)
