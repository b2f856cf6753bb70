"""Rules over what each way would deploy: whole resources, compared with what they have to be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator

from drift.http.settings import Settings
from tests.infra.differences import differences
from tests.infra.expected import access, function, monitoring, network, sign_in, stores
from tests.infra.expected.names import VERSIONS, Names, tags
from tests.infra.rules import Rule
from tests.infra.ways import Body, Project, Way

Expected = Callable[[Way], Iterable[Body]]


def storage_takes_no_keys_and_shows_no_blobs(project: Project) -> Iterator[str]:
    """Account, container, retention and lifecycle.

    No shared keys, no public blobs, TLS 1.2, the package stays.
    """
    kinds = ("", "/blobServices", "/blobServices/containers", "/managementPolicies")
    yield from _whole(project, stores.storage, *(stores.STORAGE + kind for kind in kinds))


def the_vault_holds_its_secrets_and_keeps_what_is_deleted(project: Project) -> Iterator[str]:
    """Roles instead of policies, soft delete, purge protection, password and keys from their
    parameters only.
    """
    yield from _whole(project, stores.vault, stores.VAULT, f"{stores.VAULT}/secrets")


def redis_takes_no_keys_and_speaks_tls(project: Project) -> Iterator[str]:
    """Cluster and database of Azure Managed Redis."""
    yield from _whole(project, stores.redis, stores.REDIS, f"{stores.REDIS}/databases")


def models_take_no_keys_and_are_those_asked_for(project: Project) -> Iterator[str]:
    """The account, and name, version, place and capacity of both deployments."""
    yield from _whole(project, stores.models, stores.OPENAI, f"{stores.OPENAI}/deployments")


def the_function_is_keyless_and_scaled_as_asked_for(project: Project) -> Iterator[str]:
    """Identity, plan, functionAppConfig, who may call, TLS, passwords for publishing."""
    kinds = (
        "Microsoft.ManagedIdentity/userAssignedIdentities",
        function.PLAN,
        function.SITE,
        function.POLICY,
    )
    yield from _whole(project, function.function, *kinds)


def sign_in_is_by_entra_id_alone(project: Project) -> Iterator[str]:
    """All of the platform's authentication: tokens are checked, nothing is stored, one path is
    open.
    """
    yield from _whole(project, sign_in.authentication, sign_in.CONFIG)


def every_setting_has_the_value_of_its_own_parameter(project: Project) -> Iterator[str]:
    """Each application setting with its source; none missing, none more."""
    for way in project.ways:
        yield from differences(function.settings(way), settings_of(way), f"{way.name}: setting ")


def settings_are_those_that_the_code_reads(project: Project) -> Iterator[str]:
    """The settings that are not the platform's are fields of drift/http/settings.py, and those
    without a default are all there.
    """
    fields = {name.upper(): field for name, field in Settings.model_fields.items()}
    needed = {name for name, field in fields.items() if field.is_required()}
    for way in project.ways:
        platform = ("APPLICATIONINSIGHTS_", "AzureWebJobsStorage__")
        given = {name for name in settings_of(way) if not name.startswith(platform)}
        yield from (
            f"{way.name}: setting {name} is read by nothing" for name in sorted(given - set(fields))
        )
        yield from (f"{way.name}: setting {name} is missing" for name in sorted(needed - given))


def logs_and_telemetry_are_kept_as_asked_for(project: Project) -> Iterator[str]:
    """Workspace and each of its tables of telemetry, component without local authentication, who
    gets mails, from where a private way is reached.
    """
    kinds = (monitoring.WORKSPACE, monitoring.TABLE, monitoring.COMPONENT, monitoring.ACTIONS)
    scope = (monitoring.LINK_SCOPE, f"{monitoring.LINK_SCOPE}/scopedResources")
    yield from _whole(project, monitoring.telemetry, *kinds, *scope)


def alerts_are_whole(project: Project) -> Iterator[str]:
    """Each alert: query, threshold, window, frequency, severity, whom it tells."""
    yield from _whole(project, monitoring.alerts, monitoring.ALERT)


def an_alert_looks_at_each_minute(project: Project) -> Iterator[str]:
    """An alert's window is at least as long as the time between two looks."""
    for way in project.ways:
        for one in way.resources(monitoring.ALERT):
            window, frequency = (
                _minutes(one["properties"][key]) for key in ("windowSize", "evaluationFrequency")
            )
            if window < frequency:
                yield f"{_place(way, one)}: looks back {window} minutes, every {frequency}"


