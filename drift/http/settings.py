"""The only reader of the environment: one frozen object, or one error that names each problem."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from pydantic import AliasChoices, ValidationError

from drift.contracts.progress import CHANNEL, OWN_CHANNEL
from drift.core.errors import NotConfiguredError
from drift.http import at_import
from drift.http.settings_access import AccessSettings, PageSettings, ReadingSettings
from drift.http.settings_base import SettingsGroup
from drift.http.settings_graph import GraphSettings, RedisSettings
from drift.http.settings_rerank import RerankSettings
from drift.http.settings_search import ModelSettings, NodeSettings, SearchSettings
from drift.model.found_nodes import OF_INGESTION
from drift.model.limits import Limits
from drift.nodes.writing import NodeRules

_S = TypeVar("_S", bound=SettingsGroup)


# The last group is read first: addresses want ALLOW_PLAINTEXT, dimensions the embedding model.
class Settings(
    SearchSettings,
    NodeSettings,
    RerankSettings,
    RedisSettings,
    GraphSettings,
    ModelSettings,
    ReadingSettings,
    AccessSettings,
):
    """All settings of the service, with what follows from more than one of them."""

    @property
    def schedule_problem(self) -> str | None:
        """What is wrong with RECONCILE_SCHEDULE, so that there is no timer; None for nothing."""
        wrong = (
            at_import.schedule_problem(self.reconcile_schedule) if self.reconcile_schedule else None
        )
        return f"{at_import.SCHEDULE} {wrong}" if wrong else None

    @property
    def nothing_to_reconcile(self) -> str | None:
        """Why no vector of people's nodes is to be kept right here; None where they are."""
        if self.graph_schema != "default":
            return "GRAPH_SCHEMA names a graph without projects"
        if not self.enable_rag_search:
            return "ENABLE_RAG_SEARCH=false has no node embedded"
        if OF_INGESTION.issuperset(self.searched_labels):
            return "RAG_LABELS names no label of people's own"

        return None

    @property
    def searched_labels(self) -> tuple[str, ...]:
        """The labels of nodes that are searched, as people write them."""
        return tuple(self.rag_labels.split(","))

    @property
    def limits(self) -> Limits:
        """The bounds of a search: each is the setting of its name."""
        return Limits(**{one.name: getattr(self, one.name) for one in fields(Limits)})

    @property
    def node_rules(self) -> NodeRules:
        """The rules of written nodes."""
        return NodeRules(
            self.searched_labels,
            self.oai_embed_model_name,
            self.vector_index_dimensions,
            embeds=self.enable_rag_search,
        )

    @property
    def of_answers(self) -> dict[str, Any]:
        """All settings but secrets and who may ask, as JSON: what an answer may depend on."""
        keys = {"oai_key", "anthropic_key", "rerank_key", "milvus_token"}
        secrets = {"neo4j_password", "redis_url", *keys}
        others = (*AccessSettings.model_fields, *ReadingSettings.model_fields)
        return self.model_dump(mode="json", exclude={*others, *secrets})

    @property
    def channel_template(self) -> str:
        """The channel of progress messages, in which `{retrieval_id}` stands for that of one."""
        if self.progress_channel is not None:
            return self.progress_channel
        return CHANNEL if self.auth_mode == "function" else OWN_CHANNEL


def names() -> frozenset[str]:
    """Return the name of every setting, also the second names that are accepted."""
    aliases = (field.validation_alias for field in Settings.model_fields.values())
    second = (a.choices for a in aliases if isinstance(a, AliasChoices))
    return frozenset(map(str.upper, Settings.model_fields)) | {str(n) for c in second for n in c}


def environment() -> dict[str, str]:
    """Return a copy of the environment, in which settings have nothing around their values."""
    known = names()
    return {name: at_import.bare(v) if name in known else v for name, v in os.environ.items()}


def export(values: Mapping[str, str]) -> None:
    """Add values to the environment of this process, where the function reads its settings."""
    os.environ.update(values)


def load(values: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of the environment, or of `values` over it.

    NotConfiguredError names every missing or wrong setting at once, and no value's text.
    """
    return _load(Settings, values or {})


def load_page(values: Mapping[str, Any] | None = None) -> PageSettings:
    """Return the few settings of the page; arguments and errors are those of `load`."""
    return _load(PageSettings, values or {})


def load_access(values: Mapping[str, Any] | None = None) -> AccessSettings:
    """Return those settings that say who may ask; otherwise as `load`."""
    return _load(AccessSettings, values or {})


def load_reading(values: Mapping[str, Any] | None = None) -> ReadingSettings:
    """Return those that say what reading takes; otherwise as `load`."""
    return _load(ReadingSettings, values or {})


def _load(kind: type[_S], values: Mapping[str, Any]) -> _S:
    try:
        return kind(**{name.lower(): value for name, value in values.items()})
    except ValidationError as error:
        raise NotConfiguredError(
            tuple(_problem(e) for e in error.errors(include_input=False, include_url=False))
        ) from None


def _problem(error: Any) -> str:  # noqa: ANN401 - pydantic's error dictionary
    message = str(error["msg"]).removeprefix("Value error, ")
    if not error["loc"]:
        return f"{message}."

    name = str(error["loc"][0]).upper()
    if error["type"] == "missing":
        return f"{name} is not set."
    return f"{name}: {message}."
