"""`doctor --infra`: what is wrong with a deployment is said before Azure is asked, and how to
change it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from drift.local.cli.app import app
from drift.local.cli.doctor.infra import infra_findings
from drift.local.infra.bicep_parameters import UNREAD, declared_in, given_in
from drift.local.infra.model_rules import TOKENS_A_FOLLOWUP, TOKENS_OF_CHUNKS, tokens_a_request
from drift.local.infra.resource_ids import type_of
from drift.model.limits import Limits

INFRA = Path(__file__).resolve().parents[2] / "infra"
CANARY = "canary-password-3f81"
GOOD = {
    "AZURE_ENV_NAME": "dev-1",
    "AZURE_LOCATION": "westeurope",
    "NEO4J_URI": "neo4j+s://graph.example.com",
    "NEO4J_PASSWORD": CANARY,
}
HOW_TO_SET = {name: f"azd env set {name}" for name in GOOD} | {
    "NEO4J_PASSWORD": "export NEO4J_PASSWORD in the shell"
}
GROUP = "/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers"
OPENAI = f"{GROUP}/Microsoft.CognitiveServices/accounts/models"
REDIS = f"{GROUP}/Microsoft.Cache/redisEnterprise/cache"
KEYS = f"{GROUP}/Microsoft.KeyVault/vaults/team/secrets/callers"
ENTRY = json.dumps([{"name": CANARY, "sha256": "0" * 64, "projects": ["a"]}])
MILVUS = "https://milvus.example.com:19530"
CLIENT = "66666666-6666-6666-6666-666666666666"
NETWORK = f"{GROUP}/Microsoft.Network/virtualNetworks/hub"

Problems = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with the templates of this one."""
    shutil.copytree(INFRA, tmp_path / "infra", ignore=shutil.ignore_patterns("ways"))
    return tmp_path


@pytest.fixture
def problems(root: Path) -> Problems:
    """Name and sentence of each problem with these lines more in the parameter file, and these
    variables.
    """

    def found(lines: str = "", without: str = "", **variables: str) -> list[tuple[str, str]]:
        file = root / "infra" / "main.bicepparam"
        replaced = {line.split(" =")[0] for line in lines.splitlines()}
        kept = [
            line for line in file.read_text().splitlines() if line.split(" =")[0] not in replaced
        ]
        file.write_text("\n".join([*kept, lines, ""]))
        environment = {
            name: value for name, value in {**GOOD, **variables}.items() if name != without
        }
        findings = infra_findings(root, environment)
        assert CANARY not in str(findings)
        return [(finding.name, finding.text) for finding in findings if finding.state == "problem"]

    return found


def test_a_good_environment_has_no_problem(problems: Problems) -> None:
    assert problems() == []


@pytest.mark.parametrize("variable", GOOD)
def test_a_required_parameter_that_is_missing_is_named_with_its_variable(
    problems: Problems, variable: str
) -> None:
    ((_, text),) = problems(without=variable)
    assert HOW_TO_SET[variable] in text


@pytest.mark.parametrize("variable", GOOD)
def test_a_required_parameter_that_is_empty_is_missing(problems: Problems, variable: str) -> None:
    ((_, text),) = problems(**{variable: ""})
    assert HOW_TO_SET[variable] in text


def test_a_required_parameter_that_the_file_does_not_give_is_named(
    root: Path, problems: Problems
) -> None:
    file = root / "infra" / "main.bicepparam"
    file.write_text(
        "\n".join(
            line for line in file.read_text().splitlines() if not line.startswith("param neo4jUri")
        )
    )
    assert problems() == [("neo4jUri", "is not given: add it to infra/main.bicepparam")]


@pytest.mark.parametrize("scheme", ["neo4j+s", "https"])
def test_the_names_of_an_aura_instance_of_today_are_told_before_anything_fails(
    root: Path, scheme: str
) -> None:
    named = {**GOOD, "NEO4J_URI": f"{scheme}://0a1b2c3d.databases.neo4j.io"}
    names = ("NEO4J_USERNAME", "NEO4J_DATABASE")

    def notes(value: str) -> dict[str, str]:
        found = infra_findings(root, {**named, **dict.fromkeys(names, value)})
        return {one.name: one.text for one in found if one.name in names}

    assert notes("0a1b2c3d") == {}
    assert tuple(notes("neo4j")) == names
    assert all(f"set {name} to 0a1b2c3d" in text for name, text in notes("neo4j").items())


