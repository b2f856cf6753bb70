"""The closed table from what goes wrong with a model server to errors of ours.

No sentence holds its words. The SDKs of all providers come from one generator, and name their
errors alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from httpx2 import (
    InvalidURL,
    LocalProtocolError,
    TimeoutException,
    TransportError,
    UnsupportedProtocol,
)

from drift.core.causes import causes, is_distrusted, name_is_unknown, speaks_no_tls
from drift.core.errors import (
    DriftError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.llm.retry import Failure, retry_after

_CODES: Mapping[str, Literal["spent", "too long", "filtered", "no model"]] = {
    "insufficient_quota": "spent",
    "billing_hard_limit_reached": "spent",
    "quota_exceeded": "spent",
    "billing_error": "spent",
    "context_length_exceeded": "too long",
    "string_above_max_length": "too long",
    "max_tokens_exceeded": "too long",
    "request_too_large": "too long",
    "exceed_context_size_error": "too long",
    "content_filter": "filtered",
    "content_policy_violation": "filtered",
    "model_not_found": "no model",
    "DeploymentNotFound": "no model",
}
"""The meaning of the codes of errors, of all makes."""

Kind = Literal["chat", "embedding", "rerank"]
"""What was asked for: an error names what may be wrong with that."""


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
    "too_large": 413,
    "context": 400,
}
"""By which word of an error's code or type a status is known that is told with another one."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings that name a model server, and what its API is called."""

    api: str = "OpenAI"
    url: str = "OAI_BASE_URL"
    key: str = "OAI_KEY"
    path: str = "OAI_BASE_URL and OAI_API_VERSION"


OPENAI = ServerSettings()


@dataclass(frozen=True, slots=True)
class _CallTarget:
    """The target of a call: model and server."""

    setting: str
    kind: Kind
    server: ServerSettings


def failure(
    error: BaseException, setting: str, kind: Kind = "chat", server: ServerSettings = OPENAI
) -> Failure | None:
    """Return the meaning of an error for the model of `setting`; None for an error of ours."""
    if isinstance(error, DriftError) or not isinstance(error, Exception):
        return None
    if _is_named(error, "APIStatusError"):
        return _of_status(error, _CallTarget(setting, kind, server))

    if wrong := _never_reached(error, server):
        return Failure(ModelMisconfiguredError(wrong))

    if isinstance(error, TimeoutError | TimeoutException) or _is_named(error, "APITimeoutError"):
        said = "The model server did not answer in time."
    elif name_is_unknown(error):
        said = f"The model server's name is not known: check the host of {server.url}, and DNS."
    elif isinstance(error, TransportError | json.JSONDecodeError) or _is_named(
        error, "APIConnectionError"
    ):
        said = "The model server cannot be reached, or broke off its answer."
        if "disconnected without" in " ".join(map(str, causes(error))):
            said += f" One with TLS needs https:// in {server.url}."
    elif isinstance(error, ValueError | TypeError | AttributeError | RecursionError) or _is_named(
        error, "OpenAIError", "AnthropicError"
    ):
        # An SDK does not validate an answer, and stumbles over one of another shape.
        return Failure(not_this_api(server))
    else:
        return None
    return Failure(ModelUnavailableError(said), is_transient=True)


def _never_reached(error: BaseException, server: ServerSettings) -> str:
    """Return the fault of an address or a key by which no request will ever arrive."""
    if is_distrusted(error):
        return (
            f"The model server's certificate is not trusted: check the host of {server.url}, "
            "and the certificates here."
        )
    if speaks_no_tls(error):
        return f"The model server does not speak TLS: begin {server.url} with http://, or check it."
    unsendable = LocalProtocolError | UnsupportedProtocol | InvalidURL | UnicodeEncodeError
    if any(isinstance(cause, unsendable) for cause in causes(error)):
        return (
            f"A request to the model server cannot be written: check {server.key} and {server.url} "
            "for characters that do not belong there."
        )
    return ""


def _is_named(error: BaseException, *names: str) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)


def not_this_api(server: ServerSettings = OPENAI) -> ModelMisconfiguredError:
    """Return the error for an answer of another shape than the API's."""
    return ModelMisconfiguredError(
        f"The answer is not one of the {server.api} API: check {server.url}."
    )


def is_too_long(error: Any) -> bool:  # noqa: ANN401 - an error of an SDK
    """Tell whether a text was refused for its length."""
    if _code(error) == "too long":
        return True
    words = words_of(error)
    return "token" in words or ("length" in words and "batch" not in words) or "too long" in words


def words_of(error: Any) -> str:  # noqa: ANN401 - the same
    """Return the first of an error's own words; some servers repeat the whole request."""
    return str(error.body)[:2000].casefold()


def is_known(error: Any) -> bool:  # noqa: ANN401 - the same
    """Tell whether the provider's code of an error is known."""
    return bool(_code(error))


