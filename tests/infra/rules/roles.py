"""The rule that everybody has the least roles, each on one resource."""

from __future__ import annotations

from collections.abc import Iterator

from tests.infra.kinds import COMPONENT, OPENAI, ROLE, STORAGE, VAULT
from tests.infra.ways import Body, Project, Rule, Way

ROLES = {
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
    "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
    "b86a8fe4-44ce-4948-aee5-eccb2c155cd7": "Key Vault Secrets Officer",
    "5e0bd9bd-7b93-4f28-af87-19fc36ad61bd": "Cognitive Services OpenAI User",
    "a97b65f3-24c7-4388-baec-2e87135dc908": "Cognitive Services User",
    "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
}
"""Every role that anybody gets, with the name that the portal shows."""

THINGS = {
    STORAGE: "storage account",
    f"{VAULT}/secrets": "secret",
    COMPONENT: "Application Insights",
    OPENAI: "models",
}

Grant = tuple[str, str, str]
"""Who gets which role on what, as the table of docs/deploy.md says it."""


def everybody_has_the_least_roles(project: Project) -> Iterator[str]:
    """Who gets which role, none on a group or a subscription, none on what the way does not use."""
    for way in project.ways:
        wanted, found = _least(way), [grant_of(way, one) for one in way.resources(ROLE)]
        yield from (f"{way.name}: {one} is missing" for one in wanted if one not in found)
        yield from (f"{way.name}: {one} is too much" for one in found if one not in wanted)
        if len(found) != len(set(found)):
            yield f"{way.name}: somebody gets a role twice"


def grant_of(way: Way, one: Body) -> Grant:
    """Return the grant of an assignment; what it names wrongly stands in it as it is."""
    properties = one["properties"]
    named = {"the developer": way["developer"], "the operator": way["vaultOfficer"]}
    people = {one["id"]: (who, one["type"]) for who, one in named.items() if one}
    principal = properties["principalId"]
    if principal.startswith("[reference(") and principal.endswith(".principalId]"):
        people[principal] = ("the function", "ServicePrincipal")
    who, kind = people.get(principal, (principal, ""))
    role = properties["roleDefinitionId"].rsplit("/", 1)[-1]
    scope = one["id"].removeprefix("[extensionResourceId('").split("'")[0]
    scope = scope.split("/providers/Microsoft.Authorization")[0]
    return (
        who if properties["principalType"] == kind else f"{who} as {properties['principalType']}",
        ROLES.get(role, role),
        _thing(way, scope),
    )


def _thing(way: Way, scope: str) -> str:
    known = {one["id"] for one in way.resources()} | {
        str(one)
        for one in [
            *way.parameters.values(),
            *way["credentialIds"].values(),
            *way["foundryExistingIds"],
        ]
    }
    provider, *rest = scope.rsplit("/providers/", maxsplit=1)[-1].split("/")
    thing = THINGS.get("/".join([provider, *rest[::2]]))
    if thing is None or scope not in known:
        return scope
    if scope == way.credential("ANTHROPIC_KEY"):
        return "key of Claude"
    if scope == way.credential("MILVUS_TOKEN"):
        return "token of Milvus"
    if scope == way.credential("RERANK_KEY"):
        return "key of the reranker"
    if scope in way["foundryExistingIds"]:
        return "Foundry"
    keys = scope == way.credential("PROJECT_KEYS") or scope.endswith("/secrets/project-keys")
    return "keys" if keys else thing


def _least(way: Way) -> list[Grant]:
    developer, operator = way["developer"], way["vaultOfficer"]
    keys = way["authMode"] == "keys"
    grants = {
        ("the function", "Storage Blob Data Owner", "storage account"): True,
        ("the function", "Key Vault Secrets User", "secret"): True,
        ("the function", "Monitoring Metrics Publisher", "Application Insights"): True,
        ("the function", "Cognitive Services OpenAI User", "models"): True,
        ("the developer", "Key Vault Secrets User", "secret"): developer,
        ("the developer", "Cognitive Services OpenAI User", "models"): developer,
        ("the operator", "Key Vault Secrets Officer", "secret"): operator,
        ("the function", "Key Vault Secrets User", "keys"): keys,
        ("the operator", "Key Vault Secrets Officer", "keys"): keys and operator,
        ("the function", "Key Vault Secrets User", "key of Claude"): way.credential(
            "ANTHROPIC_KEY"
        ),
        ("the function", "Key Vault Secrets User", "token of Milvus"): way.credential(
            "MILVUS_TOKEN"
        ),
        ("the function", "Key Vault Secrets User", "key of the reranker"): way.credential(
            "RERANK_KEY"
        ),
        ("the function", "Cognitive Services User", "Foundry"): way["foundryExistingIds"],
    }
    return [grant for grant, given in grants.items() if given]


RULES: tuple[Rule, ...] = (everybody_has_the_least_roles,)