BY_VARIABLE = [
    ({"AZURE_ENV_NAME": "e" * 65}, "environmentName", "has 65 characters: at most 64"),
    ({"AZURE_ENV_NAME": "my_env"}, "environmentName", "letters, digits and dashes only"),
    ({"AZURE_ENV_NAME": "größe"}, "environmentName", "letters, digits and dashes only"),
    ({"AZURE_LOCATION": "westeurop"}, "location", "'westeurope' is"),
    ({"AZURE_LOCATION": "West Europe"}, "location", "'westeurope' is"),
    ({"NEO4J_URI": "neo4j://graph.example.com"}, "neo4jUri", "neo4j+s://"),
    ({"NEO4J_URI": "neo4j+ssc://graph.example.com"}, "neo4jUri", "neo4j+s://"),
    ({"NEO4J_URI": "https://graph.example.com"}, "NEO4J_DATABASE", "is needed with https://"),
    (
        {"NEO4J_URI": f"neo4j+s://neo4j:{CANARY}@graph.example.com"},
        "neo4jUri",
        "neo4jUsername and neo4jPassword",
    ),
    (
        {"NEO4J_PASSWORD": "akvs://subscription/vault/secret"},
        "neo4jPassword",
        "export NEO4J_PASSWORD itself",
    ),
    ({"NEO4J_PASSWORD": "short"}, "neo4jPassword", "has 5 characters: at least 8"),
    ({"VNET_ENABLED": "perhaps"}, "vnetEnabled", "VNET_ENABLED is wrong"),
    ({"CHAT_CAPACITY": "many"}, "chatCapacity", "CHAT_CAPACITY is wrong"),
    ({"CHAT_CAPACITY": "0"}, "chatCapacity", "from 1 to 10000"),
    (
        {"CHAT_CAPACITY": "30"},
        "chatCapacity",
        "a request takes up to 130,000: that is 0.2 requests a minute",
    ),
    ({"CHAT_CAPACITY": "129"}, "chatCapacity", "set CHAT_CAPACITY=520 for 4"),
    ({"CHAT_SKU_NAME": "Cheapest"}, "chatSkuName", "is not one of GlobalStandard"),
    (
        {"CHAT_SKU_NAME": "DataZoneStandard", "AZURE_LOCATION": "japaneast"},
        "chatSkuName",
        "use GlobalStandard",
    ),
    ({"NEO4J_CREDENTIAL_ID": REDIS}, "neo4jCredentialId", "Microsoft.KeyVault/vaults/secrets"),
    ({"CHAT_MODEL_NAME": "gpt-4o"}, "chatModelName", "is retired"),
    ({"CHAT_MODEL_NAME": "gpt-4o-mini"}, "chatModelName", "is retired"),
    ({"CHAT_MODEL_NAME": "gpt-35-turbo"}, "chatModelName", "is retired"),
    (
        {"EMBEDDING_MODEL_NAME": "text-embedding-3-small"},
        "VECTOR_INDEX_DIMENSIONS",
        "gives 1536 floats",
    ),
    ({"OPENAI_MODE": "off"}, "openAiMode", "is not one of create, existing"),
    ({"OPENAI_MODE": "existing"}, "openAiExistingId", "is empty"),
    (
        {"OPENAI_MODE": "existing", "OPENAI_EXISTING_ID": REDIS},
        "openAiExistingId",
        "is a Microsoft.Cache/redisEnter",
    ),
    (
        {"OPENAI_MODE": "existing", "OPENAI_EXISTING_ID": "models"},
        "openAiExistingId",
        "is no resource id",
    ),
    (
        {"REDIS_MODE": "existing", "REDIS_EXISTING_ID": OPENAI},
        "redisExistingId",
        "Microsoft.Cache/redisEnterprise",
    ),
    (
        {"REDIS_MODE": "existing", "REDIS_EXISTING_ID": f"{GROUP}/Microsoft.Cache/Redis/old"},
        "redisExistingId",
        "which retires",
    ),
    (
        {"VECTOR_STORE": "milvus", "MILVUS_URI": MILVUS},
        "vectorStore",
        "pymilvus>=3,<4 in requirements.txt",
    ),
    ({"MILVUS_URI": MILVUS}, "milvusUri", "set VECTOR_STORE=milvus"),
    (
        {"MILVUS_CREDENTIAL_ID": KEYS},
        "milvusCredentialId",
        "is not used with VECTOR_STORE=neo4j",
    ),
    ({"AUTH_MODE": "everybody"}, "authMode", "is not one of function, keys, easyauth"),
    ({"AUTH_MODE": "keys"}, "authMode", "export PROJECT_KEYS"),
    ({"PROJECT_KEYS": ENTRY}, "projectKeys", "set AUTH_MODE=keys"),
    (
        {"AUTH_MODE": "keys", "PROJECT_KEYS": ENTRY, "NEO4J_CREDENTIAL_ID": KEYS},
        "projectKeys",
        "set PROJECT_KEYS_CREDENTIAL_ID",
    ),
    (
        {"AUTH_MODE": "keys", "PROJECT_KEYS": ENTRY, "PROJECT_KEYS_CREDENTIAL_ID": KEYS},
        "projectKeysCredentialId",
        "leave one of them",
    ),
    (
        {"AUTH_MODE": "keys", "PROJECT_KEYS": ENTRY + " " * 25000},
        "projectKeys",
        "at most 25000; change PROJECT_KEYS",
    ),
    (
        {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps([CANARY])},
        "projectKeys",
        "PROJECT_KEYS is wrong: entry 1 must be an object",
    ),
    ({"AUTH_MODE": "keys", "PROJECT_KEYS": "{" + CANARY}, "projectKeys", "is not valid JSON"),
    ({"PROJECT_KEYS_CREDENTIAL_ID": KEYS}, "projectKeysCredentialId", "set AUTH_MODE=keys"),
    (
        {"AUTH_MODE": "keys", "PROJECT_KEYS_CREDENTIAL_ID": REDIS},
        "projectKeysCredentialId",
        "Microsoft.KeyVault/vaults/secrets",
    ),
    ({"AUTH_MODE": "easyauth"}, "entraClientId", "set ENTRA_CLIENT_ID"),
    ({"AUTH_MODE": "easyauth", "ENTRA_CLIENT_ID": "drift"}, "entraClientId", "is no id"),
    ({"AUTH_MODE": "function", "ENTRA_CLIENT_ID": CLIENT}, "entraClientId", "AUTH_MODE=easyauth"),
    ({"PROJECT_CLAIM": "projects"}, "projectClaim", "AUTH_MODE=easyauth"),
    (
        {"AUTH_MODE": "easyauth", "ENTRA_CLIENT_ID": CLIENT, "AUTH_TENANT_ID": "contoso.com"},
        "authTenantId",
        "is no id",
    ),
    ({"PRICES": "{"}, "PRICES", "JSON"),
    ({"GRAPH_SCHEMA": "v2"}, "GRAPH_SCHEMA", "must be default, v1,"),
    ({"VECTOR_INDEX_DIMENSIONS": "many"}, "VECTOR_INDEX_DIMENSIONS", "integer"),
    ({"FUNCTION_ACCESS": "private"}, "functionAccess", "VNET_ENABLED=true"),
    ({"RECONCILE_SCHEDULE": "00:05:00"}, "RECONCILE_SCHEDULE", "six fields"),
    (
        {"EXISTING_APP_SUBNET_ID": f"{NETWORK}/subnets/a"},
        "existingEndpointSubnetId",
        "together or not at all",
    ),
    (
        {"EXISTING_APP_SUBNET_ID": NETWORK, "EXISTING_ENDPOINT_SUBNET_ID": f"{NETWORK}/subnets/e"},
        "existingAppSubnetId",
        "virtualNetworks/subnets",
    ),
]


