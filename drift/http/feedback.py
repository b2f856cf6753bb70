"""The routes of feedback: who got an answer scores it, and who may write its project reads that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import Response

from drift.contracts.feedback import AnsweredFact, Feedback, FeedbackOut, FeedbackPage, cut
from drift.contracts.request import project_id_problem
from drift.core.errors import (
    FieldProblem,
    ForbiddenError,
    InvalidRequestError,
    NotConfiguredError,
    NotFoundError,
)
from drift.core.logs import log
from drift.http import http
from drift.http.cursors import NUMBER, ListName, cursor, position
from drift.http.route import Call
from drift.model.reading import PageQuery

if TYPE_CHECKING:  # it loads what only a first request shall
    from drift.redis.feedback import RedisFeedback

OF_PROJECT = "projects/{id}/feedback"


async def give_feedback(call: Call) -> Response:
    """Say whether an answer was good, and what was wrong with it.

    It is kept, in the place of what the caller said of this answer before.
    """
    said: Feedback = call.body
    call.retrieval_id = str(said.retrieval_id)
    kept = await _kept(call)
    answer = await kept.answer(call.caller, call.retrieval_id)
    if answer is None or not call.caller.may(answer.project_id, "read"):
        raise NotFoundError("No answer to this caller is known under this retrieval_id.")

    given = {**dict(answer), **said.model_dump(exclude={"retrieval_id"})}
    given |= {"fact": _number(said.fact, answer.facts), "given_at": datetime.now(UTC)}
    project = call.caller.project(answer.project_id)
    await kept.give(project, FeedbackOut.model_validate(given))
    about = {"retrieval_id": call.retrieval_id, "project_id": project.id}
    said_of = {"caller": call.caller.name, "score": said.score, "reason": said.reason}
    log.info("feedback_given", extra={**about, **said_of})

    return Response(status_code=HTTPStatus.NO_CONTENT, media_type=http.JSON)


async def read_feedback(call: Call) -> Response:
    """What callers said of a project's answers, the newest first.

    A page of it, for who may write the project.
    """
    if problem := project_id_problem(call.id):
        raise InvalidRequestError((FieldProblem("project_id", problem),))
    project = call.caller.project(call.id, "write")
    if call.caller.project(call.id).filter is not None:  # facts are of all documents
        raise ForbiddenError(call.id, "read", call.caller.name)
    listed = ListName(OF_PROJECT, project.id, (NUMBER,))
    after = position(listed, call.query.cursor) if call.query.cursor is not None else None
    kept = await _kept(call)
    page = await kept.of_project(project, PageQuery(call.query.limit, after))
    return http.read(FeedbackPage(feedback=page.rows, next=cursor(listed, page.last)))


async def _kept(call: Call) -> RedisFeedback:
    """Return what keeps feedback, for a request that counts for its caller."""
    service = await call.service()
    if not service.settings.feedback_days:
        raise NotFoundError("There is nothing under this path.")
    if service.feedback is None:
        raise NotConfiguredError(("REDIS_URL is needed and no CACHE=off: Redis keeps feedback.",))
    await service.quotas.admit(call.caller)
    return service.feedback


def _number(fact: int | str | None, facts: Sequence[AnsweredFact]) -> int | None:
    """Return the number of the fact that is meant, from 1; InvalidRequestError for another."""
    texts = [one.fact for one in facts]
    if isinstance(fact, str) and cut(fact) in texts:
        return texts.index(cut(fact)) + 1
    if fact is None or (isinstance(fact, int) and 1 <= fact <= len(facts)):
        return fact
    wanted = f"must be a number from 1 to {len(facts)}, or the text of one of these key facts"
    said = wanted if facts else "must be left out: the answer has no key facts"
    raise InvalidRequestError((FieldProblem("fact", said),))
