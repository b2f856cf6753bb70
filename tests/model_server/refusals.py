"""What servers refuse of a request that others take, in the words that each make has for it.

Every refusal is a fault by name, and a classic version of Azure's API refuses what came after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from drift.local.model_server.bodies import Json, error_body

JSON_SCHEMA = "json_schema"

KNOWN_SINCE: Mapping[str, str] = {
    "max_completion_tokens": "2024-09-01",
    "reasoning_effort": "2024-12-01",
    "stream_options": "2024-09-01",
    "prompt_cache_options": "9999-12-31",
}
"""Fields by the date of Azure's first version that has them; the v1 API alone has the last one."""
JSON_SCHEMA_SINCE = "2024-08-01"
_VERSION = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is refused: requests of which `strikes` is true, with this answer."""

    strikes: Callable[[Json], bool]
    body: Json
    status: int = 400


def format_of(body: Json) -> str:
    """Return the type of reply that a request asks for; empty for any text."""
    given = body.get("response_format")
    return str(given.get("type", "")) if isinstance(given, dict) else ""


def _asks_for(name: str) -> Callable[[Json], bool]:
    return lambda body: format_of(body) == name


def _has(name: str) -> Callable[[Json], bool]:
    return lambda body: name in body


def _unsupported(name: str, instead: str = "") -> Json:
    return error_body(
        f"Unsupported parameter: '{name}' is not supported with this model.{instead}",
        "unsupported_parameter",
        name,
    )


def unrecognized(name: str) -> Json:
    """Return what a classic version of Azure's API says of a field that it does not know."""
    return error_body(f"Unrecognized request argument supplied: {name}")


_OLD_FORMAT = error_body(
    "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and "
    "later",
    "BadRequest",
)


def _has_system(body: Json) -> bool:
    return any(message.get("role") == "system" for message in body.get("messages", ()))


REFUSALS: Mapping[str, Refusal] = {
    "refuses_system": Refusal(_has_system, error_body("System role not supported", "BadRequest")),
    "refuses_system_silently": Refusal(_has_system, error_body("Bad request")),
    "refuses_json_schema": Refusal(
        _asks_for(JSON_SCHEMA),
        error_body("This response_format type is unavailable now", "invalid_request_error"),
    ),
    "refuses_json_object": Refusal(
        _asks_for("json_object"),
        {"error": "'response_format.type' must be 'json_schema' or 'text'"},
    ),
    "refuses_response_format": Refusal(
        _has("response_format"),
        {
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", "response_format"],
                    "msg": "Extra inputs are not permitted",
                }
            ]
        },
        422,
    ),
    "refuses_effort": Refusal(_has("reasoning_effort"), unrecognized("reasoning_effort")),
    "refuses_max_completion_tokens": Refusal(
        _has("max_completion_tokens"), unrecognized("max_completion_tokens")
    ),
    "refuses_max_tokens": Refusal(
        _has("max_tokens"), _unsupported("max_tokens", " Use 'max_completion_tokens' instead.")
    ),
    "refuses_cache_options": Refusal(
        _has("prompt_cache_options"), _unsupported("prompt_cache_options")
    ),
    "refuses_temperature": Refusal(
        _has("temperature"),
        error_body(
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the "
            "default (1) value is supported.",
            "unsupported_value",
            "temperature",
        ),
    ),
    "refuses_stream": Refusal(_has("stream"), _unsupported("stream")),
    "refuses_stream_options": Refusal(_has("stream_options"), unrecognized("stream_options")),
    "refuses_json_schema_silently": Refusal(_asks_for(JSON_SCHEMA), error_body("Bad request")),
    "refuses_response_format_silently": Refusal(_has("response_format"), error_body("Bad request")),
}


def of_version(version: str, body: Json) -> Json | None:
    """Return the error of a classic version of Azure's API for what it does not know, if any."""
    if not _VERSION.match(version):
        return None
    for name, since in KNOWN_SINCE.items():
        if name in body and version < since:
            return unrecognized(name)
    if format_of(body) == JSON_SCHEMA and version < JSON_SCHEMA_SINCE:
        return _OLD_FORMAT
    return None