@pytest.mark.parametrize(("variables", "name", "said"), BY_VARIABLE)
def test_a_wrong_variable_is_named_with_what_to_change(
    problems: Problems, variables: dict[str, str], name: str, said: str
) -> None:
    ((found, text),) = problems(**variables)
    assert found == name
    assert said in text


BY_FILE = [
    ("param corsOrigins = ['https://portal.example.com', '*']", "corsOrigins", "name each origin"),
    ("param corsOrigins = [\n  'https://*.example.com'\n]", "corsOrigins", "name each origin"),
    ("param maximumInstanceCount = 39", "maximumInstanceCount", "from 40 to 1000"),
    ("param httpConcurrency = 'eight'", "httpConcurrency", "is no whole number"),
    ("param pythonVersion = '3.11'", "pythonVersion", "is not one of 3.13"),
    (f"param neo4jPassword = '{CANARY}'", "neo4jPassword", "take it out"),
    (
        f"param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD', '{CANARY}')",
        "neo4jPassword",
        "take it out",
    ),
    (f"param tags = 'https://me:{CANARY}@example.com'", "tags", "holds a password"),
    ("param vnetAddressPrefix = '10.60.0.0'", "vnetAddressPrefix", "from /8 to /25"),
    ("param vnetAddressPrefix = '10.60.0.0/26'", "vnetAddressPrefix", "from /8 to /25"),
    ("param vnetAddressPrefix = '10.60.0.1/24'", "vnetAddressPrefix", "from /8 to /25"),
    ("param appSettings = {\n  MAX_PASS: '3'\n}", "MAX_PASS", "is MAX_PASSES meant?"),
    ("param appSettings = {\n  MAX_PASSES: 3\n}", "MAX_PASSES", "as text, '3'"),
    ("param appSettings = {\n  MAX_PASSES: '9'\n}", "MAX_PASSES", "less than or equal to 5"),
    ("param maximumInstances = 50", "maximumInstances", "is maximumInstanceCount meant?"),
]


