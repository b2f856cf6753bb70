"""A question in a conversation becomes one that can be searched for without it.

One cheap call says whether it has to. What was said before is no evidence, and no later step sees
it; a call that fails costs this step alone.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import TypeAdapter

from drift.contracts.progress import Phase
from drift.contracts.replies import StandaloneReply
from drift.contracts.request import Query, problem_with
from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError, UnusableReplyError
from drift.evidence.rewritten import fault_of
from drift.prompting.conversation import standalone
from drift.search.progress import Progress, escape_markdown
from drift.search.scope import LOSES_ONLY_THE_STEP, UNREWRITTEN, Scope, parse

_OF_THE_TIME = 1 / 4
_QUERY: TypeAdapter[str] = TypeAdapter(Query)


async def in_full(scope: Scope, progress: Progress) -> Scope:
    """Return the scope of the question as it stands alone; the same one where it does so itself."""
    prompt = standalone(scope.question, scope.request.history, scope.limits.max_prompt_tokens)
    if prompt is None:
        return scope

    progress.report(Phase.EXPANDING_QUERY, "Reading the question in its conversation")
    share = Deadline.after(scope.deadline.require() * _OF_THE_TIME, scope.deadline.clock)
    try:
        reply = await scope.ports.chat.complete(prompt, share)
        question = _question(parse(reply.text, StandaloneReply), scope)
    except (*LOSES_ONLY_THE_STEP, DeadlineError) as error:
        scope.lose(UNREWRITTEN, error, reason=error.detail)
        return scope

    if question == " ".join(scope.question.split()):
        return scope
    searching = "Searching for the question as it stands alone"
    progress.report(Phase.EXPANDING_QUERY, searching, escape_markdown(question))
    request = scope.request.model_copy(update={"query": question, "history": ()})
    return replace(scope, request=request, asked=scope.question)


def _question(reply: StandaloneReply, scope: Scope) -> str:
    """Return the question to search for; UnusableReplyError where it is not the one asked."""
    question = " ".join((scope.question if reply.stands_alone else reply.question).split())
    said = (message.content for message in scope.request.history)
    if problem := problem_with(_QUERY, question) or fault_of(question, scope.question, said):
        raise UnusableReplyError(problem)
    return question
