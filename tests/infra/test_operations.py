"""Words of the alerts' queries, the worker library, workflows and the compose file."""

from __future__ import annotations

import re

import yaml

from drift.local.stack.keeper import USUAL_PORTS
from drift.local.stack.neo4j.home import PUBLISHED_PASSWORD
from drift.local.stack.stack import VARIABLES
from drift.routes import ROUTES
from tests.infra.kinds import ALERT
from tests.infra.ways import ROOT, committed_snapshots

ASKING = {
    "retrieve",
    "rag_query",
    "chat_completions",
    "vector_store_search",
    "dify_retrieval",
    "mcp",
}
"""The functions that search: whoever asks one of them waits for an answer."""


def test_alerts_look_at_every_function_that_asks() -> None:
    made = committed_snapshots()["default"]["predictedResources"]
    alerts = {one["name"]: one["properties"] for one in made if one["type"] == ALERT}
    queries = {name: one["criteria"]["allOf"][0]["query"] for name, one in alerts.items()}
    named = {
        name.partition("-")[2].partition("-")[2]: set(re.findall(r"'(\w+)'", found[0]))
        for name, query in queries.items()
        if (found := re.findall(r"\bname in \(([^)]*)\)", query))
    }
    assert {route.name for route in ROUTES} >= ASKING
    assert named == {
        "retrievals-fail": ASKING,
        "no-retrieval-succeeds": ASKING,
        "retrievals-are-slow": {"retrieve", "chat_completions", "mcp"},
    }


# -------------------------------------------------------------------------------------- the package
def test_the_worker_library_is_pinned() -> None:
    requirements = (ROOT / "requirements.txt").read_text()
    assert re.search(
        r"^azure-functions-runtime==\d+\.\d+\.\d+; python_version >= \"3.13\"$",
        requirements,
        re.MULTILINE,
    )


# ---------------------------------------------------------------------------------------- workflows
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_ci_audits_the_lock_file_and_compares_its_licences_also_when_nothing_has_changed() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert len(workflow[True]["schedule"]) == 1  # YAML 1.1 reads the key `on` as a truth
    job = workflow["jobs"]["dependencies"]
    assert "if" not in job
    (python,) = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert python == {"python-version": "3.13"}
    runs = {
        line: step.get("if") for step in job["steps"] for line in step.get("run", "").splitlines()
    }
    assert runs["make audit"] is None
    assert (
        runs["make licenses"]
        == runs["git diff --exit-code docs/licenses.md"]
        == "${{ !cancelled() }}"
    )
    targets = dict(
        re.findall(r"^(\S+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )
    for option in ("--requirement requirements.lock", "--require-hashes", "--strict"):
        assert option in targets["audit"]
    assert "--requirement requirements.lock" in targets["$(LOCKED)/.ready"]
    assert "--require-hashes" in targets["$(LOCKED)/.ready"]
    assert "$(LOCKED)/lib/" in targets["licenses"]


def test_required_parameters_reach_the_parameter_file_in_the_workflow() -> None:
    workflow = (ROOT / ".github/workflows/deploy.yml").read_text()
    for variable in ("AZURE_ENV_NAME", "AZURE_LOCATION", "NEO4J_URI", "NEO4J_PASSWORD"):
        assert variable in workflow


# --------------------------------------------------------------------------------- the compose file
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_the_compose_file_gives_the_addresses_of_the_example_on_loopback_only() -> None:
    services = COMPOSE["services"]
    published = {name: one["ports"] for name, one in services.items() if "profiles" not in one}
    assert published == {
        "neo4j": ["127.0.0.1:17474:7474", f"127.0.0.1:{USUAL_PORTS['neo4j']}:7687"],
        "valkey": [f"127.0.0.1:{USUAL_PORTS['valkey']}:6379"],
    }
    password = f"${{NEO4J_PASSWORD:-{PUBLISHED_PASSWORD}}}"
    neo4j = services["neo4j"]
    assert neo4j["environment"]["NEO4J_AUTH"] == f"neo4j/{password}"
    assert password in neo4j["healthcheck"]["test"]


def test_every_service_of_the_compose_file_says_when_it_is_ready() -> None:
    for service in COMPOSE["services"].values():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert service["healthcheck"]["retries"] >= 10
        assert not service["image"].endswith((":latest", "neo4j", "valkey"))


def test_what_the_compose_file_mounts_it_declares_and_what_neo4j_writes_stays() -> None:
    mounted = dict(volume.split(":") for volume in COMPOSE["services"]["neo4j"]["volumes"])
    assert set(mounted) == set(COMPOSE["volumes"])
    assert set(mounted.values()) == {"/data", "/logs", "/import", "/plugins"}


def test_the_documents_name_the_compose_file() -> None:
    for name in ("README.md", "docs/local.md"):
        assert "(docker-compose.yml)" in (ROOT / name).read_text().replace("../", ""), name


def test_the_compose_file_names_the_variables_of_the_local_stack() -> None:
    exported = set(
        re.findall(r"([A-Z0-9]+_[A-Z0-9_]+)=", (ROOT / "docker-compose.yml").read_text())
    )
    assert exported == {*VARIABLES["neo4j"], "REDIS_URL"}