@pytest.mark.parametrize(("lines", "name", "said"), BY_FILE)
def test_a_wrong_line_of_the_parameter_file_is_named_with_what_to_change(
    problems: Problems, lines: str, name: str, said: str
) -> None:
    ((found, text),) = problems(lines)
    assert found == name
    assert said in text


def test_a_secret_that_the_template_does_not_declare_secure_is_named(
    root: Path, problems: Problems
) -> None:
    template = root / "infra" / "main.bicep"
    template.write_text(template.read_text().replace("@secure()\n", ""))
    found = problems()
    assert [name for name, _ in found] == ["neo4jPassword", "projectKeys"]
    assert all("@secure()" in text for _, text in found)


def test_what_is_right_but_worth_a_look_is_a_note(root: Path) -> None:
    variables = {
        **GOOD,
        "AZURE_LOCATION": "moonbase",
        "CHAT_MODEL_NAME": "gpt-5.1",
        "REDIS_EXISTING_ID": REDIS,
    }
    notes = {finding.name for finding in infra_findings(root, variables) if finding.state == "note"}
    assert notes == {"environment", "location", "chatModelName", "redisExistingId"}


def test_without_templates_the_place_is_named(tmp_path: Path) -> None:
    (finding,) = infra_findings(tmp_path, GOOD)
    assert finding.state == "problem"
    assert "root of the repository" in finding.text


def test_a_password_is_not_asked_for_where_a_secret_is_named(problems: Problems) -> None:
    secret = f"{GROUP}/Microsoft.KeyVault/vaults/team/secrets/neo4j"
    assert problems(without="NEO4J_PASSWORD", NEO4J_CREDENTIAL_ID=secret) == []


@pytest.mark.parametrize(
    "variables",
    [
        {"AUTH_MODE": "keys", "PROJECT_KEYS": ENTRY},
        {"AUTH_MODE": "keys", "PROJECT_KEYS_CREDENTIAL_ID": KEYS},
        {"AUTH_MODE": "easyauth", "ENTRA_CLIENT_ID": CLIENT, "PROJECT_CLAIM": "projects"},
        {"AUTH_MODE": "function", "PROJECT_KEYS": "", "ENTRA_CLIENT_ID": ""},
    ],
)
def test_each_mode_is_right_with_what_it_needs(
    problems: Problems, variables: dict[str, str]
) -> None:
    assert problems(**variables) == []


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"MILVUS_URI": MILVUS}, []),
        ({"MILVUS_URI": MILVUS, "MILVUS_CREDENTIAL_ID": KEYS, "MILVUS_INDEX": "HNSW"}, []),
        ({"MILVUS_URI": ""}, ["milvusUri"]),
        ({"MILVUS_URI": "vectors.db"}, ["milvusUri"]),
        ({"MILVUS_URI": f"https://user:{CANARY}@milvus.example.com"}, ["milvusUri"]),
        (
            {"MILVUS_URI": MILVUS, "MILVUS_CREDENTIAL_ID": REDIS, "GRAPH_SCHEMA": "v1"},
            ["vectorStore", "milvusCredentialId"],
        ),
        ({"MILVUS_URI": MILVUS, "MILVUS_INDEX": "FLAT"}, ["MILVUS_INDEX"]),
    ],
)
def test_milvus_is_right_with_its_package_and_address(
    root: Path, problems: Problems, variables: dict[str, str], found: list[str]
) -> None:
    (root / "requirements.lock").write_text("pydantic==2.14.4\npymilvus==3.0.2 \\\n")
    assert [name for name, _ in problems(VECTOR_STORE="milvus", **variables)] == found


