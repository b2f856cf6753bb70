"""One list of settings: what the code reads, what the template sets, what the example file shows."""

from __future__ import annotations

import json
from typing import Any, get_args, get_origin

import annotated_types
import pytest

from drift.settings import Settings, load
from tests.infra.bicep_expressions import Expression, expression
from tests.infra.bicep_tree import BicepFile, entries, text
from tests.infra.templates import MAIN, ROOT, WAYS, app_settings, only

CODE = {name.upper(): field for name, field in Settings.model_fields.items()}
PLATFORM = {
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "AzureWebJobsStorage__blobServiceUri",
    "AzureWebJobsStorage__clientId",
    "AzureWebJobsStorage__credential",
}
"""Read by the platform, not by the application."""
LOCAL_ONLY = {
    "ALLOW_PLAINTEXT": "everything on Azure is encrypted",
    "OAI_KEY": "the function signs in with its identity",
}
EXAMPLE_PLATFORM = {"FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsStorage"}
OTHER_DEFAULT = {
    "MAX_INFLIGHT": "as many as the platform sends one instance",
    "REDIS_AUTH": "no keys",
    "OAI_EMBED_DEPLOYMENT_NAME": "the template names its deployment",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_template_sets_what_the_code_reads_and_nothing_else(way: str) -> None:
    assert set(app_settings(way)) - PLATFORM == set(CODE) - set(LOCAL_ONLY)


def test_the_example_file_shows_what_the_code_reads_and_nothing_else() -> None:
    example = json.loads((ROOT / "local.settings.json.example").read_text())["Values"]
    assert set(example) - EXAMPLE_PLATFORM == set(CODE)
    load({name: value for name, value in example.items() if value})  # the environment takes an empty one for none


def test_the_code_accepts_what_the_template_sets() -> None:
    answers = {
        "AZURE_CLIENT_ID": "55555555-5555-5555-5555-555555555555",
        "NEO4J_PASSWORD": "resolved by the platform",
        "OAI_BASE_URL": "https://oai-x.openai.azure.com/",
        "REDIS_URL": "rediss://amr-x.westeurope.redis.azure.net:10000",
    }
    settings = load({**{name: value for name, value in app_settings().items() if value != ""}, **answers})
    assert settings.redis_auth == "entra"
    assert (
        settings.max_inflight
        == only("default", "Microsoft.Web/sites").properties["functionAppConfig"]["scaleAndConcurrency"]["triggers"][
            "http"
        ]["perInstanceConcurrency"]
    )


def test_all_values_are_texts_as_the_platform_wants_them() -> None:
    assert {type(value) for value in app_settings().values()} <= {str, *str.__subclasses__()}


def test_defaults_are_those_of_the_code() -> None:
    for name, value in app_settings().items():
        field = CODE.get(name)
        if field is None or field.is_required() or name in OTHER_DEFAULT or value.startswith(("<", "rediss://<")):
            continue
        assert _written(field.default) == value, name


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _parameter_of_settings() -> dict[str, str]:
    """Return the parameter behind each setting that is one parameter, as it is or as a text."""
    file = BicepFile(MAIN)
    value = file.declared["settings"].value
    assert value is not None
    found = {}
    for name, node in entries(value).items():
        match expression(node):
            case Expression("name", (parameter,)) | Expression("call", ("string", Expression("name", (parameter,)))):
                found[name] = str(parameter)
    return found


def test_bounds_are_those_of_the_code() -> None:
    file = BicepFile(MAIN)
    compared = 0
    for name, parameter in _parameter_of_settings().items():
        decorators = file.declared[parameter].decorators
        bounds = {key: int(text(decorators[key][0])) for key in ("minValue", "maxValue") if key in decorators}
        if bounds:
            assert bounds == _bounds(CODE[name]), name
            compared += 1
        elif "allowed" in decorators:
            allowed = {text(child).strip("'") for child in decorators["allowed"][0].named_children}
            assert allowed == set(get_args(CODE[name].annotation)), name
            compared += 1
    assert compared > 10


def _bounds(field: Any) -> dict[str, int]:
    """Return the whole numbers that a setting may be; a bound that is excluded moves by one."""
    rules = [rule for part in (field, *_annotations(field.annotation)) for rule in getattr(part, "metadata", [part])]
    found = {}
    for rule in rules:
        if isinstance(rule, annotated_types.Ge):
            found["minValue"] = int(rule.ge)
        elif isinstance(rule, annotated_types.Gt):
            found["minValue"] = int(rule.gt) + 1
        elif isinstance(rule, annotated_types.Le):
            found["maxValue"] = int(rule.le)
    return found


def _annotations(annotation: Any) -> tuple[Any, ...]:
    return tuple(getattr(annotation, "__metadata__", ())) if get_origin(annotation) else ()


@pytest.mark.parametrize("way", ["without redis", "private without redis"])
def test_without_redis_the_function_is_told_of_none(way: str) -> None:
    settings = app_settings(way)
    assert (settings["REDIS_URL"], settings["REDIS_AUTH"]) == ("", "url")
