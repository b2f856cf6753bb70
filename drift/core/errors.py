"""Every error of ours, in families by what the caller does about it.

- RequestError (400 to 415): the caller changes the request.
- BusyError (429): the caller waits; StoppingError, DocumentStoreError (503): it asks again.
- NotConfiguredError (503): the operator sets what `problems` names.
- UpstreamError (500): a server behind us failed after its retries.
- UnusableReplyError: the model answered, but not usably: the step is dropped.
- IngestError, LocalStackError: for those who run commands, with what to do.

`detail` of an error may be shown to callers: never a URI, a key, a token, a Cypher text or a
provider's own message. What a developer needs beyond that goes to the log, from the exception's
`__cause__`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


class DriftError(Exception):
    """Base of all; `detail` is one sentence for the caller."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, detail: str) -> None:
        """Keep the sentence that callers may read."""
        super().__init__(detail)
        self.detail = detail


class RequestError(DriftError):
    """The request itself is wrong."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One broken field: its dotted name (empty for the whole body) and what was expected."""

    field: str
    message: str


class InvalidRequestError(RequestError):
    """The body is not JSON or breaks the contract; `problems` names every broken field."""

    code = "invalid_request"
    status = 400

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        """Keep all problems; the detail names the fields."""
        names = ", ".join(dict.fromkeys(p.field or "body" for p in problems))
        super().__init__(f"The request is not valid: {names}.")
        self.problems = problems


class TooLargeError(RequestError):
    """The body is over the size limit."""

    code = "too_large"
    status = 413


class UnsupportedMediaTypeError(RequestError):
    """The body is not declared as JSON."""

    code = "unsupported_media_type"
    status = 415


class ForeignHostError(RequestError):
    """A request to the local host under another host name, or from a page of another site."""

    code = "foreign_host"
    status = 403


class UnauthenticatedError(RequestError):
    """The request has no credential, or none that is known; `reason` is for the log alone."""

    code = "unauthenticated"
    status = 401

    def __init__(self, detail: str, reason: str) -> None:
        """Keep what the caller is told, and what the log is told."""
        super().__init__(detail)
        self.reason = reason


class ForbiddenError(RequestError):
    """The caller has no such right on the project, which may or may not exist.

    Without a project the caller has none at all. `caller` is its name, for the log.
    """

    code = "forbidden"
    status = 403

    def __init__(self, project_id: str | None, right: str, caller: str) -> None:
        """Keep what was asked for; the caller is told no more than it has said."""
        about = "on this project" if project_id is not None else "on any project"
        super().__init__(f"This credential has no {right} right {about}.")
        self.project_id = project_id
        self.right = right
        self.caller = caller


class NotFoundError(RequestError):
    """The project holds nothing under the id of the path."""

    code = "not_found"
    status = 404


class ContentNotKeptError(NotFoundError):
    """The document is there, and the file that it was read from is not."""

    code = "content_not_kept"


class ConflictError(RequestError):
    """What is asked for does not fit what is there."""

    code = "conflict"
    status = 409


class ProjectHeldError(ConflictError):
    """An ingest holds the project; come back after `retry_after_s` seconds."""

    code = "project_held"
    retry_after_s = 10

    def __init__(self, project_id: str) -> None:
        """Name the project."""
        super().__init__(f"An ingest is writing the project {project_id!r}; try again later.")


class BusyError(DriftError):
    """As many requests as allowed are in flight; come back after `retry_after_s` seconds."""

    code = "busy"
    status = 429
    retry_after_s: int = 2


class QuotaError(BusyError):
    """A key has used what it may; `limit` is the name of the limit, as PROJECT_KEYS calls it."""

    code = "quota_exceeded"

    def __init__(self, limit: str, most: int, retry_after_s: int) -> None:
        """Keep which limit it was and when there is room again."""
        super().__init__(f"This key may use {most} {limit.replace('_', ' ')}; try again later.")
        self.limit = limit
        self.retry_after_s = retry_after_s


class StoppingError(DriftError):
    """The process is being stopped, before the answer was there."""

    code = "stopping"
    status = 503
    retry_after_s = 2

    def __init__(self, detail: str = "The service is being stopped; ask again.") -> None:
        """Tell the caller to ask again."""
        super().__init__(detail)


class DocumentStoreError(DriftError):
    """The store of original files does not answer; come back after `retry_after_s` seconds."""

    code = "document_store_unavailable"
    status = 503
    retry_after_s = 10


class NotConfiguredError(DriftError):
    """Settings are missing or wrong; `problems` has a sentence for each, its name first."""

    code = "not_configured"
    status = 503
    retry_after_s = 30

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Keep all problems; the detail repeats them, none contains a value."""
        super().__init__("The service is not configured. " + " ".join(problems))
        self.problems = problems


class UpstreamError(DriftError):
    """A server behind this service failed, after its retries."""


class GraphUnavailableError(UpstreamError):
    """The graph database cannot be reached."""

    code = "graph_unavailable"


class GraphTimeoutError(GraphUnavailableError):
    """One statement ran into its time limit; the graph itself answers."""


class GraphMisconfiguredError(UpstreamError):
    """The graph refuses us or lacks what the settings name; retrying does not help."""

    code = "graph_misconfigured"


class GraphVectorsError(GraphMisconfiguredError):
    """A stored vector cannot be compared with the question's; the server does not say which."""


class VectorStoreError(UpstreamError):
    """The store of vectors beside the graph fails; the graph's own vectors answer."""

    code = "vectors_unavailable"


class ModelUnavailableError(UpstreamError):
    """The model server cannot be reached, throttles, or fails."""

    code = "model_unavailable"


class ModelMisconfiguredError(UpstreamError):
    """The model server refuses key, deployment or name of the model; retrying does not help."""

    code = "model_misconfigured"


class FeedbackUnavailableError(UpstreamError):
    """Redis, which keeps feedback, cannot be used; the detail says why."""

    code = "feedback_unavailable"


class DeadlineError(UpstreamError):
    """The time of the request is used up and there is nothing to answer from."""

    code = "deadline"


class UnusableReplyError(DriftError):
    """The model's reply is refused, filtered, cut, empty or not of the requested shape.

    `detail` is one word for that, or says what is wrong with the shape.
    """

    code = "unusable_reply"

    @property
    def sentence(self) -> str:
        """What happened and what to do, for whoever asked."""
        unusable = {
            "refused": "it refuses to reply",
            "content_filter": "its content filter cut the reply",
            "length": "its reply was cut, raise MAX_COMPLETION_TOKENS or lower "
            "OAI_REASONING_EFFORT",
            "empty": "its reply is empty or holds thoughts alone, try OAI_REASONING_EFFORT=none",
        }
        return f"The model gave no usable answer: {unusable.get(self.detail, self.detail)}."


class OutOfTokensError(InvalidRequestError, UnusableReplyError):
    """A call to the model was not begun: with it a request would need `least` tokens.

    It loses a step as an unusable reply does. Where nothing was found yet the request is wrong.
    """

    def __init__(self, least: int, most: int) -> None:
        """Keep what the caller can change."""
        problem = f"must be at least {least} for the next call to the model, and is {most}"
        super().__init__((FieldProblem("limits.max_tokens", problem),))


class IngestError(DriftError):
    """A source cannot be read, or does not fit the graph that is there."""

    code = "ingest"


class ProjectBusyError(IngestError):
    """Another writer held the project for longer than this one was to wait."""


class LeaseLostError(IngestError):
    """This writer gave no sign of life for so long that it may write nothing more."""


class LocalStackError(DriftError):
    """A local server could not be started; the message says why and what to do."""

    code = "local_stack"
