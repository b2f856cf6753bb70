"""docs/deploy.md says what the snapshots, the parameter file and the hook say."""

from __future__ import annotations

import re

from drift.offline.infra.bicep_parameters import given_in
from tests.infra.expected.access import POLICY, ROLE, ROLES
from tests.infra.expected.names import Names
from tests.infra.parameters import DEFAULTS, REQUIRED
from tests.infra.ways import ROOT, Project, Way, way_name, ways_of_people

DOCS = (ROOT / "docs/deploy.md").read_text()
OF_PEOPLE = {way_name(file) for file in ways_of_people()}
WAYS = [way for way in Project().ways if way.name in OF_PEOPLE]
TITLES = {role: name for name, role in ROLES.items()}
THINGS = {
    "Microsoft.Storage/storageAccounts": "storage account",
    "Microsoft.KeyVault/vaults/secrets": "secret",
    "Microsoft.Insights/components": "Application Insights",
    "Microsoft.CognitiveServices/accounts": "models",
}


def test_the_table_of_roles_is_what_the_snapshots_give() -> None:
    for way in WAYS:
        assert _row(way) in DOCS.splitlines()


def _row(way: Way) -> str:
    """Return the row of one way: who gets which role on what, worked out from the assignments of
    its snapshot.
    """
    given: dict[str, list[str]] = {"function": [], "developer": [], "operator": []}
    for one in way.resources(ROLE):
        principal = one["properties"]["principalId"]
        who = "function" if principal.startswith("[") else _who(way, principal)
        role = one["properties"]["roleDefinitionId"].rsplit("/", 1)[-1]
        given[who].append(f"{TITLES[role]} on the {_thing(way, one['id'])}")
    given["function"] += ["access policy of Redis" for _ in way.resources(POLICY)]
    cells = ["; ".join(sorted(roles)) or "—" for roles in given.values()]
    return f"| `{way.name}` | {' | '.join(cells)} |"


def _who(way: Way, principal: str) -> str:
    return {way["developerPrincipalId"]: "developer", way["vaultOfficerPrincipalId"]: "operator"}[
        principal
    ]


def _thing(way: Way, assignment: str) -> str:
    """Return what the assignment is on, from its id or from the expression for it."""
    scope = (
        assignment.removeprefix("[extensionResourceId('")
        .split("'")[0]
        .split("/providers/Microsoft.Authorization")[0]
    )
    if scope == Names(way).keys_secret:
        return "keys"
    provider, *rest = scope.split("/providers/")[-1].split("/")
    return THINGS["/".join([provider, *rest[::2]])]


def test_the_variables_that_are_given_for_a_way_make_the_same_parameters() -> None:
    for way in WAYS:
        given = given_in((ROOT / "infra/main.bicepparam").read_text(), _variables(way))
        own = {
            name: way[name]
            for name, one in given.items()
            if isinstance(one.value, str | int | bool)
        }
        read = {name: given[name].value for name in own}
        for name in REQUIRED | {
            "keyVaultPurgeProtection",
            "alertEmail",
            "neo4jPassword",
            "neo4jCredentialId",
        }:
            own.pop(name, None), read.pop(name, None)
        assert read == own, way.name


def _variables(way: Way) -> dict[str, str]:
    """Return the variables of the row of a way, with the way's own values for `…`."""
    (row,) = re.findall(
        rf"^\| `{way.name}` \|.*\|([^|]*)\|$", DOCS.split("### Who may do what")[0], re.MULTILINE
    )
    if row.strip().startswith("the same and"):
        settings = "OPENAI_MODE=existing OPENAI_EXISTING_ID=…"
        settings += " REDIS_MODE=existing REDIS_EXISTING_ID=…"
        row = f"`{settings}` {row}"
    pairs = dict(re.findall(r"(\w+)=([^\s`]+)", row))
    return {name: _value(way, name) if value == "…" else value for name, value in pairs.items()}


def _value(way: Way, variable: str) -> str:
    file = given_in((ROOT / "infra/main.bicepparam").read_text(), {})
    return str(next((way[name] for name, one in file.items() if one.variable == variable), ""))


def test_every_variable_that_is_named_is_read() -> None:
    read = set(
        re.findall(
            r"readEnvironmentVariable\('(\w+)'", (ROOT / "infra/main.bicepparam").read_text()
        )
    )
    choices = DOCS.split("## Choices")[1].split("## AuraDB")[0]
    for names in re.findall(r"^\| (`.*?) \|", choices, re.MULTILINE):
        assert set(re.findall(r"`(\w+)`", names)) <= read | {"NEO4J_PASSWORD"}, names


def test_the_default_capacity_carries_four_of_the_requests_that_were_measured() -> None:
    assert DEFAULTS["chatCapacity"] >= 4 * 130
    assert f"default of {DEFAULTS['chatCapacity']} carries four" in DOCS