def _of_status(error: Any, target: _CallTarget) -> Failure:  # noqa: ANN401 - the same
    code, status = _code(error), status_of(error)
    may_pass = _may_pass(status) and not code
    is_transient = may_pass and not _is_prompt_too_long(error, status, target)
    wait_s = retry_after(error.response.headers)
    return Failure(_meaning(error, status, target), is_transient, wait_s)


def _may_pass(status: int) -> bool:
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.CONFLICT,
        HTTPStatus.TOO_MANY_REQUESTS,
    }


def _is_prompt_too_long(error: Any, status: int, target: _CallTarget) -> bool:  # noqa: ANN401 - the same
    """Tell whether a model does not read so much; a limit of tokens a minute is another thing."""
    if target.kind != "chat" or status == HTTPStatus.TOO_MANY_REQUESTS:
        return False
    in_words = re.search(
        r"context[ _-](length|window|size|limit)|maximum context|reduce the length|"
        r"(prompt|input|inputs|message|messages|request|conversation)`?,? [^.]{0,40}"
        r"too (long|large)|"
        r"too many (input |prompt )?tokens|tokens?`? [^.]{0,60}(exceed|must be <=)|"
        r"exceeds? [^.]{0,40}(context|tokens?\b)|too large for model",
        words_of(error),
    )
    return _code(error) == "too long" or in_words is not None


def status_of(error: Any) -> int:  # noqa: ANN401 - the same
    """Return an error's status, also of one that is told within an answer of status 200."""
    if error.status_code >= HTTPStatus.MULTIPLE_CHOICES:
        return int(error.status_code)

    words = " ".join(_names(error)).casefold()
    told = next((int(word) for word in words.split() if word.isdecimal()), 0)
    if HTTPStatus.BAD_REQUEST <= told <= 599:  # noqa: PLR2004 - the last of the errors
        return told
    return next((status for word, status in _STATUS_OF.items() if word in words), 500)


def _meaning(error: Any, status: int, target: _CallTarget) -> DriftError:  # noqa: ANN401 - the same
    code, said = _code(error), f"HTTP {status}"
    if code == "filtered":
        return UnusableReplyError("content_filter")

    if code == "spent":
        return ModelMisconfiguredError(
            f"The model server's quota is used up ({said}): check the plan and the billing of its "
            "account."
        )

    if _is_prompt_too_long(error, status, target):
        return ModelMisconfiguredError(
            f"The prompt is longer than the model of {target.setting} takes ({said}): lower "
            "MAX_CHUNKS_FOR_PROMPT or MAX_PROMPT_TOKENS, or use a model with a larger context."
        )

    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return ModelUnavailableError(f"The model server has too many requests ({said}).")
    if _may_pass(status):
        return ModelUnavailableError(f"The model server fails ({said}).")

    return ModelMisconfiguredError(_refusal(status, code, said, target))


def _refusal(status: int, code: str, said: str, target: _CallTarget) -> str:
    setting, server = target.setting, target.server
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return (
            f"The model server refuses the credentials ({said}): check {server.key}, or the role "
            "of the identity."
        )

    if code == "no model":
        return f"The model server has no model of that name ({said}): check {setting}."

    if status == HTTPStatus.NOT_FOUND:
        return (
            f"The model server does not know the model or the path ({said}): check {setting}, "
            f"{server.path}."
        )

    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"The model server is at another address ({said}): check {server.url}."
    refused = {
        "embedding": f"to embed a text ({said}): check that {setting} or OAI_EMBED_MODEL_NAME "
        "names an embedding model, and how long its texts may be.",
        "rerank": f"to rank texts ({said}): check that {setting} names a reranker, and how long "
        "its texts may be.",
        "chat": f"the request ({said}): check that the model of {setting} takes what is sent, "
        "LLM_TEMPERATURE and JSON schemas among it.",
    }
    return f"The model server refused {refused[target.kind]}"


def _names(error: Any) -> tuple[str, ...]:  # noqa: ANN401 - the same
    """Return the names of an error: its codes, status and types, of any make."""
    body = error.body
    if isinstance(body, list) and body:  # as Gemini has it
        body = body[0]
    body = body if isinstance(body, Mapping) else {}
    inner = body.get("error")
    bodies = (inner if isinstance(inner, Mapping) else {}, body)
    names = [one.get(name) for one in bodies for name in ("code", "status", "type")]
    names += [getattr(error, "code", None), getattr(error, "type", None)]
    return tuple(str(name) for name in names if isinstance(name, str | int))


def _code(error: Any) -> str:  # noqa: ANN401 - the same
    """Return the meaning of an error's code, or of its type where it has none; else nothing."""
    return next((_CODES[name] for name in _names(error) if name in _CODES), "")
