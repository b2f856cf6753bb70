"""`doctor --infra`: what neither the compiler nor the template says of a deployment's parameters.

With a compiler the whole is asked in `tests/infra/test_doctor.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from drift.local.cli.app import app
from drift.local.cli.doctor.infra import infra_findings, parameter_findings
from drift.local.infra.bicep_compiler import Deployment
from drift.local.infra.finding import State
from drift.local.infra.model_rules import TOKENS_A_FOLLOWUP, TOKENS_OF_CHUNKS, tokens_a_request
from drift.model.limits import Limits

CANARY = "canary-password-3f81"
CLIENT = "66666666-6666-6666-6666-666666666666"
ENTRY = json.dumps([{"name": CANARY, "sha256": "0" * 64, "projects": ["a"]}])
URI = "neo4j+s://graph.example.com"
RIGHT: dict[str, Any] = {
    "location": "westeurope",
    "neo4jPassword": CANARY,
    "authMode": "function",
    "openAiMode": "create",
    "chat": {"model": "gpt-5.4", "sku": "GlobalStandard", "capacity": 520},
    "embedding": {"model": "text-embedding-3-large"},
}


def chat(**said: Any) -> dict[str, Any]:
    """Return the right parameters of the chat model, with these in their place."""
    return {"chat": RIGHT["chat"] | said}


KEYS = {"authMode": "keys", "projectKeys": ENTRY}


def found(
    values: dict[str, Any], file: str = "", **settings: object
) -> list[tuple[str, State, str]]:
    """Return what is found with these parameters and settings."""
    given = {**RIGHT, "appSettings": {"NEO4J_URI": URI, **settings}, **values}
    deployment = Deployment(given, frozenset({"neo4jPassword", "projectKeys"}))
    findings = parameter_findings(deployment, file)
    assert CANARY not in str(findings)
    return [(one.name, one.state, one.text) for one in findings]


@pytest.mark.parametrize(
    ("values", "settings"),
    [
        ({}, {}),
        (KEYS, {"PROGRESS_CHANNEL": "progress:{retrieval_id}"}),
        ({}, {"PROGRESS_CHANNEL": "progress", "max_passes": 3}),
        (chat(capacity=300), {"MAX_FOLLOWUPS": "4", "MAX_CHUNKS_FOR_PROMPT": "3"}),
        (
            {
                "openAiMode": "existing",
                "chat": {"model": "gpt-4o", "sku": "GlobalStandard", "capacity": 1},
            },
            {},
        ),
        (chat(capacity=15, sku="GlobalProvisionedManaged"), {}),
    ],
)
def test_what_is_right_is_left_alone(values: dict[str, Any], settings: dict[str, object]) -> None:
    assert found(values, **settings) == []


WRONG: list[tuple[dict[str, Any], dict[str, object], str, str]] = [
    ({"location": "westeurop"}, {}, "location", "'westeurope' is"),
    ({"location": "West Europe"}, {}, "location", "'westeurope' is"),
    ({"neo4jPassword": "akvs://s/vault/secret"}, {}, "neo4jPassword", "export the value itself"),
    ({"tags": {"a": f"https://me:{CANARY}@example.com"}}, {}, "tags", "holds a password"),
    (chat(model="gpt-4o"), {}, "chat.model", "is retired"),
    (chat(model="gpt-35-turbo"), {}, "chat.model", "is retired"),
    (
        {"embedding": {"model": "text-embedding-3-small"}},
        {},
        "VECTOR_INDEX_DIMENSIONS",
        "gives 1536 floats",
    ),
    (chat(capacity=30), {}, "chat.capacity", "up to 130,000: that is 0.2 requests a minute"),
    (chat(capacity=129), {}, "chat.capacity", "set CHAT_CAPACITY=520 for 4"),
    (
        chat(sku="DataZoneStandard") | {"location": "japaneast"},
        {},
        "chat.sku",
        "use GlobalStandard",
    ),
    (
        {**KEYS, "projectKeys": json.dumps([CANARY])},
        {},
        "projectKeys",
        "PROJECT_KEYS is wrong: entry 1 must be an object",
    ),
    ({**KEYS, "projectKeys": "{" + CANARY}, {}, "projectKeys", "is not valid JSON"),
    (
        {**KEYS, "credentialIds": {"PROJECT_KEYS": "/an/id"}},
        {},
        "projectKeys",
        "leave one of them",
    ),
    (
        {**KEYS, "credentialIds": {"NEO4J_PASSWORD": "/an/id"}},
        {},
        "projectKeys",
        "set PROJECT_KEYS_CREDENTIAL_ID",
    ),
    ({}, {"MAX_PASS": "3"}, "MAX_PASS", "is MAX_PASSES meant?"),
    ({}, {"MAX_PASSES": "9"}, "MAX_PASSES", "less than or equal to 5"),
    ({}, {"PRICES": "{"}, "PRICES", "JSON"),
    ({}, {"GRAPH_SCHEMA": "v2"}, "GRAPH_SCHEMA", "must be default, v1,"),
    ({}, {"VECTOR_INDEX_DIMENSIONS": "many"}, "VECTOR_INDEX_DIMENSIONS", "integer"),
    ({}, {"RECONCILE_SCHEDULE": "00:05:00"}, "RECONCILE_SCHEDULE", "six fields"),
    ({}, {"VECTOR_STORE": "milvus", "GRAPH_SCHEMA": "v1"}, "VECTOR_STORE", "GRAPH_SCHEMA=default"),
]


@pytest.mark.parametrize(("values", "settings", "name", "said"), WRONG)
def test_what_is_wrong_is_named_with_what_to_change(
    values: dict[str, Any], settings: dict[str, object], name: str, said: str
) -> None:
    ((place, state, text),) = found(values, **settings)
    assert (place, state) == (name, "problem")
    assert said in text


@pytest.mark.parametrize("secret", ["neo4jPassword", "projectKeys"])
def test_a_secret_in_the_parameter_file_is_named(secret: str) -> None:
    written = {**RIGHT, **KEYS}[secret]
    said = {name: text for name, _, text in found(KEYS, f"param {secret} = '{written}'")}
    assert "take it out" in said[secret]


@pytest.mark.parametrize(
    ("secret", "file", "names"),
    [
        (r"it's \of ${mine}", r"param neo4jPassword = 'it\'s \\of \${mine}'", ["neo4jPassword"]),
        (CANARY, "= readEnvironmentVariable('NEO4J_PASSWORD', 'one-for-all')", ["NEO4J_PASSWORD"]),
        (CANARY, "= readEnvironmentVariable('NEO4J_PASSWORD', '')", []),
        (CANARY, "= readEnvironmentVariable('KEY_VAULT_NAME', 'one-for-all')", []),
    ],
)
def test_a_secret_is_seen_behind_escapes_and_as_a_default(
    secret: str, file: str, names: list[str]
) -> None:
    findings = found({"neo4jPassword": secret}, file)
    assert [name for name, _, text in findings if "take it out" in text] == names


NOTED: list[tuple[dict[str, Any], dict[str, object], str, str]] = [
    ({"location": "moonbase"}, {}, "location", "az account list-locations"),
    ({"alwaysReadyInstances": 1}, {}, "alwaysReadyInstances", "0 or at least 2"),
    (chat(model="gpt-5.1"), {}, "chat.model", "2027-04-01"),
    (chat(capacity=300), {}, "chat.capacity", "2.3 requests a minute"),
    ({}, {"MAX_FOLLOWUPS": "20"}, "chat.capacity", "set CHAT_CAPACITY=920 for 4"),
    (KEYS, {"PROGRESS_CHANNEL": "progress"}, "PROGRESS_CHANNEL", "of every project"),
]


@pytest.mark.parametrize(("values", "settings", "name", "said"), NOTED)
def test_what_is_worth_a_look_is_a_note(
    values: dict[str, Any], settings: dict[str, object], name: str, said: str
) -> None:
    ((place, state, text),) = found(values, **settings)
    assert (place, state) == (name, "note")
    assert said in text


@pytest.mark.parametrize("scheme", ["neo4j+s", "https"])
def test_the_names_of_an_aura_instance_of_today_are_told_before_anything_fails(
    scheme: str,
) -> None:
    names = ("NEO4J_USERNAME", "NEO4J_DATABASE")

    def notes(value: str) -> dict[str, str]:
        uri = f"{scheme}://0a1b2c3d.databases.neo4j.io"
        return {
            name: text for name, _, text in found({}, NEO4J_URI=uri, **dict.fromkeys(names, value))
        }

    assert notes("0a1b2c3d") == {}
    assert tuple(notes("neo4j")) == names
    assert all(f"set {name} to 0a1b2c3d" in text for name, text in notes("neo4j").items())


def test_the_longest_request_that_was_measured_is_what_a_request_takes() -> None:
    assert tokens_a_request(10, 10) == 130_000
    limits, alone = Limits(), TOKENS_OF_CHUNKS + TOKENS_A_FOLLOWUP
    assert limits.max_prompt_tokens <= limits.max_followups_per_prompt * alone


# ------------------------------------------------------------------- files, and azd's environment
@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with an older parameter file."""
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra/main.bicep").touch()
    (tmp_path / "infra/main.bicepparam").write_text("param neo4jUri = 'x'\nparam tags = {}\n")
    return tmp_path


