"""What the compiler and the deployment engine say of the templates as they are now."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from drift.local.cli.doctor.infra import infra_findings
from drift.local.infra.bicep_compiler import find_compiler
from tests.infra.compiler import Compiler, started
from tests.infra.kinds import ROLE
from tests.infra.rules import Rule, every_way, names, snapshot, template
from tests.infra.rules.roles import grant_of
from tests.infra.test_refused import SENTENCES
from tests.infra.ways import COMMITTED, ROOT, Project, snapshot_of, way_files, way_name

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

INFRA = ROOT / "infra"
BICEP_FILES = [
    *sorted(INFRA.rglob("*.bicep")),
    *sorted(INFRA.rglob("*.bicepparam")),
    *sorted((ROOT / "tests/infra").glob("*.bicepparam")),
]


@pytest.fixture(scope="module")
def project(compiler: Compiler) -> Project:
    """The template, about which the compiler and its linter have nothing to say."""
    return Project(template=compiler.compiled(INFRA / "main.bicep"))


@pytest.mark.parametrize("rule", template.RULES, ids=lambda rule: rule.__name__)
def test_rule(rule: Rule, project: Project) -> None:
    assert list(rule(project)) == []


def test_every_check_of_parameters_is_proven(project: Project) -> None:
    assert project.template
    findings = project.template["variables"]["findings"]
    assert len(findings) == len(SENTENCES) + 1
    # no preview knows the value of a secure parameter, so that this one is read
    (both,) = (one for one in findings if "must not be given together" in one)
    keys, secret = (
        "equals(parameters('projectKeys'), null())",
        "parameters('projectKeysCredentialId')",
    )
    assert both.startswith(f"[if(and(not({keys}), not(empty({secret}))), 'projectKeys and ")


@pytest.fixture(scope="module")
def all_ways(compiler: Compiler) -> Project:
    return Project(
        snapshots={file.relative_to(ROOT): compiler.snapshot(file) for file in way_files()}
    )


@pytest.mark.parametrize("rule", every_way.RULES, ids=lambda rule: rule.__name__)
def test_rule_holds_in_every_way(rule: Rule, all_ways: Project) -> None:
    assert list(rule(all_ways)) == []


def test_a_second_region_shares_no_name_with_the_first(all_ways: Project) -> None:
    ids = {way.name: {one["id"] for one in way.resources()} for way in all_ways.ways}
    assert ids["default"].isdisjoint(ids["second-region"])


ROLE_ROW = re.compile(r"^\| (the \w+) \| ([\w ]+) \| ([\w ]+) \|", re.MULTILINE)


def test_the_table_of_roles_is_what_the_ways_give(all_ways: Project) -> None:
    given = {grant_of(way, one) for way in all_ways.ways for one in way.resources(ROLE)}
    docs = (ROOT / "docs/deploy.md").read_text().split("### Who may do what")[1]
    assert set(ROLE_ROW.findall(docs.split("## Choices")[0])) == given


def test_every_file_is_in_the_one_layout(compiler: Compiler) -> None:
    for file in BICEP_FILES:
        assert file.read_text(encoding="utf-8") == compiler.formatted(file), file.name


@pytest.mark.parametrize("name", COMMITTED)
def test_a_snapshot_is_what_the_engine_makes_of_its_parameter_file(
    name: str, all_ways: Project
) -> None:
    (file,) = (file for file in way_files() if way_name(file) == name)
    made = all_ways.snapshots[file.relative_to(ROOT)]
    committed = json.loads(snapshot_of(file).read_text(encoding="utf-8"))
    assert made == committed, (
        f"run `make snapshots`, and look at what changed in {snapshot_of(file).name}"
    )


VARIABLES = {
    "AZURE_ENV_NAME": "dev",
    "AZURE_LOCATION": "westeurope",
    "NEO4J_URI": "neo4j+s://0a1b2c3d.databases.neo4j.io",
    "NEO4J_PASSWORD": "canary-password",
}
SECRET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v/secrets/neo4j"


def test_the_parameter_file_of_azd_asks_for_no_password_where_a_secret_is_named() -> None:
    variables = {name: value for name, value in VARIABLES.items() if name != "NEO4J_PASSWORD"}
    more = {"NEO4J_CREDENTIAL_ID": SECRET, "PROJECT_KEYS": "[]"}
    with started(str(find_compiler()), {**variables, **more}) as running:
        given = running.parameters(INFRA / "main.bicepparam")
    assert (given["neo4jPassword"], given["neo4jCredentialId"]) == (None, SECRET)
    assert given["projectKeys"] == "[]"


def test_the_doctor_reads_what_only_the_compiler_works_out(tmp_path: Path) -> None:
    shutil.copytree(INFRA, tmp_path / "infra")
    file = tmp_path / "infra/main.bicepparam"
    file.write_text(
        f"{file.read_text()}\nparam corsOrigins = concat(['https://portal.example.com'], ['*'])\n"
    )
    found = infra_findings(tmp_path, VARIABLES, find_compiler())
    assert [(one.name, one.state) for one in found if one.state != "note"] == [
        ("corsOrigins", "problem")
    ]
    assert "canary-password" not in str(found)


def test_the_doctor_says_what_the_compiler_refuses(tmp_path: Path) -> None:
    shutil.copytree(INFRA, tmp_path / "infra")
    file = tmp_path / "infra/main.bicepparam"
    file.write_text(f"{file.read_text()}\nparam corsOrigins = concat(['https://a.example.com')\n")
    found = infra_findings(tmp_path, VARIABLES, find_compiler())
    assert "compiler" in {one.name for one in found if one.state == "problem"}


LONGEST = {"environmentName": "e" * 64, "location": "germanywestcentral"}
SHORTEST = {"environmentName": "E", "location": "uksouth"}


@pytest.mark.parametrize("changes", [LONGEST, SHORTEST], ids=["longest", "shortest"])
def test_names_are_accepted_for_every_environment(
    changes: dict[str, str], compiler: Compiler, tmp_path: Path
) -> None:
    shutil.copytree(INFRA, tmp_path / "infra", ignore=shutil.ignore_patterns("ways"))
    (tmp_path / "infra/ways").mkdir()
    file = tmp_path / "infra/ways/private.bicepparam"
    text = (INFRA / "ways/private.bicepparam").read_text()
    for name, value in changes.items():
        text = re.sub(
            rf"^param {name} = .*$", f"param {name} = '{value}'", text, flags=re.MULTILINE
        )
    file.write_text(text)
    project = Project(tmp_path, {file.relative_to(tmp_path): compiler.snapshot(file)})
    assert list(names.names_are_accepted_by_each_service(project)) == []
    assert list(snapshot.what_is_asked_for_is_created_and_nothing_else(project)) == []
