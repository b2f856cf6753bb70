"""Parameters: described, bounded, covered by the parameter file, and refused with a sentence when they are wrong."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.infra.bicep_deployment import RefusedError, deploy
from tests.infra.bicep_symbols import BOUNDS
from tests.infra.bicep_tree import BicepFile, Declaration, descendants, literal, text
from tests.infra.templates import (
    EXISTING_NETWORK,
    EXISTING_OPENAI,
    EXISTING_REDIS,
    MAIN,
    REQUIRED,
    ROOT,
    WAYS,
    deployed,
    only,
    outputs,
    parameter_file,
    resources,
)

PARAMETERS = BicepFile(MAIN).of("param")
UNBOUNDED = {"tags"}
"""Objects have no decorator for a bound."""


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_every_parameter_is_described_and_bounded(parameter: Declaration) -> None:
    (description,) = parameter.decorators["description"]
    assert len(literal(description) or "") > 10
    assert parameter.type == "bool" or parameter.name in UNBOUNDED or BOUNDS & set(parameter.decorators)
    if parameter.type == "int":
        assert {"minValue", "maxValue"} <= set(parameter.decorators) or "allowed" in parameter.decorators


def test_only_four_parameters_have_no_default() -> None:
    assert {one.name for one in PARAMETERS if one.value is None} == set(REQUIRED)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_parameter_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(RefusedError, match=f"{name} is not given"):
        deploy(MAIN, {key: value for key, value in REQUIRED.items() if key != name})


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"environmentName": "e" * 65}, "environmentName"),
    ({"environmentName": ""}, "environmentName"),
    ({"environmentName": "my_env"}, "letters, digits and dashes only"),
    ({"environmentName": "größe"}, "letters, digits and dashes only"),
    ({"neo4jPassword": "short"}, "neo4jPassword"),
    ({"neo4jUri": "bolt://graph.example.com"}, "neo4j\\+s:// or bolt\\+s://"),
    ({"neo4jUri": "neo4j+s://neo4j:pw@graph.example.com"}, "no user and no password"),
    ({"maximumInstanceCount": 39}, "maximumInstanceCount"),
    ({"maximumInstanceCount": 1001}, "maximumInstanceCount"),
    ({"instanceMemoryMB": 1024}, "instanceMemoryMB"),
    ({"pythonVersion": "3.11"}, "pythonVersion"),
    ({"httpConcurrency": 0}, "httpConcurrency"),
    ({"deadlineSec": 226}, "deadlineSec"),
    ({"corsOrigins": ["https://ok.example.com", "*"]}, "corsOrigins must name each origin"),
    ({"openAiMode": "off"}, "openAiMode"),
    ({"openAiMode": "existing"}, "openAiExistingId must be"),
    ({"openAiMode": "existing", "openAiExistingId": EXISTING_REDIS}, "openAiExistingId must be"),
    ({"redisMode": "existing", "redisExistingId": EXISTING_OPENAI}, "redisExistingId must be"),
    (
        {"redisMode": "existing", "redisExistingId": EXISTING_REDIS.replace("redisEnterprise", "redis")},
        "redisExistingId must be",
    ),
    ({"redisMode": "existing", "redisExistingId": f"{EXISTING_REDIS}/databases/default"}, "redisExistingId must be"),
    ({"existingAppSubnetId": f"{EXISTING_NETWORK}/subnets/a"}, "must be given together"),
    (
        {"existingAppSubnetId": EXISTING_NETWORK, "existingEndpointSubnetId": EXISTING_NETWORK},
        "resource id of a subnet",
    ),
    ({"functionAccess": "private"}, "functionAccess must be public without vnetEnabled"),
    ({"keyVaultRetentionDays": 6}, "keyVaultRetentionDays"),
    ({"storageAccountName": "s" * 25}, "storageAccountName"),
    ({"password": "in plain sight"}, "has no parameter"),
]


@pytest.mark.parametrize(("changes", "said"), WRONG, ids=[f"{n}-{'-'.join(one[0])}" for n, one in enumerate(WRONG)])
def test_a_wrong_parameter_is_refused_with_what_is_wrong(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RefusedError, match=said):
        deploy(MAIN, {**REQUIRED, **changes})


def test_nothing_is_created_before_the_checks() -> None:
    group = BicepFile(MAIN).declared["group"]
    assert "checks" in {text(node) for node in descendants(group.body) if node.type == "identifier"}


# ------------------------------------------------------------------------------------------------ the parameter file
def test_the_parameter_file_gives_what_is_required_and_no_secret() -> None:
    file = parameter_file()
    given = {one.name: one for one in file.of("var")}
    assert set(REQUIRED) <= set(given) <= {one.name for one in PARAMETERS}
    for name, one in given.items():
        assert one.value is not None
        read = re.search(r"readEnvironmentVariable\('([A-Z0-9_]+)'(, '([^']*)')?\)", text(one.value))
        assert read, name
        assert (read[2] is None) == (name in REQUIRED), f"{name}: a default where none belongs, or none"


def test_the_defaults_of_the_parameter_file_are_those_of_the_template() -> None:
    for one in parameter_file().of("var"):
        if one.name not in REQUIRED:
            assert one.value is not None
            default = BicepFile(MAIN).declared[one.name].value
            assert default is not None
            (_, written) = re.findall(r"'([^']*)'", text(one.value))
            assert written == text(default).strip("'"), one.name


def test_the_workflow_and_the_parameter_file_read_the_same_password() -> None:
    assert "NEO4J_PASSWORD: ${{ secrets.NEO4J_PASSWORD }}" in (ROOT / ".github/workflows/deploy.yml").read_text()
    assert "readEnvironmentVariable('NEO4J_PASSWORD')" in parameter_file().source


# ------------------------------------------------------------------------------------------------ what can be chosen
MODEL, CACHE = "Microsoft.CognitiveServices/accounts", "Microsoft.Cache/redisEnterprise"
RETIRED = re.compile(r"gpt-(3|4|4o|4\.1|35|5)($|-mini|-nano|-turbo)|text-embedding-ada")


def test_no_retired_model_and_no_retired_cache_is_a_default() -> None:
    models = [one.properties["model"] for one in resources("default", f"{MODEL}/deployments")]
    assert {one["name"] for one in models} == {"gpt-5.4", "text-embedding-3-large"}
    assert not any(RETIRED.match(one["name"]) for one in models)
    assert all(one["version"] and one["format"] == "OpenAI" for one in models)
    assert only("default", CACHE).body["sku"] == {"name": "Balanced_B0"}
    assert "Microsoft.Cache/redis@" not in "".join(path.read_text() for path in MAIN.parent.rglob("*.bicep"))


def test_models_and_cache_that_are_there_are_used_where_they_are() -> None:
    assert resources("own models and cache", MODEL) == []
    assert resources("own models and cache", CACHE) == []
    scope = deployed("own models and cache")
    there = {one.id for one in scope.resources() if one.existing}
    assert {EXISTING_OPENAI, EXISTING_REDIS} <= there


def test_redis_can_be_left_out() -> None:
    assert [one for one in deployed("without redis").resources() if one.type.startswith(CACHE)] == []
    assert outputs("without redis")["AZURE_REDIS_ID"] == ""


def test_models_are_deployed_one_after_the_other() -> None:
    models = BicepFile(MAIN.parent / "modules" / "openai.bicep").declared["models"]
    assert [text(node) for node in models.decorators["batchSize"]] == ["1"]


def test_scale_is_as_asked_for() -> None:
    way = {"httpConcurrency": 16, "alwaysReadyInstances": 2, "maximumInstanceCount": 60, "instanceMemoryMB": 4096}
    (site,) = (one for one in deploy(MAIN, {**REQUIRED, **way}).resources() if one.type == "Microsoft.Web/sites")
    assert site.properties["functionAppConfig"]["scaleAndConcurrency"] == {
        "alwaysReady": [{"name": "http", "instanceCount": 2}],
        "instanceMemoryMB": 4096,
        "maximumInstanceCount": 60,
        "triggers": {"http": {"perInstanceConcurrency": 16}},
    }


def test_the_default_is_python_3_13_on_flex_consumption() -> None:
    site = only("default", "Microsoft.Web/sites")
    assert site.properties["functionAppConfig"]["runtime"] == {"name": "python", "version": "3.13"}
    plan = only("default", "Microsoft.Web/serverfarms")
    assert plan.body["sku"] == {"name": "FC1", "tier": "FlexConsumption"}
    assert plan.properties == {"reserved": True}


@pytest.mark.parametrize("way", WAYS)
def test_outputs_say_where_everything_is(way: str) -> None:
    said = outputs(way)
    assert said["SERVICE_API_URI"].startswith("https://<Microsoft.Web/sites ")
    assert said["SERVICE_API_NAME"] == only(way, "Microsoft.Web/sites").name
    assert said["AZURE_RESOURCE_GROUP"] == only(way, "Microsoft.Resources/resourceGroups").name
    assert len(said["NEXT_STEPS"]) >= 3
    assert json.dumps(said)