def test_without_templates_the_place_is_named(tmp_path: Path) -> None:
    (finding,) = infra_findings(tmp_path, {}, None)
    assert finding.state == "problem"
    assert "root of the repository" in finding.text


def test_without_a_compiler_it_says_how_to_get_one_and_what_has_moved(root: Path) -> None:
    note, moved, compiler = infra_findings(root, {}, None)
    assert note.name == "environment"
    assert (moved.name, moved.state) == ("neo4jUri", "problem")
    assert "appSettings.NEO4J_URI" in moved.text
    assert (compiler.name, compiler.state) == ("compiler", "problem")
    assert "az bicep install" in compiler.text


@pytest.mark.parametrize("named", [{}, {"AZURE_ENV_NAME": "stage"}])
def test_a_password_in_the_file_of_azds_environment_is_a_note(
    root: Path, named: dict[str, str]
) -> None:
    for name in ("prod", "stage"):
        folder = root / ".azure" / name
        folder.mkdir(parents=True)
        (folder / ".env").write_text(f'NEO4J_URI="{URI}"\nNEO4J_PASSWORD="{CANARY}"\n')
    (root / ".azure/config.json").write_text('{"version": 1, "defaultEnvironment": "prod"}')
    source, note, *_ = infra_findings(root, named, None)
    assert source.text.startswith(f"{named.get('AZURE_ENV_NAME', 'prod')}, of ")
    assert (note.state, "NEO4J_PASSWORD in plain text" in note.text) == ("note", True)
    assert CANARY not in note.text


def test_the_command_ends_with_one_when_there_is_a_problem(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("BICEP", "no-such-compiler")
    done = CliRunner().invoke(app, ["doctor", "--infra", "--json"])
    document = json.loads(done.stdout)
    assert (done.exit_code, document["ok"]) == (1, False)
    assert all(set(finding) == {"name", "state", "text"} for finding in document["findings"])
    shown = CliRunner().invoke(app, ["doctor", "--infra"])
    assert (shown.exit_code, "appSettings.NEO4J_URI" in shown.stdout) == (1, True)
