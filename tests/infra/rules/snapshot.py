"""Rules over what each way would deploy.

They hold in all ways. What the rest of a resource looks like stands in the committed snapshots, one
of which gives every parameter a value of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from drift.http.settings import Settings
from tests.infra.differences import differences
from tests.infra.kinds import (
    ACTIONS,
    ALERT,
    COMPONENT,
    DIAGNOSTICS,
    GATEWAY,
    LINK_SCOPE,
    NETWORK,
    OPENAI,
    POLICY,
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
from tests.infra.rules import Rule
from tests.infra.ways import (
    COMMITTED,
    Body,
    Project,
    Way,
    resources_in,
    snapshot_of,
    way_files,
    way_name,
)

CLOSED: dict[str, dict[str, Any]] = {
    STORAGE: {
        "allowBlobPublicAccess": False,
        "allowCrossTenantReplication": False,
        "allowSharedKeyAccess": False,
        "defaultToOAuthAuthentication": True,
        "minimumTlsVersion": "TLS1_2",
        "supportsHttpsTrafficOnly": True,
    },
    f"{STORAGE}/blobServices": {"deleteRetentionPolicy": {"enabled": True, "days": 7}},
    f"{STORAGE}/blobServices/containers": {"publicAccess": "None"},
    VAULT: {"enableRbacAuthorization": True, "enableSoftDelete": True},
    REDIS: {"minimumTlsVersion": "1.2"},
    f"{REDIS}/databases": {
        "accessKeysAuthentication": "Disabled",
        "clientProtocol": "Encrypted",
        "clusteringPolicy": "NoCluster",
    },
    POLICY: {"accessPolicyName": "default"},
    OPENAI: {"disableLocalAuth": True},
    SITE: {
        "clientAffinityEnabled": False,
        "httpsOnly": True,
        "siteConfig.ftpsState": "Disabled",
        "siteConfig.scmIpSecurityRestrictionsUseMain": False,
    },
    f"{SITE}/basicPublishingCredentialsPolicies": {"allow": False},
    SIGN_IN: {"httpSettings.requireHttps": True, "login.tokenStore.enabled": False},
    COMPONENT: {"DisableLocalAuth": True},
    ACTIONS: {"enabled": True},
    ALERT: {"enabled": True},
}
"""What each resource of a type says, by the path in its properties."""


def nothing_takes_keys_or_plain_text(project: Project) -> Iterator[str]:
    """No shared keys, no public blobs, no passwords for publishing, TLS, what is deleted stays."""
    for way in project.ways:
        for one in way.resources(*CLOSED):
            for path, wanted in CLOSED[one["type"]].items():
                found = _at(one["properties"], path)
                yield from differences(wanted, found, f"{_place(way, one)}.{path}")
        for vault in way.resources(VAULT):
            purge = vault["properties"].get("enablePurgeProtection")  # the service takes no false
            if purge is not (way["keyVaultPurgeProtection"] or None):
                yield f"{_place(way, vault)}: enablePurgeProtection is {purge}"


def _at(properties: Mapping[str, Any], path: str) -> Any:
    found: Any = properties
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


MADE: dict[str, Callable[[Way], Any]] = {
    REDIS: lambda way: way["redisMode"] == "create",
    POLICY: lambda way: way["redisMode"] != "off",
    OPENAI: lambda way: way["openAiMode"] == "create",
    VAULT: lambda way: not way["neo4jCredentialId"],
    NETWORK: lambda way: way.private and not way["existingAppSubnetId"],
    GATEWAY: lambda way: MADE[NETWORK](way) and way["natGatewayEnabled"],
    ZONE: lambda way: way.private and way["privateDnsZonesEnabled"],
    LINK_SCOPE: lambda way: way.private,
}
"""Whether a type is created, by the parameters of the way."""

ALWAYS = {STORAGE, SITE, SIGN_IN, WORKSPACE, COMPONENT}


def what_is_asked_for_is_created_and_nothing_else(project: Project) -> Iterator[str]:
    """What is off or yours is not made, and no type is made that no committed snapshot shows.

    All of it stands in one group with the workload in its name.
    """
    committed = [snapshot_of(file) for file in way_files() if way_name(file) in COMMITTED]
    known = {one["type"] for file in committed for one in resources_in(file)}
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
            [way["resourceGroupName"] or given], groups, f"{way.name}: resource group"
        )


SOURCES = {
    "AUTH_MODE": "authMode",
    "MAX_INFLIGHT": "httpConcurrency",
    "NEO4J_URI": "neo4jUri",
    "NEO4J_USERNAME": "neo4jUsername",
    "OAI_EMBED_DEPLOYMENT_NAME": "embeddingDeploymentName",
    "OAI_EMBED_MODEL_NAME": "embeddingModelName",
    "OAI_MODEL": "chatDeploymentName",
    "PROJECT_CLAIM": "projectClaim",
}
"""The parameter behind each setting that is one parameter."""

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
        found = settings_of(way)
        extra = sorted(set(found) - set(fields) - PLATFORM)
        yield from (f"{way.name}: setting {name} is read by nothing" for name in extra)
        missing = sorted(needed - set(found))
        yield from (f"{way.name}: setting {name} is missing" for name in missing)
        wanted = {name: str(way[parameter]) for name, parameter in SOURCES.items()}
        if way["chatProvider"] == "anthropic":
            claude = {"OAI_MODEL": "anthropicModel", "ANTHROPIC_BASE_URL": "anthropicUrl"}
            wanted |= {name: str(way[parameter]) for name, parameter in claude.items()}
        if way["vectorStore"] == "milvus":
            wanted |= {"VECTOR_STORE": "milvus", "MILVUS_URI": str(way["milvusUri"])}
            vault, secret = way["milvusCredentialId"].split("/secrets/")
            token = found.get("MILVUS_TOKEN", "")
            if not all(one in token for one in ("@Microsoft.KeyVault(", vault, f"'{secret}'")):
                yield f"{way.name}: MILVUS_TOKEN is no reference to its secret: {token}"
        wanted |= {**way["appSettings"], "AzureWebJobsStorage__credential": "managedidentity"}
        given = {name: found.get(name) for name in wanted}
        yield from differences(wanted, given, f"{way.name}: setting ")


def an_alert_looks_at_each_minute(project: Project) -> Iterator[str]:
    """An alert's window is at least as long as the time between two looks, and it tells people."""
    for way in project.ways:
        groups = [one["id"] for one in way.resources(ACTIONS)]
        for one in way.resources(ALERT):
            window, frequency = (
                _minutes(one["properties"][key]) for key in ("windowSize", "evaluationFrequency")
            )
            if window < frequency:
                yield f"{_place(way, one)}: looks back {window} minutes, every {frequency}"
            if one["properties"]["actions"] != {"actionGroups": groups}:
                yield f"{_place(way, one)}: tells nobody"


