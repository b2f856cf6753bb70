"""What has to be true of a deployment's parameters, beyond the template's own bounds."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Iterator

from drift.core.errors import NotConfiguredError
from drift.http import at_import
from drift.http.settings import Settings, load
from drift.local.infra import caller_rules
from drift.local.infra.aura import aura_notes
from drift.local.infra.bicep_parameters import UNREAD
from drift.local.infra.finding import Rule, Said, Values, settings_of
from drift.local.infra.model_rules import capacity, models, place
from drift.local.infra.regions import REGIONS
from drift.local.infra.resource_ids import misfit, type_of

KINDS = {
    "openAi": ("Microsoft.CognitiveServices/accounts", "openAiExistingId", "openAiMode"),
    "redis": ("Microsoft.Cache/redisEnterprise", "redisExistingId", "redisMode"),
}
SUBNET = "Microsoft.Network/virtualNetworks/subnets"
NEEDED = {
    "OAI_BASE_URL": "https://models.openai.azure.com",
    "OAI_MODEL": "chat",
    "OAI_EMBED_MODEL_NAME": "embedding",
    "NEO4J_URI": "neo4j+s://graph.example.com",
    "NEO4J_PASSWORD": "of the vault",
}
"""Settings that the template gives, without which none are read."""
NETWORK_LENGTHS = range(8, 26)
"""Of networks that Azure takes and both subnets fit into."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9-]+")


def environment_name(values: Values) -> Iterator[Said]:
    """Letters, digits and dashes."""
    name = values.get("environmentName")
    if isinstance(name, str) and name and not _PLAIN_NAME.fullmatch(name):
        strange = " ".join(sorted({letter for letter in name if not _PLAIN_NAME.fullmatch(letter)}))
        text = f"holds {strange!r}: use letters, digits and dashes only (azd env new NAME)"
        yield "environmentName", "problem", text


def region(values: Values) -> Iterator[Said]:
    """A region that exists, in its short form."""
    name = values.get("location")
    if not isinstance(name, str) or not name or name in REGIONS:
        return

    unknown = f"{name!r} is no region that is known here"
    (near,) = difflib.get_close_matches(name.lower().replace(" ", ""), sorted(REGIONS), 1) or ("",)
    if near:
        yield "location", "problem", f"{unknown}: {near!r} is (azd env set AZURE_LOCATION)"
    else:
        text = f"{unknown}: compare it with `az account list-locations -o table`"
        yield "location", "note", text


def graph_address(values: Values) -> Iterator[Said]:
    """Encrypted, with a certificate that is checked, and without a password."""
    uri = values.get("neo4jUri")
    if not isinstance(uri, str) or not uri:
        return

    if not uri.startswith(("neo4j+s://", "bolt+s://", "https://")):
        text = (
            "is not encrypted, or its certificate is not checked: begin with neo4j+s://, bolt+s:// "
            "or https://"
        )
        yield "neo4jUri", "problem", text

    database = settings_of(values).get("NEO4J_DATABASE")
    if uri.startswith("https://") and not database:
        text = "is needed with https://, on AuraDB the instance's id: set NEO4J_DATABASE"
        yield "NEO4J_DATABASE", "problem", text

    if "@" in uri:
        text = "holds a user or password: give them as neo4jUsername and neo4jPassword"
        yield "neo4jUri", "problem", text


def graph_names(values: Values) -> Iterator[Said]:
    """User and database as AuraDB calls them."""
    uri, username = str(values.get("neo4jUri") or ""), str(values.get("neo4jUsername"))
    for name, text in aura_notes(uri, username, settings_of(values).get("NEO4J_DATABASE")):
        yield name, "note", text


def vector_store(values: Values) -> Iterator[Said]:
    """An encrypted address of Milvus where vectors are searched there, and only there."""
    if values.get("vectorStore") == "neo4j":
        for name in ("milvusUri", "milvusCredentialId"):
            if values.get(name) not in {None, "", UNREAD}:
                text = (
                    "is not used with VECTOR_STORE=neo4j: set VECTOR_STORE=milvus, or take it out"
                )
                yield name, "problem", text

    if values.get("vectorStore") != "milvus":
        return

    uri = values.get("milvusUri")
    if isinstance(uri, str) and not uri.startswith("https://"):
        text = "must be https://… of a server, which all instances share: set MILVUS_URI"
        yield "milvusUri", "problem", text

    if settings_of(values).get("GRAPH_SCHEMA") not in (None, "", "default", UNREAD):
        yield "vectorStore", "problem", "milvus needs GRAPH_SCHEMA=default, which has projects"


