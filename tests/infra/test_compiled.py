"""What the compiler and the deployment engine say of the templates as they are now."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from drift.local.cli.doctor.infra import infra_findings
from drift.local.infra.bicep_compiler import find_compiler
from tests.infra.compiler import Compiler, started
from tests.infra.expected.access import ROLE, ROLES
from tests.infra.expected.names import Names
from tests.infra.rules import Rule, callers, snapshot, template
from tests.infra.ways import COMMITTED, ROOT, Project, Way, snapshot_of, way_files, way_name

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

INFRA = ROOT / "infra"
BICEP_FILES = [
    *sorted(INFRA.rglob("*.bicep")),
    *sorted(INFRA.rglob("*.bicepparam")),
    *sorted((ROOT / "tests/infra").glob("*.bicepparam")),
]


def _name(path: Path) -> str:
    return path.name


@pytest.fixture(scope="module")
def project(compiler: Compiler) -> Project:
    return Project(template=compiler.compiled(INFRA / "main.bicep"))


@pytest.mark.parametrize("rule", template.RULES, ids=lambda rule: rule.__name__)
def test_rule(rule: Rule, project: Project) -> None:
    assert list(rule(project)) == []


@pytest.fixture(scope="module")
def every_way(compiler: Compiler) -> Project:
    return Project(
        snapshots={file.relative_to(ROOT): compiler.snapshot(file) for file in way_files()}
    )


@pytest.mark.parametrize("rule", [*snapshot.RULES, *callers.RULES], ids=lambda rule: rule.__name__)
def test_rule_holds_in_every_way(rule: Rule, every_way: Project) -> None:
    assert list(rule(every_way)) == []


def test_a_second_region_shares_no_name_with_the_first(every_way: Project) -> None:
    ids = {way.name: {one["id"] for one in way.resources()} for way in every_way.ways}
    assert ids["default"].isdisjoint(ids["second-region"])


ROLE_ROW = re.compile(r"^\| (the \w+) \| ([\w ]+) \| ([\w ]+) \|", re.MULTILINE)


def test_the_table_of_roles_is_what_the_ways_give(every_way: Project) -> None:
    given = {grant for way in every_way.ways for grant in _grants(way)}
    docs = (ROOT / "docs/deploy.md").read_text().split("### Who may do what")[1]
    assert set(ROLE_ROW.findall(docs.split("## Choices")[0])) == given


THINGS = {
    "Microsoft.Storage/storageAccounts": "storage account",
    "Microsoft.KeyVault/vaults/secrets": "secret",
    "Microsoft.Insights/components": "Application Insights",
    "Microsoft.CognitiveServices/accounts": "models",
}


def _grants(way: Way) -> Iterator[tuple[str, str, str]]:
    """Yield who gets which role on what, of the assignments of a way."""
    titles = {role: name for name, role in ROLES.items()}
    people = {
        way["developerPrincipalId"]: "the developer",
        way["vaultOfficerPrincipalId"]: "the operator",
    }
    for one in way.resources(ROLE):
        principal = one["properties"]["principalId"]
        who = "the function" if principal.startswith("[") else people[principal]
        role = one["properties"]["roleDefinitionId"].rsplit("/", 1)[-1]
        scope = one["id"].removeprefix("[extensionResourceId('").split("'")[0]
        scope = scope.split("/providers/Microsoft.Authorization")[0]
        provider, *rest = scope.split("/providers/")[-1].split("/")
        thing = THINGS["/".join([provider, *rest[::2]])]
        yield who, titles[role], "keys" if scope == Names(way).keys_secret else thing


def test_the_compiler_and_its_linter_have_nothing_to_say() -> None:
    command = [str(find_compiler()), "lint", str(INFRA / "main.bicep")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the compiler on our files
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


@pytest.mark.parametrize("file", BICEP_FILES, ids=_name)
def test_every_file_is_in_the_one_layout(file: Path, compiler: Compiler) -> None:
    assert file.read_text(encoding="utf-8") == compiler.formatted(file)


@pytest.mark.parametrize("name", COMMITTED)
def test_a_snapshot_is_what_the_engine_makes_of_its_parameter_file(
    name: str, every_way: Project
) -> None:
    (file,) = (file for file in way_files() if way_name(file) == name)
    made = every_way.snapshots[file.relative_to(ROOT)]
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


def test_the_parameter_file_of_azd_needs_four_variables() -> None:
    with started(str(find_compiler()), VARIABLES) as running:
        given = running.parameters(INFRA / "main.bicepparam")
    assert (given["environmentName"], given["neo4jPassword"]) == ("dev", "canary-password")
    assert given["projectKeys"] is None


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
    file.write_text(
        f"{file.read_text()}\nparam corsOrigins = concat(['https://portal.example.com')\n"
    )
    found = infra_findings(tmp_path, VARIABLES, find_compiler())
    assert "compiler" in {one.name for one in found if one.state == "problem"}


LONGEST = {"environmentName": "e" * 64, "location": "germanywestcentral"}
SHORTEST = {"environmentName": "E", "location": "uksouth"}


@pytest.mark.parametrize("changes", [LONGEST, SHORTEST], ids=["longest", "shortest"])
def test_names_are_accepted_for_every_environment(
    changes: dict[str, str], compiler: Compiler, tmp_path: Path
) -> None:
    shutil.copytree(INFRA, tmp_path / "infra", ignore=shutil.ignore_patterns("ways"))
    shutil.copytree(
        ROOT / "tests/infra",
        tmp_path / "tests/infra",
        ignore=shutil.ignore_patterns("*.py", "*.json"),
    )
    (tmp_path / "infra/ways").mkdir()
    file = tmp_path / "infra/ways/private.bicepparam"
    text = (INFRA / "ways/private.bicepparam").read_text()
    for name, value in changes.items():
        lines = [
            line if not line.startswith(f"param {name} ") else f"param {name} = '{value}'"
            for line in text.splitlines()
        ]
        text = "\n".join([*lines, ""])
    file.write_text(text)
    made = {path.relative_to(tmp_path): compiler.snapshot(path) for path in way_files(tmp_path)}
    project = Project(tmp_path, made)
    assert list(snapshot.names_are_accepted_by_each_service(project)) == []
    assert list(snapshot.nothing_else_is_created_and_the_group_is_ours(project)) == []
