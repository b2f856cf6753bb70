"""What the compiler and the deployment engine say of the templates as they are now."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from drift.http.settings import load
from tests.infra.compiler import Compiler
from tests.infra.kinds import ROLE
from tests.infra.rules import EVERY_WAY, roles, snapshot, template
from tests.infra.test_refused import SENTENCES
from tests.infra.ways import COMMITTED, ROOT, Project, Rule, committed_snapshots

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

BICEP_FILES = [
    *sorted((ROOT / "infra").rglob("*.bicep")),
    *sorted((ROOT / "infra").rglob("*.bicepparam")),
    *sorted((ROOT / "tests/infra").glob("*.bicepparam")),
]


@pytest.mark.parametrize("rule", [*EVERY_WAY, *template.RULES], ids=lambda rule: rule.__name__)
def test_rule_holds_in_every_way(rule: Rule, project: Project) -> None:
    assert list(rule(project)) == []


def test_every_check_of_parameters_is_proven(project: Project) -> None:
    assert project.template
    findings = project.template["variables"]["findings"]
    # the sentence about ids of secrets is proven twice; that about keys given twice is read here,
    # for no preview knows the value of a secure parameter
    assert len(findings) == len(SENTENCES)
    (both,) = (one for one in findings if "must not be given together" in one)
    keys = "not(equals(parameters('projectKeys'), null()))"
    secret = "contains(variables('secretNames'), 'PROJECT_KEYS')"
    assert both.startswith(f"[if(and({keys}, {secret}), 'projectKeys and ")


ANSWERS = {
    "ANTHROPIC_KEY": "resolved by the platform",
    "AZURE_CLIENT_ID": "55555555-5555-5555-5555-555555555555",
    "MILVUS_TOKEN": "resolved by the platform",
    "NEO4J_PASSWORD": "resolved by the platform",
    "OAI_BASE_URL": "https://oai-x.openai.azure.com/",
    "PROJECT_KEYS_SECRET": "https://kv-x.vault.azure.net/secrets/project-keys",
    "RERANK_KEY": "resolved by the platform",
    "REDIS_URL": "rediss://amr-x.westeurope.redis.azure.net:10000",
}
"""What a deployment knows and a preview does not."""


def test_the_code_accepts_what_the_template_sets(project: Project) -> None:
    for way in project.ways:
        given = {
            name: ANSWERS.get(name, value) if value.startswith(("[", "@")) else value
            for name, value in snapshot.settings_of(way).items()
        }
        settings = load({name: value for name, value in given.items() if value})
        assert settings.max_inflight == way["httpConcurrency"]
        assert settings.redis_auth == ("url" if way["redisMode"] == "off" else "entra")
        assert bool(settings.redis_url) is (way["redisMode"] != "off")
        assert settings.auth_mode == way["authMode"]
        assert bool(settings.project_keys_secret) is (way["authMode"] == "keys")
        assert bool(settings.auth_tenant_id) is (way["authMode"] == "easyauth")


def test_a_second_region_shares_no_name_with_the_first(project: Project) -> None:
    ids = {way.name: {one["id"] for one in way.resources()} for way in project.ways}
    assert ids["default"].isdisjoint(ids["second-region"])


ROLE_ROW = re.compile(r"^\| (the \w+) \| ([\w ]+) \| ([\w ]+) \|", re.MULTILINE)


def test_the_table_of_roles_is_what_the_ways_give(project: Project) -> None:
    given = {roles.grant_of(way, one) for way in project.ways for one in way.resources(ROLE)}
    docs = (ROOT / "docs/deploy.md").read_text().split("### Who may do what")[1]
    assert set(ROLE_ROW.findall(docs.split("## Choices")[0])) == given


def test_every_file_is_in_the_one_layout(compiler: Compiler) -> None:
    for file in BICEP_FILES:
        assert file.read_text(encoding="utf-8") == compiler.formatted(file), file.name


@pytest.mark.parametrize("name", COMMITTED)
def test_a_snapshot_is_what_the_engine_makes_of_its_parameter_file(
    name: str, project: Project
) -> None:
    (made,) = (way.snapshot for way in project.ways if way.name == name)
    assert made == committed_snapshots()[name], "run `make snapshots`, and look at what changed"


def test_a_new_setting_needs_no_change_of_a_template_and_an_empty_one_takes_no_place(
    compiler: Compiler, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "infra", tmp_path / "infra")
    file = tmp_path / "infra/ways/default.bicepparam"
    lines = "appSettings = {\n  brand_new: 7\n  OAI_MODEL: ''"
    file.write_text(file.read_text().replace("appSettings = {", lines))
    settings = snapshot.settings_of(compiler.way(file))
    assert (settings["BRAND_NEW"], settings["OAI_MODEL"]) == ("7", "chat")