def origins(values: Values) -> Iterator[Said]:
    """Each origin by name."""
    listed = values.get("corsOrigins")
    for origin in listed if isinstance(listed, list) else []:
        if isinstance(origin, str) and "*" in origin:
            text = (
                f"{origin!r} would let pages of strangers call: name each origin, such as "
                "https://portal.example.com"
            )
            yield "corsOrigins", "problem", text


def settings(values: Values) -> Iterator[Said]:
    """Settings that the code reads, with values that it takes, as it reads them."""
    given = {name: value for name, value in settings_of(values).items() if value != ""}
    for name, value in given.items():
        if name.lower() not in Settings.model_fields:
            near = difflib.get_close_matches(name.upper(), map(str.upper, Settings.model_fields), 1)
            hint = f"is {near[0]} meant?" if near else "take it out"
            yield name, "problem", f"is no setting of the function: {hint}"
        elif not isinstance(value, str):
            yield name, "problem", f"is {value!r}: write settings as text, '{value}'"

    texts = {name.upper(): value for name, value in given.items() if isinstance(value, str)}
    try:
        load({**NEEDED, **texts})
    except NotConfiguredError as error:
        for problem in error.problems:
            name, _, text = problem.partition(":")
            if name in texts:
                yield name, "problem", text.strip()

    schedule_given = texts.get("RECONCILE_SCHEDULE", "").strip()
    if schedule_given and (wrong := at_import.schedule_problem(schedule_given)):
        yield "RECONCILE_SCHEDULE", "problem", f"{wrong}: set {at_import.SCHEDULE}"


def existing_resources(values: Values) -> Iterator[Said]:
    """Ids of the right type where something is there already."""
    for kind, parameter, mode in KINDS.values():
        resource_id = str(values.get(parameter) or "")
        given = type_of(resource_id).lower()
        if values.get(mode) != "existing":
            if resource_id:
                text = f"is not used: {mode} is {values.get(mode)!r}, not 'existing'"
                yield parameter, "note", text
        elif given == "microsoft.cache/redis":
            text = (
                "is an Azure Cache for Redis, which retires: give the id of an Azure Managed "
                f"Redis, a {kind}"
            )
            yield parameter, "problem", text
        elif given != kind.lower():
            text = f"{misfit(resource_id)}: give the resource id of a {kind}"
            yield parameter, "problem", text


def credential(values: Values) -> Iterator[Said]:
    """The id of a secret, where password or token stand in one that is there already."""
    kind = caller_rules.SECRET
    for name in ("neo4jCredentialId", "milvusCredentialId"):
        given = values.get(name)
        if isinstance(given, str) and given and type_of(given).lower() != kind.lower():
            yield name, "problem", f"{misfit(given)}: give the resource id of a {kind}"


def subnets(values: Values) -> Iterator[Said]:
    """Both or none, each a subnet."""
    names = ("existingAppSubnetId", "existingEndpointSubnetId")
    ids = {name: str(values.get(name) or "") for name in names}
    missing = [name for name, subnet_id in ids.items() if not subnet_id]
    if len(missing) == 1:
        text = f"is empty: {' and '.join(names)} are given together or not at all"
        yield missing[0], "problem", text

    for name, subnet_id in ids.items():
        if subnet_id and type_of(subnet_id).lower() != SUBNET.lower():
            yield name, "problem", f"{misfit(subnet_id)}: give the resource id of a {SUBNET}"
        if subnet_id and values.get("vnetEnabled") is False:
            yield name, "note", "is not used: vnetEnabled is false"


def network_range(values: Values) -> Iterator[Said]:
    """Addresses that both subnets fit into."""
    given = values.get("vnetAddressPrefix")
    if not isinstance(given, str):
        return

    try:
        fits = "/" in given and ipaddress.IPv4Network(given).prefixlen in NETWORK_LENGTHS
    except ValueError:
        fits = False

    if not fits:
        text = f"is {given!r}: give a range of addresses from /8 to /25, such as 10.60.0.0/24"
        yield "vnetAddressPrefix", "problem", text


def access(values: Values) -> Iterator[Said]:
    """Somebody can call."""
    closed = values.get("functionAccess") in {"deployOnly", "private"}
    if closed and values.get("vnetEnabled") is False:
        text = (
            "would let nobody call the function without a network: set VNET_ENABLED=true, or "
            "FUNCTION_ACCESS=public"
        )
        yield "functionAccess", "problem", text


RULES: tuple[Rule, ...] = (
    environment_name,
    region,
    graph_address,
    graph_names,
    vector_store,
    origins,
    existing_resources,
    credential,
    subnets,
    network_range,
    access,
    settings,
    caller_rules.keys,
    caller_rules.entries,
    caller_rules.entra,
    caller_rules.channel,
    models,
    capacity,
    place,
)