@pytest.mark.parametrize(
    ("mode", "channel", "noted"),
    [
        ({"AUTH_MODE": "easyauth", "ENTRA_CLIENT_ID": CLIENT}, "progress", True),
        ({"AUTH_MODE": "easyauth", "ENTRA_CLIENT_ID": CLIENT}, "progress:{retrieval_id}", False),
        ({}, "progress", False),
    ],
)
def test_one_channel_for_callers_who_are_kept_apart_is_a_note(
    root: Path, mode: dict[str, str], channel: str, noted: bool
) -> None:
    findings = infra_findings(root, {**GOOD, **mode, "PROGRESS_CHANNEL": channel})
    assert (("PROGRESS_CHANNEL", "note") in {(one.name, one.state) for one in findings}) is noted


CHEAPER = "param appSettings = {\n  MAX_FOLLOWUPS: '4'\n  MAX_CHUNKS_FOR_PROMPT: '3'\n}"


@pytest.mark.parametrize(
    ("lines", "variables", "said"),
    [
        ("", {}, None),
        ("", {"CHAT_CAPACITY": "300"}, "2.3 requests a minute; set CHAT_CAPACITY=520 for 4"),
        (CHEAPER, {"CHAT_CAPACITY": "300"}, None),
        (
            "param appSettings = {\n  MAX_FOLLOWUPS: '20'\n}",
            {},
            "2.3 requests a minute; set CHAT_CAPACITY=920 for 4",
        ),
        (
            "",
            {"CHAT_SKU_NAME": "GlobalProvisionedManaged", "CHAT_CAPACITY": "15"},
            "15 provisioned units",
        ),
        ("", {"CHAT_SKU_NAME": "GlobalProvisionedManaged"}, "set CHAT_CAPACITY too"),
        ("", {"OPENAI_MODE": "existing", "OPENAI_EXISTING_ID": OPENAI, "CHAT_CAPACITY": "1"}, None),
    ],
)
def test_capacity_is_compared_with_what_a_request_takes(
    root: Path, lines: str, variables: dict[str, str], said: str | None
) -> None:
    file = root / "infra" / "main.bicepparam"
    file.write_text(f"{file.read_text()}\n{lines}\n")
    texts = [
        one.text
        for one in infra_findings(root, {**GOOD, **variables})
        if one.name == "chatCapacity"
    ]
    assert bool(texts) is (said is not None)
    assert all(str(said) in text for text in texts)


def test_the_longest_request_that_was_measured_is_what_a_request_takes() -> None:
    assert tokens_a_request(10, 10) == 130_000
    limits, alone = Limits(), TOKENS_OF_CHUNKS + TOKENS_A_FOLLOWUP
    assert limits.max_prompt_tokens <= limits.max_followups_per_prompt * alone


# -------------------------------------------------------------------------------- azd's environment
def write_azd(root: Path, values: dict[str, str], name: str = "prod") -> None:
    folder = root / ".azure" / name
    folder.mkdir(parents=True)
    (root / ".azure" / "config.json").write_text(
        json.dumps({"version": 1, "defaultEnvironment": name})
    )
    (folder / ".env").write_text(
        "".join(f'{variable}="{value}"\n' for variable, value in values.items())
    )


