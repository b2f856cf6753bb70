"""What has to be true of the parameters of a deployment, beyond the bounds that the template declares."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from drift.hosting.settings import KNOWN_EMBEDDING_DIMENSIONS
from drift.offline.infra.finding import State

Values = Mapping[str, Any]
Said = tuple[str, State, str]
"""Name of the parameter, whether it is a problem, and a sentence that says what to change."""
Rule = Callable[[Values], Iterator[Said]]

_REGIONS = """
australiacentral australiaeast australiasoutheast austriaeast belgiumcentral brazilsouth canadacentral canadaeast centralindia
centralus chilecentral eastasia eastus eastus2 francecentral germanywestcentral indonesiacentral israelcentral italynorth
japaneast japanwest koreacentral koreasouth malaysiawest mexicocentral newzealandnorth northcentralus northeurope norwayeast
polandcentral qatarcentral southafricanorth southcentralus southindia southeastasia spaincentral swedencentral switzerlandnorth
uaenorth uksouth ukwest westcentralus westeurope westindia westus westus2 westus3
"""
REGIONS = frozenset(_REGIONS.split())
"""Public regions known when this was written; a new one is a note, a misspelt one a problem."""

RETIRED = re.compile(r"gpt-(35|3\.5|4|4o|4-32k)(-|$)")
ENDING = {
    "gpt-5": "2026-12-11",
    "gpt-5-mini": "2026-12-11",
    "gpt-4.1": "2027-01-14",
    "gpt-4.1-mini": "2027-01-14",
    "gpt-4.1-nano": "2027-01-14",
    "gpt-5.1": "2027-04-01",
    "gpt-5.4-nano": "2027-04-01",
}
"""Models with the day on which OpenAI's own platform ends them."""

