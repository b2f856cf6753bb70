"""What has to be true of a deployment's parameters, beyond what its template refuses by itself."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from drift.auth.project_keys import KeysError, parse
from drift.core.errors import NotConfiguredError
from drift.http import at_import
from drift.http.settings import Settings, load
from drift.local.infra.aura import aura_notes
from drift.local.infra.finding import Finding
from drift.local.infra.model_rules import capacity, models, place
from drift.local.infra.regions import REGIONS

Values = Mapping[str, Any]
"""The values of a deployment's parameters, by name."""

_COMPUTED = {
    "OAI_BASE_URL": "https://models.openai.azure.com",
    "OAI_MODEL": "chat",
    "OAI_EMBED_MODEL_NAME": "embedding",
    "NEO4J_URI": "neo4j+s://graph.example.com",
    "NEO4J_PASSWORD": "of the vault",
}
"""Settings that the template gives, without which none are read."""


def region(values: Values) -> Iterator[Finding]:
    """A region that exists, in its short form."""
    name = str(values.get("location") or "")
    if not name or name in REGIONS:
        return

    unknown = f"{name!r} is no region that is known here"
    (near,) = difflib.get_close_matches(name.lower().replace(" ", ""), sorted(REGIONS), 1) or ("",)
    if near:
        text = f"{unknown}: {near!r} is (azd env set AZURE_LOCATION)"
        yield Finding("location", "problem", text)
    else:
        text = f"{unknown}: compare it with `az account list-locations -o table`"
        yield Finding("location", "note", text)


def graph_names(values: Values) -> Iterator[Finding]:
    """User and database as AuraDB calls them."""
    given = settings_in(values)
    user = given.get("NEO4J_USERNAME") or "neo4j"
    for name, text in aura_notes(given.get("NEO4J_URI", ""), user, given.get("NEO4J_DATABASE")):
        yield Finding(name, "note", text)


def settings(values: Values) -> Iterator[Finding]:
    """Settings that the code reads, with values that it takes, as it reads them."""
    given = {name: value for name, value in settings_in(values).items() if value}
    known = [name.upper() for name in Settings.model_fields]
    for name in given.keys() - set(known):
        near = difflib.get_close_matches(name, known, 1)
        hint = f"is {near[0]} meant?" if near else "take it out"
        yield Finding(name, "problem", f"is no setting of the function: {hint}")

    try:
        load({**_COMPUTED, **given})
    except NotConfiguredError as error:
        for problem in error.problems:
            name, _, text = problem.partition(":")
            if name in given:
                yield Finding(name, "problem", text.strip())

    schedule = given.get("RECONCILE_SCHEDULE", "").strip()
    if schedule and (wrong := at_import.schedule_problem(schedule)):
        yield Finding("RECONCILE_SCHEDULE", "problem", f"{wrong}: set {at_import.SCHEDULE}")


def keys(values: Values) -> Iterator[Finding]:
    """Keys in one secret, as the function reads them; nothing that stands in them is said."""
    listed, own = values.get("projectKeys"), values.get("credentialIds") or {}
    if not listed:
        return

    if own.get("PROJECT_KEYS"):
        text = "are given beside credentialIds.PROJECT_KEYS: leave one of them"
        yield Finding("projectKeys", "problem", text)
    elif own.get("NEO4J_PASSWORD"):
        text = "have no vault to go to, since the password has one of yours: put the keys beside it"
        yield Finding("projectKeys", "problem", f"{text}, and set PROJECT_KEYS_CREDENTIAL_ID")

    try:
        parse(listed)
    except KeysError as error:
        yield Finding("projectKeys", "problem", f"PROJECT_KEYS is wrong: {error}")


def channel(values: Values) -> Iterator[Finding]:
    """A channel for each retrieval where callers are kept apart."""
    name = settings_in(values).get("PROGRESS_CHANNEL")
    if values.get("authMode") in {"keys", "easyauth"} and name and "{retrieval_id}" not in name:
        text = (
            f"is {name!r} for all: whoever subscribes sees the progress of every project; put "
            "{retrieval_id} into it, or leave it empty"
        )
        yield Finding("PROGRESS_CHANNEL", "note", text)


def instances(values: Values) -> Iterator[Finding]:
    """Warm instances of which one can be drained while another answers."""
    if values.get("alwaysReadyInstances") == 1:
        text = (
            "is 1: one instance alone is drained every 30 to 60 minutes, and drops what it "
            "answers; set ALWAYS_READY_INSTANCES to 0 or at least 2 (azure-functions-host#11632)"
        )
        yield Finding("alwaysReadyInstances", "note", text)


def of_models(values: Values) -> Iterator[Finding]:
    """Models that can be deployed in this place, with room for a few requests a minute."""
    given = settings_in(values)
    yield from models(values, given)
    yield from capacity(values, given)
    yield from place(values)


def settings_in(values: Values) -> dict[str, str]:
    """Return the settings that people give, as the template writes them."""
    return {
        name.upper(): value if isinstance(value, str) else json.dumps(value)
        for name, value in (values.get("appSettings") or {}).items()
    }


RULES: tuple[Callable[[Values], Iterator[Finding]], ...] = (
    region,
    graph_names,
    settings,
    keys,
    channel,
    instances,
    of_models,
)
