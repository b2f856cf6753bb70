"""Who may do what in a way to deploy: role assignments and the access policy of Redis."""

from __future__ import annotations

from collections.abc import Iterator

from tests.infra.expected.names import Names, guid
from tests.infra.ways import Body, Way

ROLE = "Microsoft.Authorization/roleAssignments"
POLICY = "Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments"

ROLES = {
    "Storage Blob Data Owner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "Key Vault Secrets User": "4633458b-17de-408a-b874-0445c86b69e6",
    "Key Vault Secrets Officer": "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
    "Cognitive Services OpenAI User": "5e0bd9bd-7b93-4f28-af87-19fc36ad61bd",
    "Monitoring Metrics Publisher": "3913510d-42f4-4e42-8a64-420c390055eb",
}
"""Every role that anybody gets, by the name that the portal shows."""


def grants(way: Way) -> Iterator[tuple[str, str, str]]:
    """Yield who gets which role on which resource, none on a group or a subscription."""
    names = Names(way)
    yield "function", "Storage Blob Data Owner", names.storage
    yield "function", "Key Vault Secrets User", names.secret
    yield "function", "Monitoring Metrics Publisher", names.component
    yield "function", "Cognitive Services OpenAI User", names.openai
    if way["developerPrincipalId"]:
        yield "developer", "Key Vault Secrets User", names.secret
        yield "developer", "Cognitive Services OpenAI User", names.openai
    if way["vaultOfficerPrincipalId"]:
        yield "operator", "Key Vault Secrets Officer", names.secret
    if way["authMode"] == "keys":
        yield "function", "Key Vault Secrets User", names.keys_secret
        if way["vaultOfficerPrincipalId"]:
            yield "operator", "Key Vault Secrets Officer", names.keys_secret


def roles(way: Way) -> Iterator[Body]:
    """Yield the assignments; the ids of the function's own wait for its identity's object id."""
    for who, role, scope in grants(way):
        principal, kind = _principal(way, who)
        definitions = "providers/Microsoft.Authorization/roleDefinitions"
        definition = f"/subscriptions/{scope.split('/')[2]}/{definitions}/"
        if who == "function":
            inner = f"guid('{scope}', {principal}, '{ROLES[role]}')"
            resource, name = f"[extensionResourceId('{scope}', '{ROLE}', {inner})]", f"[{inner}]"
            principal = f"[{principal}]"
        else:
            name = guid(scope, principal, ROLES[role])
            resource = f"{scope}/providers/{ROLE}/{name}"
        yield {
            "id": resource,
            "type": ROLE,
            "name": name,
            "apiVersion": "2022-04-01",
            "properties": {
                "principalId": principal,
                "principalType": kind,
                "roleDefinitionId": definition + ROLES[role],
            },
        }


def _principal(way: Way, who: str) -> tuple[str, str]:
    if who == "function":
        return Names(way).principal, "ServicePrincipal"
    kind = {"developer": "developer", "operator": "vaultOfficer"}[who]
    return way[f"{kind}PrincipalId"], way[f"{kind}PrincipalType"]


def redis_policy(way: Way) -> Iterator[Body]:
    """Yield the policy that lets the function into Redis, by its object id.

    Its name takes no dash.
    """
    if way["redisMode"] == "off":
        return
    names = Names(way)
    database, cluster = f"{names.redis}/databases/default", names.redis.rsplit("/", 1)[-1]
    unique = f"uniqueString('{database}', {names.principal})"
    inner = f"format('{{0}}/{{1}}/{{2}}', '{cluster}', 'default', {unique})"
    segments = [
        f"filter(split({inner}, '/'), lambda('x', not(empty(lambdaVariables('x')))))[{n}]"
        for n in range(3)
    ]
    group = names.redis.split("/")
    where = f"'{group[2]}', '{group[4]}'"
    yield {
        "id": f"[resourceId({where}, '{POLICY}', {', '.join(segments)})]",
        "type": POLICY,
        "name": f"[{inner}]",
        "apiVersion": "2025-07-01",
        "properties": {"accessPolicyName": "default", "user": {"objectId": f"[{names.principal}]"}},
    }
