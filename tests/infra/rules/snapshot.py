"""Rules over what each way would deploy.

They hold in all ways. What the rest of a resource looks like stands in the committed snapshots, one
of which gives every parameter a value of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from drift.http.settings import Settings
from tests.infra.differences import differences
from tests.infra.kinds import (
    COMPONENT,
    GATEWAY,
    LINK_SCOPE,
    NETWORK,
    OPENAI,
    POLICY,
    PUBLIC_ADDRESS,
    REDIS,
    RESOURCE_GROUP,
    ROLE,
    SIGN_IN,
    SITE,
    STORAGE,
    VAULT,
    WORKSPACE,
    ZONE,
)
from tests.infra.ways import Project, Rule, Way, committed_snapshots

MADE: dict[str, Callable[[Way], Any]] = {
    REDIS: lambda way: way["redisMode"] == "create",
    POLICY: lambda way: way["redisMode"] != "off",
    OPENAI: lambda way: way["openAiMode"] == "create",
    VAULT: lambda way: not way.credential("NEO4J_PASSWORD"),
    NETWORK: lambda way: way.private and not way["existingAppSubnetId"],
    GATEWAY: lambda way: MADE[NETWORK](way) and way["natGatewayEnabled"],
    ZONE: lambda way: way.private and way["privateDnsZonesEnabled"],
    LINK_SCOPE: lambda way: way.private and not way["existingMonitorScopeId"],
}
"""Whether a type is created, by the parameters of the way."""

ALWAYS = {STORAGE, SITE, SIGN_IN, WORKSPACE, COMPONENT}


def what_is_asked_for_is_created_and_nothing_else(project: Project) -> Iterator[str]:
    """What is off or yours is not made, and no type is made that no committed snapshot shows.

    All of it stands in one group with the workload in its name.
    """
    committed = committed_snapshots().values()
    known = {one["type"] for made in committed for one in made["predictedResources"]}
    known |= {GATEWAY, PUBLIC_ADDRESS}  # neither of those has a gateway
    for way in project.ways:
        types = {one["type"] for one in way.resources()}
        yield from (f"{way.name}: {one} is created" for one in sorted(types - known))
        yield from (f"{way.name}: no {one} is created" for one in sorted(ALWAYS - types))
        for kind, asked in MADE.items():
            if bool(asked(way)) is not (kind in types):
                yield f"{way.name}: {kind} is created, or not"
        groups = [one["name"] for one in way.resources(RESOURCE_GROUP)]
        given = f"rg-drift-{way['environmentName']}-{way['location']}"[:90]
        yield from differences(
            [way["ownNames"].get("resourceGroup") or given], groups, f"{way.name}: resource group"
        )


PLATFORM = {
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "AzureWebJobsStorage__blobServiceUri",
    "AzureWebJobsStorage__clientId",
    "AzureWebJobsStorage__credential",
}
"""Settings that the platform reads: telemetry and storage by the identity, without keys."""


def settings_are_those_that_are_read(project: Project) -> Iterator[str]:
    """Each setting is the platform's or a field of drift/http/settings.py; those without a default,
    those of a parameter and those that people give are there.
    """
    fields = {name.upper(): field for name, field in Settings.model_fields.items()}
    needed = {name for name, field in fields.items() if field.is_required()} | PLATFORM
    for way in project.ways:
        found, given = settings_of(way), way["appSettings"]
        extra = sorted(set(found) - set(fields) - PLATFORM)
        yield from (f"{way.name}: setting {name} is read by nothing" for name in extra)
        missing = sorted(needed - set(found))
        yield from (f"{way.name}: setting {name} is missing" for name in missing)
        computed = {
            "AUTH_MODE": way["authMode"],
            "MAX_INFLIGHT": str(way["httpConcurrency"]),
            "OAI_EMBED_DEPLOYMENT_NAME": way["embedding"]["deployment"],
            "OAI_EMBED_MODEL_NAME": way["embedding"]["model"],
            "OAI_MODEL": given.get("OAI_MODEL") or way["chat"]["deployment"],
        }
        wanted = {**given, **computed, "AzureWebJobsStorage__credential": "managedidentity"}
        set_so = {name: found.get(name) for name in wanted}
        yield from differences(wanted, set_so, f"{way.name}: setting ")
        for name in way["credentialIds"]:
            yield from _wrong_reference(way, name)


def _wrong_reference(way: Way, name: str) -> Iterator[str]:
    """Yield a setting that does not lead to its secret; keys are read by the function itself."""
    keys = name == "PROJECT_KEYS"
    setting = "PROJECT_KEYS_SECRET" if keys else name
    value = settings_of(way).get(setting, "")
    *_, vault, _, secret = way.credential(name).split("/")
    parts = ("https://", vault, secret, *(() if keys else ("@Microsoft.KeyVault(SecretUri=",)))
    if not all(part in value for part in parts):
        yield f"{way.name}: {setting} is no address of its secret: {value}"


_KEY = re.compile(
    r"AccountKey=|SharedAccess|[?&]sig=|list\w*Keys|primaryKey|password=|://[^/@\s]+:[^/@\s]+@",
    re.IGNORECASE,
)


def no_key_and_no_password_stands_anywhere(project: Project) -> Iterator[str]:
    """No key in any value, and password and keys nowhere but in the vault's secrets."""
    for way in project.ways:
        for one in [
            *way.resources(),
            {"type": "outputs", "name": "", "id": "", "outputs": way.snapshot["outputs"]},
        ]:
            text = json.dumps(one)
            if found := _KEY.search(text):
                yield f"{_place(way, one)}: holds {found[0]}"
            for parameter, secret in SECRETS.items():
                if f"parameters('{parameter}')" in text and not one["id"].endswith(secret):
                    yield f"{_place(way, one)}: holds {parameter}"


SECRETS = {"neo4jPassword": "/secrets/neo4j-password", "projectKeys": "/secrets/project-keys"}
"""The one place of each secret parameter."""


def previews_are_whole(project: Project) -> Iterator[str]:
    """No diagnostic, no name that a preview cannot work out but those of the function's
    assignments.
    """
    for way in project.ways:
        yield from (f"{way.name}: {one}" for one in way.snapshot["diagnostics"])
        for one in way.resources():
            waits = one["name"].startswith("[") or one["id"].startswith("[")
            if waits and one["type"] not in {ROLE, POLICY}:
                yield f"{_place(way, one)}: the name is not known before the deployment"


def settings_of(way: Way) -> dict[str, str]:
    """Return the application settings of the site; a name that is set twice counts as missing."""
    pairs = [
        pair
        for site in way.resources(SITE)
        for pair in site["properties"]["siteConfig"]["appSettings"]
    ]
    names = [pair["name"] for pair in pairs]
    return {pair["name"]: pair["value"] for pair in pairs if names.count(pair["name"]) == 1}


def _place(way: Way, one: dict[str, Any]) -> str:
    return f"{way.name}: {one['type']} {one['name'][:80]}"


RULES: tuple[Rule, ...] = (
    what_is_asked_for_is_created_and_nothing_else,
    settings_are_those_that_are_read,
    no_key_and_no_password_stands_anywhere,
    previews_are_whole,
)
