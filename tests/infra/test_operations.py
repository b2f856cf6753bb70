"""Order, versions, logs, alerts, azd, workflows and the compose file."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

import function_app
from drift.local.commands import LOOPBACK_PASSWORD
from drift.local.order import USUAL_PORTS
from drift.local.stack import VARIABLES
from tests.infra.bicep_modules import symbols_read
from tests.infra.bicep_tree import BicepFile, entries, names_read, text
from tests.infra.templates import FILES, INFRA, MAIN, REQUIRED, ROOT, WAYS, only, parameter_file, resources

SOURCE = "".join(path.read_text() for path in sorted((ROOT / "drift").rglob("*.py")))


# ------------------------------------------------------------------------------------------------ order and versions
def _before(name: str) -> set[str]:
    """Return everything in main.bicep that is there before a module."""
    file = BicepFile(MAIN)
    found: set[str] = set()
    new = {name}
    while new:
        body = entries(file.declared[new.pop()].body)
        said = {text(node) for node in names_read(body["dependsOn"])} if "dependsOn" in body else set()
        reached = said.union(*(symbols_read(file, node) for key, node in body.items() if key != "dependsOn")) - found
        found |= reached
        new |= reached
    return found


def test_the_order_is_identity_stores_roles_site() -> None:
    assert {"checks", "group"} <= _before("identity")
    assert {"identity", "storage", "keyVault", "monitoring"} <= _before("rbac")
    assert {"identity", "openAi"} <= _before("openAiAccess")
    assert {"identity", "redis"} <= _before("redisAccess")
    assert {"storage", "keyVault", "openAi", "redis", "network"} <= _before("endpoints")
    assert {"rbac", "openAiAccess", "redisAccess", "endpoints", "network"} <= _before("functionApp")


VERSIONS = {
    "Microsoft.Authorization/roleAssignments@2022-04-01",
    "Microsoft.Cache/redisEnterprise@2025-07-01",
    "Microsoft.Cache/redisEnterprise/databases@2025-07-01",
    "Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments@2025-07-01",
    "Microsoft.CognitiveServices/accounts@2025-06-01",
    "Microsoft.CognitiveServices/accounts/deployments@2025-06-01",
    "Microsoft.Insights/actionGroups@2023-01-01",
    "Microsoft.Insights/components@2020-02-02",
    "Microsoft.Insights/diagnosticSettings@2021-05-01-preview",
    "Microsoft.Insights/scheduledQueryRules@2023-12-01",
    "Microsoft.KeyVault/vaults@2024-11-01",
    "Microsoft.KeyVault/vaults/secrets@2024-11-01",
    "Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30",
    "Microsoft.Network/natGateways@2024-07-01",
    "Microsoft.Network/networkSecurityGroups@2024-07-01",
    "Microsoft.Network/privateDnsZones@2024-06-01",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01",
    "Microsoft.Network/privateEndpoints@2024-07-01",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01",
    "Microsoft.Network/publicIPAddresses@2024-07-01",
    "Microsoft.Network/virtualNetworks@2024-07-01",
    "Microsoft.OperationalInsights/workspaces@2025-02-01",
    "Microsoft.Resources/resourceGroups@2025-04-01",
    "Microsoft.Storage/storageAccounts@2025-01-01",
    "Microsoft.Storage/storageAccounts/blobServices@2025-01-01",
    "Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01",
    "Microsoft.Storage/storageAccounts/managementPolicies@2025-01-01",
    "Microsoft.Web/serverfarms@2024-11-01",
    "Microsoft.Web/sites@2024-11-01",
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-11-01",
}
ONLY_AS_PREVIEW = {"Microsoft.Insights/diagnosticSettings"}
"""Its one finished version is of 2016 and knows neither names nor groups; everybody deploys the preview of 2021."""


def test_versions_are_finished_ones_and_known_by_name() -> None:
    used = {one.reference for path in FILES for one in BicepFile(path).of("resource")}
    assert used == VERSIONS
    assert {one.partition("@")[0] for one in used if one.endswith("preview")} == ONLY_AS_PREVIEW


def test_everything_can_be_read_here_and_nothing_comes_from_a_registry() -> None:
    references = {one.reference for path in FILES for one in BicepFile(path).of("module")}
    assert all(reference.startswith("modules/") for reference in references)
    assert {(INFRA / reference).resolve() for reference in references} == {p.resolve() for p in FILES if p != MAIN}


def test_the_linter_refuses_what_it_finds() -> None:
    rules = json.loads((INFRA / "bicepconfig.json").read_text())["analyzers"]["core"]["rules"]
    off = {name for name, rule in rules.items() if rule["level"] != "error"}
    assert off == {"use-recent-api-versions", "use-resource-id-functions"}
    assert {"no-unused-params", "outputs-should-not-contain-secrets", "no-hardcoded-env-urls"} <= set(rules)


# ------------------------------------------------------------------------------------------------ logs and alerts
@pytest.mark.parametrize("way", WAYS)
def test_what_happens_to_secrets_models_and_site_is_logged(way: str) -> None:
    logged = {one.on.type for one in resources(way, "Microsoft.Insights/diagnosticSettings") if one.on}
    models = {one.type for one in resources(way, "Microsoft.CognitiveServices/accounts")}
    assert logged == {"Microsoft.KeyVault/vaults", "Microsoft.Web/sites"} | models


def _alerts() -> dict[str, dict[str, Any]]:
    return {
        one.properties["displayName"]: one.properties
        for one in resources("default", "Microsoft.Insights/scheduledQueryRules")
    }


def test_there_is_an_alert_for_failures_outage_slowness_graph_and_embeddings() -> None:
    alerts = _alerts()
    thresholds = {name: alert["criteria"]["allOf"][0]["threshold"] for name, alert in alerts.items()}
    assert thresholds == {
        "retrievals-fail": 5,
        "no-retrieval-succeeds": 0,
        "retrievals-are-slow": 60,
        "graph-is-unreachable": 0,
        "embeddings-are-slow": 1,
    }
    component = only("default", "Microsoft.Insights/components").id
    group = only("default", "Microsoft.Insights/actionGroups").id
    for alert in alerts.values():
        assert alert["scopes"] == [component]
        assert alert["actions"] == {"actionGroups": [group]}
        assert len(alert["description"]) > 40


def test_every_query_gives_the_column_that_is_compared() -> None:
    for alert in _alerts().values():
        (condition,) = alert["criteria"]["allOf"]
        assert condition["metricMeasureColumn"] == "value"
        assert re.search(r"\b(project|summarize) value = ", condition["query"])


def test_queries_ask_for_what_the_function_writes() -> None:
    queries = "".join(alert["criteria"]["allOf"][0]["query"] for alert in _alerts().values())
    names = set(re.findall(r"\bname == '(\w+)'", queries))
    assert names
    assert all(hasattr(function_app, name) for name in names)
    asked = set(re.findall(r"has '(\w+)'", queries)) | set(re.findall(r"line\.(\w+)", queries))
    asked |= set(re.findall(r"line\.\w+\) == '(\w+)'", queries))
    assert {"graph_unavailable", "phase_ended", "expanding_query", "embedding_s"} <= asked
    for word in asked:
        assert re.search(rf'"{word}"|\b{word}=', SOURCE), f"no line of the log holds {word}"


def test_mail_goes_to_whom_was_named() -> None:
    receivers = [one.properties["emailReceivers"] for one in resources("developer", "Microsoft.Insights/actionGroups")]
    assert [[receiver["emailAddress"] for receiver in one] for one in receivers] == [["ops@example.com"]]
    assert only("default", "Microsoft.Insights/actionGroups").properties["emailReceivers"] == []


# ------------------------------------------------------------------------------------------------ the package
def test_the_function_gives_up_before_the_platform_and_the_worker_after_it() -> None:
    host = json.loads((ROOT / "host.json").read_text())
    hours, minutes, seconds = map(int, host["functionTimeout"].split(":"))
    longest = int(text(BicepFile(MAIN).declared["deadlineSec"].decorators["maxValue"][0]))
    assert longest < 230 < 3600 * hours + 60 * minutes + seconds
    assert "extensionBundle" not in host


def test_the_worker_library_is_pinned_and_local_settings_stay_local() -> None:
    requirements = (ROOT / "requirements.txt").read_text()
    assert re.search(
        r"^azure-functions-runtime==\d+\.\d+\.\d+; python_version >= \"3.13\"$", requirements, re.MULTILINE
    )
    for file in (".gitignore", ".funcignore"):
        assert "local.settings.json" in (ROOT / file).read_text().split()
    assert {"infra", "azure.yaml", "docker-compose.yml", "tests"} <= set((ROOT / ".funcignore").read_text().split())


# ------------------------------------------------------------------------------------------------ azd and workflows
def test_azd_finds_template_service_and_site() -> None:
    azure = yaml.safe_load((ROOT / "azure.yaml").read_text())
    assert azure["infra"] == {"provider": "bicep", "path": "infra", "module": "main"}
    ((service, settings),) = azure["services"].items()
    assert settings == {"project": ".", "language": "python", "host": "function"}
    assert only("default", "Microsoft.Web/sites").body["tags"]["azd-service-name"] == service
    assert (INFRA / "main.bicepparam").exists()


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_ci_audits_the_lock_file_and_compares_its_licences_also_when_nothing_has_changed() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert len(workflow[True]["schedule"]) == 1  # YAML 1.1 reads the key `on` as a truth
    job = workflow["jobs"]["dependencies"]
    assert "if" not in job
    (python,) = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert python == {"python-version": "3.13"}
    runs = {line: step.get("if") for step in job["steps"] for line in step.get("run", "").splitlines()}
    assert runs["make audit"] is None
    assert runs["make licenses"] == runs["git diff --exit-code docs/licenses.md"] == "${{ !cancelled() }}"
    targets = dict(re.findall(r"^(\S+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for option in ("--requirement requirements.lock", "--require-hashes", "--strict"):
        assert option in targets["audit"]
    assert "--requirement requirements.lock" in targets["$(LOCKED)/.ready"]
    assert "--require-hashes" in targets["$(LOCKED)/.ready"]
    assert "$(LOCKED)/lib/" in targets["licenses"]


def test_required_parameters_reach_the_parameter_file_in_the_workflow() -> None:
    workflow = (ROOT / ".github/workflows/deploy.yml").read_text()
    for one in parameter_file().of("var"):
        if one.name in REQUIRED:
            assert one.value is not None
            (variable,) = re.findall(r"'([A-Z0-9_]+)'", text(one.value))
            assert variable in workflow


# ------------------------------------------------------------------------------------------------ the compose file
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_the_compose_file_gives_the_addresses_of_the_example_on_loopback_only() -> None:
    published = {name: service["ports"] for name, service in COMPOSE["services"].items()}
    assert published == {
        "neo4j": [f"127.0.0.1:{USUAL_PORTS['neo4j']}:7687"],
        "valkey": [f"127.0.0.1:{USUAL_PORTS['valkey']}:6379"],
    }
    assert COMPOSE["services"]["neo4j"]["environment"]["NEO4J_AUTH"] == f"neo4j/{LOOPBACK_PASSWORD}"


def test_every_service_of_the_compose_file_says_when_it_is_ready() -> None:
    for service in COMPOSE["services"].values():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert service["healthcheck"]["retries"] >= 10
        assert not service["image"].endswith((":latest", "neo4j", "valkey"))


def test_the_compose_file_names_the_variables_of_the_local_stack() -> None:
    exported = set(re.findall(r"([A-Z0-9]+_[A-Z0-9_]+)=", (ROOT / "docker-compose.yml").read_text()))
    assert exported == {*VARIABLES["neo4j"], "REDIS_URL"}
