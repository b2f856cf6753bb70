"""What the first line of a recording says: versions, prompts, and settings without secrets."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from drift import __version__
from drift.http.settings import Settings
from drift.http.settings_search import NodeSettings, SearchSettings
from drift.local.recording.tape import FORMAT, Json, RecordingError, digest
from drift.prompting import rules

_PACKAGES = ("httpx2", "neo4j", "openai", "pydantic")
_ADDRESSES = ("oai_base_url", "anthropic_base_url", "rerank_url")
_KEPT = (
    *SearchSettings.model_fields,
    *NodeSettings.model_fields,
    *("oai_model", "oai_model_small", "oai_api_version", "oai_embed_model_name"),
    *("oai_embed_deployment_name", "oai_embed_prefixes", "oai_timeout_sec", "oai_prompt_cache"),
    *("oai_reasoning_effort", "llm_temperature", "max_completion_tokens", "prices"),
    *("chat_provider", "embed_fallback", "rerank_model"),
    *("graph_schema", "followup_scope", "vector_index_dimensions", "chunk_vector_index_name"),
    *("chunk_fulltext_index_name", "community_vector_index_name"),
)
"""Settings of which an answer is made: named here, so that no secret ever comes along."""
_STAND_INS: Mapping[str, Any] = {
    **dict.fromkeys(("oai_key", "anthropic_key", "rerank_key", "neo4j_password"), "replayed"),
    "neo4j_uri": "bolt://127.0.0.1",
    "neo4j_username": "replayed",
    "allow_plaintext": True,
}


def head_of(settings: Settings, moment: float) -> dict[str, Json]:
    """Return the head of a recording that begins at a moment, in seconds since 1970."""
    values = settings.model_dump(mode="json", include={*_KEPT, *_ADDRESSES})
    values |= {name: _bare(values[name]) for name in _ADDRESSES}
    return {
        "drift_recording": FORMAT,
        "drift": __version__,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
        "moment": moment,
        "settings": values,
        "prompts": prompts(),
    }


def prompts() -> dict[str, str]:
    """Return the hash of each step's instructions, as this release has them."""
    texts = {name: text for name, text in vars(rules).items() if name.endswith("_SYSTEM")}
    return {name.removesuffix("_SYSTEM").lower(): digest(text) for name, text in texts.items()}


def settings_of(head: Any) -> Settings:  # noqa: ANN401 - what a file says
    """Return the settings of a recording; nothing of the environment is among them."""
    try:
        told = head["settings"]
        # A setting that is newer than the file has its default.
        values: dict[str, Any] = {one: told[one] for one in (*_KEPT, *_ADDRESSES) if one in told}
        float(head["moment"])
        return _Recorded(**values, **_STAND_INS)
    except ValidationError as error:
        names = ", ".join(sorted({str(one["loc"][0]).upper() for one in error.errors()}))
        raise RecordingError(f"The recording's settings cannot be used: {names}.") from None
    except (KeyError, TypeError, ValueError):
        raise RecordingError(
            "The head of the recording says no settings that this release can use: replay it "
            "with the release that wrote it."
        ) from None


class _Recorded(Settings):
    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def _bare(address: str | None) -> str | None:
    """Return an address without what may be a secret in it."""
    if address is None:
        return None
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()
