"""The closed table from what goes wrong with the model server to errors of ours.

No sentence holds its words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal

import httpx2
from httpx2 import TimeoutException, TransportError
from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

from drift.core.causes import is_distrusted, name_is_unknown
from drift.core.errors import (
    DriftError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.llm.provider import Failure
from drift.llm.retry import retry_after

_TOO_MANY_REQUESTS = 429
_SERVER_ERRORS = 500
_TRANSIENT = frozenset({408, 409, _TOO_MANY_REQUESTS})

_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"})
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length", "max_tokens_exceeded"})
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_NO_MODEL = frozenset({"model_not_found", "DeploymentNotFound"})

Kind = Literal["chat", "embedding"]
"""What was asked for: an error names what may be wrong with that."""

_UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError)
"""What the SDK raises on an answer of another shape, which it does not validate."""

_STATUS_OF: Mapping[str, int] = {
    "rate": 429,
    "too_many": 429,
    "too many": 429,
    "quota": 429,
    "overload": 503,
    "unavailable": 503,
    "timeout": 408,
    "auth": 401,
    "api_key": 401,
    "permission": 403,
    "not_found": 404,
    "filter": 400,
    "policy": 400,
}
"""By which word of an error's code or type a status is known that is told with another one."""


def told_error(told: object, response: httpx2.Response) -> APIStatusError:
    """Return the SDK's error for one that is told with status 200, whole or in a stream."""
    body = told if isinstance(told, Mapping) else {"message": str(told)[:200]}
    named = " ".join(str(body.get(name) or "") for name in ("code", "status", "type")).casefold()
    status = next((int(word) for word in named.split() if word.isdecimal()), 0)
    if not HTTPStatus.BAD_REQUEST <= status <= 599:  # noqa: PLR2004 - the last of the errors
        known = (number for word, number in _STATUS_OF.items() if word in named)
        status = next(known, _SERVER_ERRORS)

    answer = httpx2.Response(status, headers=response.headers, request=response.request)
    return APIStatusError("told within the answer", response=answer, body=body)


def failure(error: BaseException, setting: str, kind: Kind = "chat") -> Failure | None:
    """Return what an error means, for a model that `setting` names; None for one of ours."""
    if not isinstance(error, (OpenAIError, TransportError, TimeoutError, *_UNREADABLE)):
        return None
    if isinstance(error, APIStatusError):
        return Failure(
            _of_status(error, error.status_code, setting, kind),
            _is_transient(error),
            retry_after(error.response.headers),
        )

    if is_distrusted(error):
        return Failure(
            ModelMisconfiguredError(
                "The model server's certificate is not trusted: check the host of OAI_BASE_URL, "
                "and the certificates here."
            )
        )

    if isinstance(error, TimeoutError | TimeoutException | APITimeoutError):
        said = "The model server did not answer in time."
    elif name_is_unknown(error):
        said = "The model server's name is not known: check the host of OAI_BASE_URL, and DNS."
    elif isinstance(error, APIConnectionError | TransportError | json.JSONDecodeError):
        said = "The model server cannot be reached, or broke off its answer."
    else:
        return Failure(not_this_api())
    return Failure(ModelUnavailableError(said), is_transient=True)


def not_this_api() -> ModelMisconfiguredError:
    """Return the error for an answer of another shape than the API's."""
    return ModelMisconfiguredError("The answer is not one of the OpenAI API: check OAI_BASE_URL.")


def is_too_long(error: APIStatusError) -> bool:
    """Tell whether a text was refused for its length."""
    if _code(error) in _TOO_LONG:
        return True
    words = words_of(error)
    return "token" in words or ("length" in words and "batch" not in words) or "too long" in words


def words_of(error: APIStatusError) -> str:
    """Return the first of an error's own words; some servers repeat the whole request."""
    return str(error.body)[:2000].casefold()


def is_known(error: APIStatusError) -> bool:
    """Tell whether the provider's code of an error says what is wrong."""
    return bool(_code(error))


def _is_transient(error: APIStatusError) -> bool:
    """Tell whether the same request may succeed later."""
    status = error.status_code
    return (status in _TRANSIENT or status >= _SERVER_ERRORS) and _code(error) not in (
        _SPENT | _FILTERED | _TOO_LONG
    )


def _of_status(error: APIStatusError, status: int, setting: str, kind: Kind) -> DriftError:
    code, said = _code(error), f"HTTP {status}"
    if code in _FILTERED:
        return UnusableReplyError("content_filter")

    if code in _SPENT:
        return ModelMisconfiguredError(
            f"The model server's quota is used up ({said}): check the plan and the billing of its "
            "account."
        )

    if status == _TOO_MANY_REQUESTS:
        return ModelUnavailableError(f"The model server has too many requests ({said}).")
    if _is_transient(error):
        return ModelUnavailableError(f"The model server fails ({said}).")

    if kind == "chat" and code in _TOO_LONG:
        return ModelMisconfiguredError(
            f"The prompt is longer than the model of {setting} takes ({said}): lower "
            "MAX_CHUNKS_FOR_PROMPT, or use a model with a larger context."
        )

    return ModelMisconfiguredError(_refusal(status, code, setting, said, kind))


def _refusal(status: int, code: str, setting: str, said: str, kind: Kind) -> str:
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
    if kind == "embedding":
        return (
            f"The model server refused to embed a text ({said}): check that {setting} or "
            "OAI_EMBED_MODEL_NAME names an embedding model, and how long its texts may be."
        )
    return (
        f"The model server refused the request ({said}): check that the model of {setting} takes "
        "what is sent, LLM_TEMPERATURE and JSON schemas among it."
    )


def _code(error: APIStatusError) -> str:
    """Return the provider's own code of an error, or its type where it has none."""
    known = _SPENT | _TOO_LONG | _FILTERED | _NO_MODEL
    body = error.body if isinstance(error.body, Mapping) else {}
    named = (body.get("code"), body.get("type"), error.code, error.type)
    return next((name for name in named if isinstance(name, str) and name in known), "")