def what_is_used_or_changed_is_logged(project: Project) -> Iterator[str]:
    """A diagnostic setting for vault, models, blobs, Redis and site."""
    yield from _whole(project, monitoring.diagnostics, monitoring.DIAGNOSTICS)


def the_network_lets_in_what_is_needed(project: Project) -> Iterator[str]:
    """Network, subnets, security groups, the one outgoing address.

    The network lists no subnet, so that one of yours stays.
    """
    kinds = (network.NETWORK, network.SUBNET, network.GROUP, network.ADDRESS, network.GATEWAY)
    yield from _whole(project, network.network, *kinds)


def private_endpoints_lead_to_each_store_by_its_name(project: Project) -> Iterator[str]:
    """Endpoints with their part of the resource, DNS zones, links of zones, zone groups."""
    kinds = (network.ENDPOINT, network.ZONE, f"{network.ZONE}/virtualNetworkLinks")
    yield from _whole(
        project, network.endpoints, *kinds, f"{network.ENDPOINT}/privateDnsZoneGroups"
    )


def everybody_has_the_least_roles(project: Project) -> Iterator[str]:
    """Who gets which role on which single resource, by the role's id."""
    yield from _whole(project, access.roles, access.ROLE)


def redis_lets_the_function_in_by_its_object_id(project: Project) -> Iterator[str]:
    """The access policy assignment of the identity."""
    yield from _whole(project, access.redis_policy, access.POLICY)


def nothing_else_is_created_and_the_group_is_ours(project: Project) -> Iterator[str]:
    """Types that no other rule compares, and the resource group with the workload in its name."""
    kind = "Microsoft.Resources/resourceGroups"
    for way in project.ways:
        unknown = {one["type"] for one in way.resources()} - set(VERSIONS)
        yield from (f"{way.name}: {one} is created" for one in sorted(unknown))
        names = Names(way)
        wanted = {
            "id": names.group,
            "type": kind,
            "name": names.group_name,
            "apiVersion": VERSIONS[kind],
            "location": way["location"],
            "tags": tags(way),
        }
        yield from _compared(way, [wanted], way.resources(kind))


def everything_is_tagged(project: Project) -> Iterator[str]:
    """Every resource that can have tags has azd's and those that were given, which never take the
    place of azd's.
    """
    untaggable = {access.ROLE, monitoring.DIAGNOSTICS}
    for way in project.ways:
        for one in way.resources():
            if one["type"].count("/") == 1 and one["type"] not in untaggable:
                wanted = {
                    **tags(way),
                    **(function.SERVICE_TAG if one["type"] == function.SITE else {}),
                }
                yield from differences(wanted, one.get("tags", {}), f"{_place(way, one)}.tags")


_GUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NETWORK = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}[A-Za-z0-9_]"
NAMES = {
    "Microsoft.Authorization/roleAssignments": _GUID,
    "Microsoft.Cache/redisEnterprise": r"(?=.{1,60}$)[A-Za-z0-9]+(-[A-Za-z0-9]+)*",
    "Microsoft.CognitiveServices/accounts": r"[A-Za-z0-9][A-Za-z0-9-]{0,62}[A-Za-z0-9]",
    "Microsoft.CognitiveServices/accounts/deployments": r"[A-Za-z0-9][A-Za-z0-9._-]{1,63}",
    "Microsoft.Insights/actionGroups": r"[^:<>+/&%\\?|.]{1,260}",
    "Microsoft.Insights/components": r"[A-Za-z0-9()._-]{0,259}[A-Za-z0-9()_-]",
    "Microsoft.Insights/scheduledQueryRules": r"[^#<>%&:\\?/{}*]{1,260}",
    "Microsoft.KeyVault/vaults": r"(?=.{3,24}$)[A-Za-z](-?[A-Za-z0-9]+)*",
    "Microsoft.KeyVault/vaults/secrets": r"[A-Za-z0-9-]{1,127}",
    "Microsoft.ManagedIdentity/userAssignedIdentities": r"[A-Za-z0-9][A-Za-z0-9_-]{2,127}",
    "Microsoft.Network/natGateways": _NETWORK,
    "Microsoft.Network/networkSecurityGroups": _NETWORK,
    "Microsoft.Network/privateDnsZones": r"([a-z0-9-]{1,63}\.){1,33}[a-z0-9-]{1,63}",
    "Microsoft.Network/privateEndpoints": _NETWORK,
    "Microsoft.Network/publicIPAddresses": _NETWORK,
    "Microsoft.Network/virtualNetworks": _NETWORK,
    "Microsoft.OperationalInsights/workspaces": r"[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]",
    "Microsoft.Resources/resourceGroups": r"[A-Za-z0-9()._-]{0,89}[A-Za-z0-9()_-]",
    "Microsoft.Storage/storageAccounts": r"[a-z0-9]{3,24}",
    "Microsoft.Web/serverfarms": r"[A-Za-z0-9-]{1,60}",
    "Microsoft.Web/sites": r"(?=.{2,60}$)[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]",
}
"""What each service accepts as a name."""


