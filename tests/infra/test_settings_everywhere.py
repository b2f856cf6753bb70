"""One list of settings: what the template gives by default is what the code has, and the code
accepts all of it.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

import annotated_types
import pytest

from drift.hosting.settings import Settings, load
from tests.infra.expected.function import SOURCES
from tests.infra.parameters import DEFAULTS, PARAMETERS
from tests.infra.rules.snapshot import settings_of
from tests.infra.ways import Project, Way

CODE = {name.upper(): field for name, field in Settings.model_fields.items()}
OTHER_DEFAULT = {
    "MAX_INFLIGHT": "as many as the platform sends one instance",
    "OAI_EMBED_DEPLOYMENT_NAME": "the template names its deployment",
}
ANSWERS = {
    "AZURE_CLIENT_ID": "55555555-5555-5555-5555-555555555555",
    "NEO4J_PASSWORD": "resolved by the platform",
    "OAI_BASE_URL": "https://oai-x.openai.azure.com/",
    "PROJECT_KEYS_SECRET": "https://kv-x.vault.azure.net/secrets/project-keys",
    "REDIS_URL": "rediss://amr-x.westeurope.redis.azure.net:10000",
}
"""What a deployment knows and a preview does not."""


@pytest.mark.parametrize("way", Project().ways, ids=lambda way: way.name)
def test_the_code_accepts_what_the_template_sets(way: Way) -> None:
    given = {
        name: ANSWERS.get(name, value) if value.startswith(("[", "@")) else value
        for name, value in settings_of(way).items()
    }
    settings = load({name: value for name, value in given.items() if value})
    assert settings.max_inflight == way["httpConcurrency"]
    assert settings.redis_auth == ("url" if way["redisMode"] == "off" else "entra")
    assert bool(settings.redis_url) is (way["redisMode"] != "off")
    assert settings.auth_mode == way["authMode"]
    assert bool(settings.project_keys_secret) is (way["authMode"] == "keys")
    assert bool(settings.auth_tenant_id) is (way["authMode"] == "easyauth")


def test_defaults_are_those_of_the_code() -> None:
    for name, parameter in SOURCES.items():
        field = CODE[name]
        if not field.is_required() and name not in OTHER_DEFAULT:
            assert _written(field.default) == _written(DEFAULTS[parameter]), name


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_bounds_are_those_of_the_code() -> None:
    compared = 0
    for name, parameter in SOURCES.items():
        rules = PARAMETERS[parameter]
        bounds = {key: rules[key] for key in ("minValue", "maxValue") if key in rules}
        if bounds:
            assert bounds == _bounds(CODE[name]), name
            compared += 1
        elif "allowedValues" in rules:
            assert set(rules["allowedValues"]) == set(get_args(CODE[name].annotation)), name
            compared += 1
    assert compared > 10


def _bounds(field: Any) -> dict[str, int]:
    """Return the whole numbers that a setting may be; a bound that is excluded moves by one."""
    rules = [
        rule
        for part in (field, *_annotations(field.annotation))
        for rule in getattr(part, "metadata", [part])
    ]
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