def test_the_default_environment_of_azd_is_read_and_goes_before_the_shell(root: Path) -> None:
    write_azd(root, {name: value for name, value in GOOD.items() if name != "NEO4J_PASSWORD"})
    findings = infra_findings(root, {"AZURE_LOCATION": "nowhere", "NEO4J_PASSWORD": CANARY})
    assert [finding.state for finding in findings] == ["ok", "ok"]
    assert findings[0].text.startswith("prod, of ")


def test_the_environment_of_azd_can_be_named(root: Path) -> None:
    write_azd(root, {"NEO4J_URI": "bolt://graph.example.com"}, "stage")
    findings = infra_findings(root, {**GOOD, "AZURE_ENV_NAME": "stage"})
    assert [finding.name for finding in findings if finding.state == "problem"] == ["neo4jUri"]


def test_a_password_in_azds_file_is_a_note(root: Path) -> None:
    write_azd(root, GOOD)
    findings = infra_findings(root, {})
    (note,) = (finding for finding in findings if finding.state == "note")
    assert "NEO4J_PASSWORD in plain text" in note.text
    assert CANARY not in str(findings)


# --------------------------------------------------------------------------------- the command line
@pytest.mark.parametrize(("uri", "code"), [(GOOD["NEO4J_URI"], 0), ("bolt://graph.example.com", 1)])
def test_the_command_ends_with_one_when_there_is_a_problem(
    root: Path, monkeypatch: pytest.MonkeyPatch, uri: str, code: int
) -> None:
    monkeypatch.chdir(root)
    for name, value in {**GOOD, "NEO4J_URI": uri}.items():
        monkeypatch.setenv(name, value)
    done = CliRunner().invoke(app, ["doctor", "--infra", "--json"])
    document = json.loads(done.stdout)
    assert (done.exit_code, document["ok"]) == (code, not code)
    assert all(set(finding) == {"name", "state", "text"} for finding in document["findings"])
    if code:
        shown = CliRunner().invoke(app, ["doctor", "--infra"])
        assert (shown.exit_code, "neo4j+s://" in shown.stdout) == (1, True)


# --------------------------------------------------------------------------------- reading of files
def test_every_parameter_of_the_template_is_read_with_its_rules() -> None:
    text = (INFRA / "main.bicep").read_text()
    declared = declared_in(text)
    assert len(declared) == text.count("\nparam ")
    assert {name for name, one in declared.items() if one.required} == {
        "environmentName",
        "location",
        "neo4jUri",
    }
    assert [name for name, one in declared.items() if one.secure] == [
        "neo4jPassword",
        "projectKeys",
    ]
    assert declared["maximumInstanceCount"].rules["minValue"] == 40


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'it\\'s // no comment' // a comment", "it's // no comment"),
        ("-3", -3),
        ("[\n  'a' // first\n  'b'\n]", ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ("any(readEnvironmentVariable('UNSET', 'x'))", "x"),
        ("int(readEnvironmentVariable('SET'))", 7),
        ("bool(readEnvironmentVariable('UNSET', 'TRUE'))", True),
        ("split(readEnvironmentVariable('UNSET', 'a,b'), ',')", UNREAD),
        ("'${other}-suffix'", UNREAD),
        ("concat(['a'], ['b'])", UNREAD),
        ("{\n  a: 1\n  'b-c': any(readEnvironmentVariable('SET', '{}'))\n}", {"a": 1, "b-c": "7"}),
        ("{\n  a: { b: 1 }\n}", UNREAD),
        ("other", UNREAD),
        ("", UNREAD),
    ],
)
def test_an_expression_is_read_or_left_alone(expression: str, value: object) -> None:
    given = given_in(f"param one = {expression}\n\nparam two = 'two'\n", {"SET": "7"})
    assert given["one"].value == value
    assert given["two"].value == "two"


@pytest.mark.parametrize(
    ("resource_id", "kind"),
    [
        (OPENAI, "Microsoft.CognitiveServices/accounts"),
        (f"{REDIS}/databases/default", "Microsoft.Cache/redisEnterprise/databases"),
        (f"{NETWORK}/subnets/a", "Microsoft.Network/virtualNetworks/subnets"),
        (f"{NETWORK}/subnets", ""),
        ("", ""),
        ("cache", ""),
    ],
)
def test_the_type_of_a_resource_id(resource_id: str, kind: str) -> None:
    assert type_of(resource_id) == kind