def names_are_accepted_by_each_service(project: Project) -> Iterator[str]:
    """Length and letters of every name that a preview knows; no name twice."""
    for way in project.ways:
        ids = [one["id"] for one in way.resources()]
        yield from (
            f"{way.name}: {one} is there twice"
            for one in sorted({one for one in ids if ids.count(one) > 1})
        )
        for one in way.resources(*NAMES):
            last = one["name"].split("/")[-1]
            if not one["name"].startswith("[") and not re.fullmatch(NAMES[one["type"]], last):
                yield f"{_place(way, one)}: {last!r} is not accepted as a name"


def no_public_door_is_open_in_a_private_way(project: Project) -> Iterator[str]:
    """Stores, logs and telemetry refuse the internet in every private way, whatever their type.

    A type that has a door says so: what is not said is open. The function's own door and reading
    the logs are open unless all is private.
    """
    for way in (way for way in project.ways if way.private):
        for one in way.resources():
            properties = one.get("properties", {})
            doors = DOORS.get(one["type"], frozenset()) | {
                name for name in properties if name.startswith("publicNetworkAccess")
            }
            if way["functionAccess"] != "private":
                doors -= {"publicNetworkAccessForQuery"}
            open_doors = [name for name in sorted(doors) if properties.get(name) != "Disabled"]
            if properties.get("networkAcls", {}).get("defaultAction", "Deny") != "Deny":
                open_doors.append("networkAcls")
            if one["type"] != function.SITE:
                yield from (f"{_place(way, one)}: {name} is open" for name in open_doors)


_DOOR = frozenset({"publicNetworkAccess"})
_TWO_DOORS = frozenset({"publicNetworkAccessForIngestion", "publicNetworkAccessForQuery"})
DOORS = {
    stores.STORAGE: _DOOR,
    stores.VAULT: _DOOR,
    stores.REDIS: _DOOR,
    stores.OPENAI: _DOOR,
    monitoring.WORKSPACE: _TWO_DOORS,
    monitoring.COMPONENT: _TWO_DOORS,
}
"""What a type is reached by from the internet, unless it is said to be disabled."""


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


def outputs_say_where_everything_is(project: Project) -> Iterator[str]:
    """Every output with its value, the sentences of what is left to do too.

    None missing, none more.
    """
    for way in project.ways:
        names, found = Names(way), way.snapshot["outputs"]
        site = f"reference('{names.site}', '{VERSIONS[function.SITE]}').defaultHostName"
        known = {
            "AZURE_APPLICATION_INSIGHTS_NAME": names.component_name,
            "AZURE_FUNCTION_CLIENT_ID": f"[{names.client}]",
            "AZURE_FUNCTION_NAME": names.site_name,
            "AZURE_KEY_VAULT_NAME": names.vault.rsplit("/", 1)[-1],
            "AZURE_LOCATION": way["location"],
            "AZURE_OPENAI_ENDPOINT": f"[reference('{names.openai}', "
            f"'{VERSIONS[stores.OPENAI]}').endpoint]",
            "AZURE_OUTGOING_ADDRESS": "",  # the address is not there yet
            "AZURE_REDIS_ID": "" if way["redisMode"] == "off" else names.redis,
            "AZURE_RESOURCE_GROUP": names.group_name,
            "AZURE_STORAGE_ACCOUNT_NAME": names.storage_name,
            "AZURE_TENANT_ID": "22222222-2222-2222-2222-222222222222",
            "NEXT_STEPS": _next_steps(way, site),
            "SERVICE_API_NAME": names.site_name,
            "SERVICE_API_URI": f"[format('https://{{0}}', {site})]",
        }
        yield from differences(known, found, f"{way.name}: output ")