LOGGED = {
    VAULT: {"AuditEvent"},
    OPENAI: {"Audit"},
    f"{STORAGE}/blobServices": {"StorageWrite", "StorageDelete"},
    f"{REDIS}/databases": {"ConnectionEvents"},
    SITE: {"FunctionAppLogs"},
}
"""What is logged of each resource that is created, by the category."""


def what_is_used_or_changed_is_logged(project: Project) -> Iterator[str]:
    """A diagnostic setting for vault, models, blobs, Redis and site, to the workspace."""
    for way in project.ways:
        (workspace,) = (one["id"] for one in way.resources(WORKSPACE))
        found: dict[str, set[str]] = {}
        for setting in way.resources(DIAGNOSTICS):
            properties = setting["properties"]
            on = {log["category"] for log in properties["logs"] if log["enabled"]}
            if properties["workspaceId"] == workspace:
                found[setting["id"].split(f"/providers/{DIAGNOSTICS}/")[0]] = on
        for one in way.resources(*LOGGED):
            missing = LOGGED[one["type"]] - found.get(one["id"], set())
            yield from (f"{_place(way, one)}: {name} is not logged" for name in sorted(missing))


def everything_is_tagged(project: Project) -> Iterator[str]:
    """Every resource that can have tags has azd's and those that were given, which never take the
    place of azd's.
    """
    for way in project.ways:
        for one in way.resources():
            if one["type"].count("/") == 1 and one["type"] not in {ROLE, DIAGNOSTICS}:
                service = {"azd-service-name": "api"} if one["type"] == SITE else {}
                tags = {**way["tags"], "azd-env-name": way["environmentName"], **service}
                yield from differences(tags, one.get("tags", {}), f"{_place(way, one)}.tags")


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


CREDENTIALS = {
    "function": "a function key",
    "keys": "a key of yours",
    "easyauth": "a token of Entra ID",
}


def the_last_steps_name_the_credential(project: Project) -> Iterator[str]:
    """A deployment ends by saying what to ask for the state with."""
    for way in project.ways:
        if f"'{CREDENTIALS[way['authMode']]}'" not in way.snapshot["outputs"]["NEXT_STEPS"]:
            yield f"{way.name}: NEXT_STEPS does not name the credential of {way['authMode']}"


def settings_of(way: Way) -> dict[str, str]:
    """Return the application settings of the site; a name that is set twice counts as missing."""
    pairs = [
        pair
        for site in way.resources(SITE)
        for pair in site["properties"]["siteConfig"]["appSettings"]
    ]
    names = [pair["name"] for pair in pairs]
    return {pair["name"]: pair["value"] for pair in pairs if names.count(pair["name"]) == 1}


def _minutes(duration: str) -> int:
    match = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?", duration)
    return 60 * int(match[1] or 0) + int(match[2] or 0) if match else 0


def _place(way: Way, one: Body) -> str:
    return f"{way.name}: {one['type']} {one['name'][:80]}"


RULES: tuple[Rule, ...] = (
    nothing_takes_keys_or_plain_text,
    what_is_asked_for_is_created_and_nothing_else,
    settings_are_those_that_are_read,
    an_alert_looks_at_each_minute,
    what_is_used_or_changed_is_logged,
    everything_is_tagged,
    no_key_and_no_password_stands_anywhere,
    previews_are_whole,
    the_last_steps_name_the_credential,
)
