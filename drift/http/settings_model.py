"""Settings of the models, and of the embeddings' length, which graph and model share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from drift.http import per_step
from drift.http.settings_types import Addresses, Required, checked_url
from drift.search import prices


class ModelSettings(Addresses):
    """The model server, and what is asked of it."""

    oai_base_url: Required
    """`https://NAME.openai.azure.com/`, `https://api.openai.com`, or a server like them"""
    oai_model: Required
    """chat model; on Azure the deployment's name"""
    oai_key: SecretStr | None = None
    """API key; unset on Azure: Entra ID (managed identity, or your own login)"""
    oai_api_version: str | None = None
    """set: the classic Azure paths with this version; unset: the v1 API"""
    oai_embed_model_name: Required
    """embedding model; compared with the name that a project's vectors were stored with"""
    oai_embed_deployment_name: str | None = None
    """its deployment on Azure; unset: the model's name"""
    oai_timeout_sec: Annotated[float, Field(gt=0, le=600)] = 60.0
    """longest wait for one reply"""
    llm_temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """sent only when set; reasoning models refuse it, and it is left out then"""
    oai_model_small: str | None = None
    """another chat model or deployment for hypotheses and primers, whose words prove nothing;
    unset: `OAI_MODEL`"""
    oai_reasoning_effort: str | None = None
    """for all steps, such as `low`, or `hypothesis=none,primer=low,followup=low,aggregation=low`,
    which is the default of each; `unsent` leaves it to the provider"""
    max_completion_tokens: str | None = None
    """longest reply, reasoning included, for all steps or as above; the defaults are
    `hypothesis=1000,primer=2000,followup=4000,aggregation=4000`, and four times that after a reply
    was cut by one; `unsent` for no bound"""
    oai_prompt_cache: Literal["auto", "explicit", "unsent"] = "auto"
    """`explicit`: no prompt is written into the provider's cache, which newer models bill 1.25
    times; `auto`: so on OpenAI and Azure's v1 API; `unsent`: as the provider has it"""
    prices: str | None = None
    """prices for `include: ["usage"]`, as JSON; unset: those of [prices.md](prices.md)"""

    @field_validator("oai_base_url")
    @classmethod
    def _http(cls, value: str, info: ValidationInfo) -> str:
        return checked_url(value, {"http", "https"}, info)

    @field_validator("oai_reasoning_effort")
    @classmethod
    def _efforts(cls, value: str | None) -> str | None:
        per_step.efforts(value)
        return value

    @field_validator("max_completion_tokens")
    @classmethod
    def _lengths(cls, value: str | None) -> str | None:
        per_step.lengths(value)
        return value

    @field_validator("prices")
    @classmethod
    def _prices(cls, value: str | None) -> str | None:
        if value is not None:
            prices.read(value)
        return value
