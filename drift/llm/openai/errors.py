"""The closed table from what goes wrong with the model server to errors of ours.

No sentence holds its words.
"""

from __future__ import annotations

import json
from http import HTTPStatus

from openai import APIConnectionError, APIError, APITimeoutError

from drift.core.causes import is_distrusted, name_is_unknown
from drift.core.errors import (
    DriftError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.llm.openai.replies import not_this_api
from drift.llm.retry import retry_after

_TOO_MANY_REQUESTS = 429
_SERVER_ERRORS = 500
_TRANSIENT = frozenset({408, 409, _TOO_MANY_REQUESTS})

_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"})
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length", "max_tokens_exceeded"})
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_NO_MODEL = frozenset({"model_not_found", "DeploymentNotFound"})

UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError)
"""What the SDK raises on an answer of another shape, which it does not validate."""


def is_transient(error: BaseException) -> bool:
    """Tell whether the same request may succeed later."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return (status in _TRANSIENT or status >= _SERVER_ERRORS) and _code(error) not in _SPENT
    if is_distrusted(error):
        return False
    if type(error) is APIError:  # told within a stream, which has begun with status 200
        return not _code(error)

    return isinstance(error, APIConnectionError | TimeoutError | json.JSONDecodeError)


def asked_wait(error: BaseException) -> float:
    """Return the seconds that the server asked to wait with this error."""
    response = getattr(error, "response", None)
    return retry_after(response.headers) if response is not None else 0.0


def is_known(error: BaseException) -> bool:
    """Tell whether the provider's code of an error says what is wrong."""
    return bool(_code(error))


def translated(error: Exception, setting: str) -> DriftError:
    """Return the error of ours for one of the SDK; its text holds nothing of the provider's.

    `setting` names the one that the model comes from.
    """
    told_within = type(error) is APIError
    status = 0 if told_within else getattr(error, "status_code", None)
    if isinstance(status, int):
        return _of_status(error, status, setting)
    if isinstance(error, TimeoutError | APITimeoutError):
        return ModelUnavailableError("The model server did not answer in time.")

    if is_distrusted(error):
        return ModelMisconfiguredError(
            "The model server's certificate is not trusted: check the host of OAI_BASE_URL, and "
            "the certificates here."
        )

    if name_is_unknown(error):
        return ModelUnavailableError(
            "The model server's name is not known: check the host of OAI_BASE_URL, and DNS."
        )

    if is_transient(error):
        return ModelUnavailableError("The model server cannot be reached, or broke off its answer.")
    return not_this_api()


def _of_status(error: Exception, status: int, setting: str) -> DriftError:
    code, said = _code(error), f"HTTP {status}" if status else "within its answer"
    if code in _FILTERED:
        return UnusableReplyError("content_filter")

    if code in _SPENT:
        return ModelMisconfiguredError(
            f"The model server's quota is used up ({said}): check the plan and the billing of its "
            "account."
        )

    if status == _TOO_MANY_REQUESTS:
        return ModelUnavailableError(f"The model server has too many requests ({said}).")
    if is_transient(error):
        return ModelUnavailableError(f"The model server fails ({said}).")

    if code in _TOO_LONG:
        return ModelMisconfiguredError(
            f"The prompt is longer than the model of {setting} takes ({said}): lower "
            "MAX_CHUNKS_FOR_PROMPT, or use a model with a larger context."
        )

    return ModelMisconfiguredError(_refusal(status, code, setting, said))


def _refusal(status: int, code: str, setting: str, said: str) -> str:
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return (
            f"The model server refuses the credentials ({said}): check OAI_KEY, or the role of the "
            "identity."
        )

    if code in _NO_MODEL:
        return f"The model server has no model of that name ({said}): check {setting}."

    if status == HTTPStatus.NOT_FOUND:
        return (
            f"The model server does not know the model or the path ({said}): check {setting}, "
            "OAI_BASE_URL and OAI_API_VERSION."
        )

    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"The model server is at another address ({said}): check OAI_BASE_URL."
    return (
        f"The model server refused the request ({said}): check that the model of {setting} takes "
        "what is sent, LLM_TEMPERATURE and JSON schemas among it."
    )


def _code(error: BaseException) -> str:
    """Return the provider's own code of an error, or its type where it has none."""
    known = _SPENT | _TOO_LONG | _FILTERED | _NO_MODEL
    named = (getattr(error, name, None) for name in ("code", "type"))
    return next((name for name in named if isinstance(name, str) and name in known), "")