def _next_steps(way: Way, site: str) -> str:
    """Return the engine's expression for the sentences that a deployment ends with."""
    settings = "the same NEO4J_*, OAI_* and VECTOR_INDEX_DIMENSIONS"
    sentences = [
        f"Let the function through the allow list of the graph at {way['neo4jUri']}.",
        f"Create constraints and indexes once, with {settings} set: python -m drift prepare",
        "If the first deployment of the code answered 403, wait a minute and run: azd deploy",
    ]
    url = f"format('https://{{0}}', {site})"
    credential = CREDENTIALS[way["authMode"]]
    last = f"format('Ask for the state, with {{0}}: {{1}}/health/ready', '{credential}', {url})"
    steps = [*map("'{}'".format, sentences), last, f"'{LEFT_OVER}'"]
    return f"[createArray({', '.join(steps)})]"


LEFT_OVER = (
    "Roles and resources of an earlier deployment that this one does not name any more are still "
    "there: docs/deploy.md, Taking something back"
)
CREDENTIALS = {
    "function": "a function key",
    "keys": "a key of yours",
    "easyauth": "a token of Entra ID",
}


def previews_are_whole(project: Project) -> Iterator[str]:
    """No diagnostic, no name that a preview cannot work out but those of the function's
    assignments.
    """
    for way in project.ways:
        yield from (f"{way.name}: {one}" for one in way.snapshot["diagnostics"])
        for one in way.resources():
            waits = one["name"].startswith("[") or one["id"].startswith("[")
            if waits and one["type"] not in {access.ROLE, access.POLICY}:
                yield f"{_place(way, one)}: the name is not known before the deployment"


def settings_of(way: Way) -> dict[str, str]:
    """Return the application settings of the site; a name that is set twice counts as missing."""
    pairs = [
        pair
        for site in way.resources(function.SITE)
        for pair in site["properties"]["siteConfig"]["appSettings"]
    ]
    names = [pair["name"] for pair in pairs]
    return {pair["name"]: pair["value"] for pair in pairs if names.count(pair["name"]) == 1}


def _whole(project: Project, expected: Expected, *types: str) -> Iterator[str]:
    for way in project.ways:
        yield from _compared(
            way, expected(way), [_without_settings(one) for one in way.resources(*types)]
        )


def _compared(way: Way, wanted: Iterable[Body], found: list[Body]) -> Iterator[str]:
    by_id = {one["id"]: one for one in found}
    if len(by_id) != len(found):
        yield f"{way.name}: two resources have the same id"
    for one in wanted:
        if one["id"] in by_id:
            yield from differences(one, by_id.pop(one["id"]), _place(way, one))
        else:
            yield f"{_place(way, one)} is missing"
    yield from (f"{_place(way, one)} is not expected" for one in by_id.values())


def _without_settings(one: Body) -> Body:
    """Return a site without its settings, which have a rule of their own.

    Anything else as it is.
    """
    if one["type"] != function.SITE:
        return one
    config = {
        key: value for key, value in one["properties"]["siteConfig"].items() if key != "appSettings"
    }
    return {**one, "properties": {**one["properties"], "siteConfig": config}}


def _minutes(duration: str) -> int:
    match = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?", duration)
    return 60 * int(match[1] or 0) + int(match[2] or 0) if match else 0


def _place(way: Way, one: Body) -> str:
    return f"{way.name}: {one['type']} {one['name'][:80]}"


RULES: tuple[Rule, ...] = (
    storage_takes_no_keys_and_shows_no_blobs,
    the_vault_holds_its_secrets_and_keeps_what_is_deleted,
    redis_takes_no_keys_and_speaks_tls,
    models_take_no_keys_and_are_those_asked_for,
    the_function_is_keyless_and_scaled_as_asked_for,
    sign_in_is_by_entra_id_alone,
    every_setting_has_the_value_of_its_own_parameter,
    settings_are_those_that_the_code_reads,
    logs_and_telemetry_are_kept_as_asked_for,
    alerts_are_whole,
    an_alert_looks_at_each_minute,
    what_is_used_or_changed_is_logged,
    the_network_lets_in_what_is_needed,
    private_endpoints_lead_to_each_store_by_its_name,
    everybody_has_the_least_roles,
    redis_lets_the_function_in_by_its_object_id,
    nothing_else_is_created_and_the_group_is_ours,
    everything_is_tagged,
    names_are_accepted_by_each_service,
    no_public_door_is_open_in_a_private_way,
    no_key_and_no_password_stands_anywhere,
    outputs_say_where_everything_is,
    previews_are_whole,
)