KINDS = {
    "openAi": ("Microsoft.CognitiveServices/accounts", "openAiExistingId", "openAiMode"),
    "redis": ("Microsoft.Cache/redisEnterprise", "redisExistingId", "redisMode"),
}
SECRET = "Microsoft.KeyVault/vaults/secrets"  # noqa: S105 - a type
SUBNET = "Microsoft.Network/virtualNetworks/subnets"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9-]+")
_ID = re.compile(r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/([^/]+)/(.+)", re.IGNORECASE)


def type_of(resource_id: str) -> str:
    """Return the type in a resource id, `Microsoft.Cache/redisEnterprise`.

    Empty for anything that is none.
    """
    match = _ID.fullmatch(resource_id.strip().rstrip("/"))
    segments = match[2].split("/") if match else []
    if not match or len(segments) % 2:
        return ""
    return "/".join([match[1], *segments[::2]])


def environment_name(values: Values) -> Iterator[Said]:
    """Letters, digits and dashes."""
    name = values.get("environmentName")
    if isinstance(name, str) and name and not _PLAIN_NAME.fullmatch(name):
        strange = " ".join(sorted({letter for letter in name if not _PLAIN_NAME.fullmatch(letter)}))
        yield (
            "environmentName",
            "problem",
            f"holds {strange!r}: use letters, digits and dashes only (azd env new NAME)",
        )


def region(values: Values) -> Iterator[Said]:
    """A region that exists, in its short form."""
    name = values.get("location")
    if not isinstance(name, str) or not name or name in REGIONS:
        return
    (near,) = difflib.get_close_matches(name.lower().replace(" ", ""), sorted(REGIONS), 1) or ("",)
    if near:
        yield (
            "location",
            "problem",
            f"{name!r} is no region that is known here: {near!r} is (azd env set AZURE_LOCATION)",
        )
    else:
        text = (
            "is no region that is known here: compare it with `az account list-locations -o table`"
        )
        yield "location", "note", f"{name!r} {text}"


def graph_address(values: Values) -> Iterator[Said]:
    """Encrypted, with a certificate that is checked, and without a password."""
    uri = values.get("neo4jUri")
    if not isinstance(uri, str) or not uri:
        return
    if not uri.startswith(("neo4j+s://", "bolt+s://")):
        yield (
            "neo4jUri",
            "problem",
            (
                "is not encrypted, or its certificate is not checked: begin with neo4j+s:// or "
                "bolt+s://"
            ),
        )
    if "@" in uri:
        yield (
            "neo4jUri",
            "problem",
            "holds a user or password: give them as neo4jUsername and neo4jPassword",
        )


def origins(values: Values) -> Iterator[Said]:
    """Each origin by name."""
    listed = values.get("corsOrigins")
    for origin in listed if isinstance(listed, list) else []:
        if isinstance(origin, str) and "*" in origin:
            text = f"{origin!r} would let pages of strangers call: name each origin, such as https://portal.example.com"
            yield "corsOrigins", "problem", text


def existing_resources(values: Values) -> Iterator[Said]:
    """Ids of the right type where something is there already."""
    for kind, parameter, mode in KINDS.values():
        resource_id = str(values.get(parameter) or "")
        found = type_of(resource_id)
        if values.get(mode) != "existing":
            if resource_id:
                yield (
                    parameter,
                    "note",
                    f"is not used: {mode} is {values.get(mode)!r}, not 'existing'",
                )
        elif found.lower() == "microsoft.cache/redis":
            text = f"is an Azure Cache for Redis, which retires: give the id of an Azure Managed Redis, a {kind}"
            yield parameter, "problem", text
        elif found.lower() != kind.lower():
            yield (
                parameter,
                "problem",
                f"{_what(resource_id, found)}: give the resource id of a {kind}",
            )


def credential(values: Values) -> Iterator[Said]:
    """The id of a secret, where the password stands in one that is there already."""
    resource_id = values.get("neo4jCredentialId")
    if (
        isinstance(resource_id, str)
        and resource_id
        and type_of(resource_id).lower() != SECRET.lower()
    ):
        text = f"{_what(resource_id, type_of(resource_id))}: give the resource id of a {SECRET}"
        yield "neo4jCredentialId", "problem", text


def subnets(values: Values) -> Iterator[Said]:
    """Both or none, each a subnet."""
    names = ("existingAppSubnetId", "existingEndpointSubnetId")
    ids = {name: str(values.get(name) or "") for name in names}
    if len([one for one in ids.values() if one]) == 1:
        missing = next(name for name, one in ids.items() if not one)
        yield (
            missing,
            "problem",
            f"is empty: {' and '.join(names)} are given together or not at all",
        )
    for name, one in ids.items():
        if one and type_of(one).lower() != SUBNET.lower():
            yield name, "problem", f"{_what(one, type_of(one))}: give the resource id of a {SUBNET}"
        if one and values.get("vnetEnabled") is False:
            yield name, "note", "is not used: vnetEnabled is false"


def access(values: Values) -> Iterator[Said]:
    """Somebody can call."""
    if values.get("vnetEnabled") is False and values.get("functionAccess") in {
        "deployOnly",
        "private",
    }:
        text = "would let nobody call the function without a network: set VNET_ENABLED=true, or FUNCTION_ACCESS=public"
        yield "functionAccess", "problem", text


def models(values: Values) -> Iterator[Said]:
    """Models that can still be deployed, and vectors that the embedding model can give."""
    chat, embedding = (
        str(values.get("chatModelName", "")),
        str(values.get("embeddingModelName", "")),
    )
    if values.get("openAiMode") == "create" and RETIRED.match(chat):
        yield (
            "chatModelName",
            "problem",
            (
                f"{chat} is retired and cannot be deployed any more: choose a newer one, such as "
                f"gpt-5.4"
            ),
        )
    elif chat in ENDING:
        yield (
            "chatModelName",
            "note",
            f"OpenAI ends {chat} on {ENDING[chat]}; look up Azure's date and plan a newer one",
        )
    most, dimensions = (
        KNOWN_EMBEDDING_DIMENSIONS.get(embedding),
        values.get("vectorIndexDimensions"),
    )
    if most and isinstance(dimensions, int) and dimensions > most:
        text = f"is {dimensions}, and {embedding} gives {most} floats: take the number that the graph was embedded with"
        yield "vectorIndexDimensions", "problem", text


STANDARD = {"GlobalStandard", "DataZoneStandard", "Standard"}
"""Places of which the capacity counts thousands of tokens a minute; the others count provisioned
units."""

_DATA_ZONES = """
austriaeast belgiumcentral francecentral germanywestcentral italynorth northeurope polandcentral spaincentral swedencentral
westeurope centralus eastus eastus2 northcentralus southcentralus westcentralus westus westus2 westus3
"""
DATA_ZONES = frozenset(_DATA_ZONES.split())
"""Regions inside the EU or the US."""

TOKENS_A_CHUNK = 1_200
TOKENS_OF_CHUNKS = 6_000
"""The most that the chunks of one prompt take together."""
TOKENS_A_FOLLOWUP = 4_000
"""Of a follow-up besides its chunks: instructions, communities, the neighbourhood and the reply."""
TOKENS_BESIDES = 30_000
"""Of a request besides its follow-ups: hypothesis, primer and aggregation. With the above, the most
that was measured."""
ENOUGH_REQUESTS = 4


def tokens_a_request(followups: int, chunks: int) -> int:
    """Return how many tokens a request takes at most, which asks all its follow-ups with that many chunks in each prompt."""
    shown = min(chunks * TOKENS_A_CHUNK, TOKENS_OF_CHUNKS)
    return followups * (shown + TOKENS_A_FOLLOWUP) + TOKENS_BESIDES


def capacity(values: Values) -> Iterator[Said]:
    """A chat deployment that carries a few requests a minute, in units that were meant."""
    names = ("maxFollowups", "maxChunksForPrompt", "chatCapacity")
    numbers = [values.get(name) for name in names]
    followups, chunks, thousands = (number if isinstance(number, int) else 0 for number in numbers)
    if values.get("openAiMode") != "create" or not (followups and chunks and thousands):
        return
    if values.get("chatSkuName") not in STANDARD:
        text = f"is {thousands} provisioned units of {values.get('chatSkuName')}, paid by the hour whether used or not"
        yield (
            "chatCapacity",
            "note",
            (
                f"{text}: compare with what Azure's calculator says for "
                f"{tokens_a_request(followups, chunks)} tokens a request"
            ),
        )
        return
    tokens = tokens_a_request(followups, chunks)
    requests = 1000 * thousands / tokens
    if requests < ENOUGH_REQUESTS:
        text = f"is {thousands},000 tokens a minute, and a request takes up to {tokens:,}: that is {requests:.1f} requests a minute"
        change = f"set CHAT_CAPACITY={-(-ENOUGH_REQUESTS * tokens // 1000)} for {ENOUGH_REQUESTS}, or lower maxFollowups"
        yield "chatCapacity", "problem" if requests < 1 else "note", f"{text}; {change}"


def place(values: Values) -> Iterator[Said]:
    """Where the chat model's requests are processed, and whether the region has that."""
    sku, location = values.get("chatSkuName"), values.get("location")
    if values.get("openAiMode") != "create":
        return
    if isinstance(sku, str) and sku.startswith("DataZone") and location in REGIONS - DATA_ZONES:
        yield (
            "chatSkuName",
            "problem",
            f"{sku} is for regions of the EU and the US, and {location} is none: use GlobalStandard",
        )
    if sku in {"Standard", "ProvisionedManaged"}:
        text = f"{sku} is offered for few models: compare with `az cognitiveservices model list --location {location}`"
        yield "chatSkuName", "note", text


def _what(resource_id: str, found: str) -> str:
    if not resource_id:
        return "is empty"
    return f"is a {found}" if found else f"{resource_id!r} is no resource id"


RULES: tuple[Rule, ...] = (
    environment_name,
    region,
    graph_address,
    origins,
    existing_resources,
    credential,
    subnets,
    access,
    models,
    capacity,
    place,
)
