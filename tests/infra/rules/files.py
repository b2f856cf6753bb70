"""Rules over files beside the template.

What is deployed of the code, how the host runs it, what azd reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from drift.http.settings import Settings
from tests.infra.differences import differences
from tests.infra.ways import Project, Rule

HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


def the_host_is_set_up_as_meant(project: Project) -> Iterator[str]:
    """Routes without a prefix, headers of every answer, no extension bundle, no request and no
    exception lost by sampling.
    """
    host = json.loads(project.text("host.json"))
    http = host["extensions"]["http"]
    sampling = host["logging"]["applicationInsights"]["samplingSettings"]
    found = {
        "routes begin with": http["routePrefix"],
        "headers": http["customHeaders"],
        "HSTS": http["hsts"]["isEnabled"],
        "never sampled": sampling["excludedTypes"],
        "bundle": host.get("extensionBundle"),
    }
    wanted = ("", HEADERS, True, "Request;Exception", None)
    yield from differences(dict(zip(found, wanted, strict=True)), found, "host.json: ")


def the_function_gives_up_before_the_platform(project: Project) -> Iterator[str]:
    """The deadline ends before the platform's 230 seconds, and the worker's time-out after them."""
    hours, minutes, seconds = map(
        int, json.loads(project.text("host.json"))["functionTimeout"].split(":")
    )
    (bound,) = (
        rule.le for rule in Settings.model_fields["deadline_sec"].metadata if hasattr(rule, "le")
    )
    deadline, worker = bound, 3600 * hours + 60 * minutes + seconds
    if not deadline < PLATFORM_SECONDS < worker:
        yield (
            f"host.json: {deadline} s of deadline, {PLATFORM_SECONDS} s of the platform, "
            f"{worker} s of the worker"
        )


PLATFORM_SECONDS = 230

HOOK = {"shell": "sh", "run": "infra/hooks/only-ours.sh"}


def azd_runs_the_hooks_and_builds_nothing_on_azure(project: Project) -> Iterator[str]:
    """The group is looked at before anything is made and before all is deleted; the package is
    ours. What holds settings of a machine is not committed.
    """
    azd = yaml.safe_load(project.text("azure.yaml"))
    yield from differences({"preprovision": HOOK, "predown": HOOK}, azd["hooks"], "azure.yaml: ")
    service = azd["services"]["api"]  # the name that the site is tagged with
    found = {name: service.get(name) for name in ("dist", "remoteBuild", "host", "language")}
    found["prepackage"] = service["hooks"]["prepackage"]["run"]
    wanted = {"dist": "build/package", "remoteBuild": False, "host": "function"}
    wanted |= {"language": "python", "prepackage": "make package"}
    yield from differences(wanted, found, "azure.yaml: api.")
    kept = {"local.settings.json", ".azure/"} - set(project.text(".gitignore").split())
    yield from (f".gitignore: {line} is missing" for line in sorted(kept))


def the_linter_refuses_what_it_finds(project: Project) -> Iterator[str]:
    """Every rule is an error, and no rule is taken out."""
    rules = json.loads(project.text("infra/bicepconfig.json"))["analyzers"]["core"]
    if rules.get("enabled") is not True:
        yield "infra/bicepconfig.json: the linter is off"
    for name, rule in rules["rules"].items():
        if rule != {"level": "error"}:
            yield f"infra/bicepconfig.json: {name} is {rule}"
    if len(rules["rules"]) < LINT_RULES:
        yield f"infra/bicepconfig.json: there are {len(rules['rules'])} rules"


LINT_RULES = 19

OWN_NAMES = {
    "environmentName": "AZURE_ENV_NAME",
    "location": "AZURE_LOCATION",
    "ANTHROPIC_BASE_URL": "ANTHROPIC_URL",
    "ANTHROPIC_KEY": "ANTHROPIC_CREDENTIAL_ID",
    "MILVUS_TOKEN": "MILVUS_CREDENTIAL_ID",
    "OAI_MODEL": "ANTHROPIC_MODEL",
    "PROJECT_KEYS": "PROJECT_KEYS_CREDENTIAL_ID",
    "RERANK_KEY": "RERANK_CREDENTIAL_ID",
    "alerts.email": "ALERT_EMAIL",
    "chat.deployment": "CHAT_DEPLOYMENT_NAME",
    "chat.model": "CHAT_MODEL_NAME",
    "chat.version": "CHAT_MODEL_VERSION",
    "chat.sku": "CHAT_SKU_NAME",
    "embedding.deployment": "EMBEDDING_DEPLOYMENT_NAME",
    "embedding.model": "EMBEDDING_MODEL_NAME",
    "embedding.version": "EMBEDDING_MODEL_VERSION",
    "embedding.sku": "EMBEDDING_SKU_NAME",
    "ownNames.keyVault": "KEY_VAULT_NAME",
    "ownNames.resourceGroup": "RESOURCE_GROUP_NAME",
}
"""Variables that are not called as their parameter or setting, in capitals."""

LINE = re.compile(r"(?:param |  )(\w+)(?: =|:) (.*)")


def given(text: str) -> Iterator[tuple[str, str]]:
    """Yield each parameter of a file with its value; of an object its parts, such as `chat.model`.

    Settings and secrets are told by their own names.
    """
    within = ""
    for line in text.splitlines():
        found = LINE.match(line)
        if found and line.startswith("param "):
            within = "" if found[1] in {"appSettings", "credentialIds"} else f"{found[1]}."
            yield found[1], found[2]
        elif found:
            yield within + found[1], found[2]


def variables(text: str) -> dict[str, str]:
    """Return the variable that each parameter is read from."""
    read = (
        (name, re.search(r"readEnvironmentVariable\('(\w+)'", value)) for name, value in given(text)
    )
    return {name: found[1] for name, found in read if found}


def the_parameter_file_reads_each_value_from_its_own_variable(project: Project) -> Iterator[str]:
    """infra/main.bicepparam: the variable of each parameter and setting has its name."""
    for name, variable in variables(project.text("infra/main.bicepparam")).items():
        words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=4j)(?=[A-Z])|\.", "_", name).upper()
        words = words.replace("OPEN_AI", "OPENAI")
        if variable != OWN_NAMES.get(name, words):
            yield f"infra/main.bicepparam: {name} is read from {variable}"


FROM_A_VARIABLE = ["param projectKeys = empty(keysVariable) ? null : keysVariable"]


def no_way_holds_a_secret(project: Project) -> Iterator[str]:
    """Ways to deploy read password and keys from the environment, or name a secret that is
    there.
    """
    for file in sorted((project.root / "infra").rglob("*.bicepparam")):
        for line in file.read_text(encoding="utf-8").splitlines():
            secret = re.match(r"param (neo4jPassword|projectKeys) ", line)
            if secret and "readEnvironmentVariable(" not in line and line not in FROM_A_VARIABLE:
                yield f"{file.name}: {secret[1]} does not come from the environment"


def the_example_shows_every_setting(project: Project) -> Iterator[str]:
    """local.settings.json.example has the settings that the code reads, with their defaults but for
    the local servers.
    """
    whole: dict[str, Any] = json.loads(project.text("local.settings.json.example"))
    example = whole.pop("Values")
    yield from differences({"IsEncrypted": False}, whole, "local.settings.json.example: ")
    code = {name.upper() for name in Settings.model_fields}
    extra = set(example) - PLATFORMS
    yield from (
        f"local.settings.json.example: {name} is missing or read by nothing"
        for name in sorted(code ^ extra)
    )
    defaults = {
        name.upper(): _written(field.default) for name, field in Settings.model_fields.items()
    }
    wanted = {name: LOCAL.get(name, defaults[name]) for name in sorted(code & extra)}
    yield from differences(
        wanted, {name: example[name] for name in wanted}, "local.settings.json.example: "
    )


PLATFORMS = {
    "FUNCTIONS_WORKER_RUNTIME",
    "AzureWebJobsStorage",
    # with a schedule the timer stays off until somebody has storage for it
    "AzureWebJobs.reconcile.Disabled",
}
"""Settings of the example that the platform reads."""

LOCAL = {
    "OAI_BASE_URL": "http://127.0.0.1:18080",
    "OAI_MODEL": "drift-extractive",
    "OAI_KEY": "local",
    "OAI_EMBED_MODEL_NAME": "wordllama-256",
    "NEO4J_URI": "bolt://127.0.0.1:17687",
    "NEO4J_PASSWORD": "what-drift-up-prints",
    "REDIS_URL": "redis://127.0.0.1:16379",
    "VECTOR_INDEX_DIMENSIONS": "256",
}
"""The settings of the example that lead to the local servers."""


def _written(default: Any) -> str:
    """Return a default of the code as a setting is written."""
    if default is None:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)


LEFT_OUT = {".*", "drift/local", "infra", "local.settings.json", "tests"}


def what_is_deployed_is_the_function_alone(project: Project) -> Iterator[str]:
    """Secrets of a machine, commands and tests stay where they are."""
    missing = LEFT_OUT - set(project.text(".funcignore").split())
    yield from (f".funcignore: {line} is missing" for line in sorted(missing))


RULES: tuple[Rule, ...] = (
    what_is_deployed_is_the_function_alone,
    the_host_is_set_up_as_meant,
    the_function_gives_up_before_the_platform,
    azd_runs_the_hooks_and_builds_nothing_on_azure,
    the_parameter_file_reads_each_value_from_its_own_variable,
    the_linter_refuses_what_it_finds,
    no_way_holds_a_secret,
    the_example_shows_every_setting,
)
