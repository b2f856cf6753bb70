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
from drift.local.infra.bicep_parameters import given_in
from tests.infra.differences import differences
from tests.infra.parameters import DEFAULTS, FROM_ENVIRONMENT, REQUIRED
from tests.infra.rules import Rule
from tests.infra.ways import Project

HOST = {
    "version": "2.0",
    "functionTimeout": "00:05:00",
    "extensions": {
        "http": {
            "routePrefix": "",
            "hsts": {"isEnabled": True, "maxAge": "365.00:00:00"},
            "customHeaders": {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"},
        }
    },
    "logging": {
        "logLevel": {
            "default": "Information",
            "Host.Results": "Information",
            "Host.Aggregator": "Warning",
            "Function": "Information",
        },
        "applicationInsights": {
            "samplingSettings": {"isEnabled": True, "excludedTypes": "Request;Exception"},
            "enableLiveMetricsFilters": True,
        },
    },
}


def the_host_is_set_up_as_meant(project: Project) -> Iterator[str]:
    """All of host.json: time-out, routes, headers, what is logged and never sampled.

    No extension bundle.
    """
    yield from differences(HOST, json.loads(project.text("host.json")), "host.json: ")


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

IGNORED = {
    ".*",
    "*.md",
    "Makefile",
    "/LICENSE",
    "azure.yaml",
    "docker-compose.yml",
    "build",
    "docs",
    "drift/__main__.py",
    "drift/local",
    "infra",
    "local.settings.json",
    "local.settings.json.example",
    "*.egg-info",
    "pyproject.toml",
    "requirements.lock",
    "tests",
}


def only_the_function_is_packed(project: Project) -> Iterator[str]:
    """Every line of .funcignore, since what is not on it is uploaded.

    What holds settings of a machine is in .gitignore.
    """
    found = [line for line in project.text(".funcignore").splitlines() if line.strip()]
    yield from (f".funcignore: {line} is missing" for line in sorted(IGNORED - set(found)))
    yield from (f".funcignore: {line} is not expected" for line in found if line not in IGNORED)
    kept = {"local.settings.json", ".azure/"} - set(project.text(".gitignore").split())
    yield from (f".gitignore: {line} is missing" for line in sorted(kept))


HOOK = {"shell": "sh", "run": "infra/hooks/only-ours.sh"}
AZD = {
    "name": "drift-neo4j",
    "infra": {"provider": "bicep", "path": "infra", "module": "main"},
    "services": {
        "api": {
            "project": ".",
            "language": "python",
            "host": "function",
            "dist": "build/package",
            "remoteBuild": False,
            "hooks": {"prepackage": {"shell": "sh", "run": "make package"}},
        }
    },
    "hooks": {"preprovision": HOOK, "predown": HOOK},
}


def azd_finds_template_service_and_hooks(project: Project) -> Iterator[str]:
    """All of azure.yaml; the service has the name that the site is tagged with."""
    yield from differences(AZD, yaml.safe_load(project.text("azure.yaml")), "azure.yaml: ")


LOGIN = {"contents": "read", "id-token": "write"}


def a_workflow_may_read_and_a_login_gets_its_token(project: Project) -> Iterator[str]:
    """Each workflow reads the repository and no more.

    A job that signs in at Azure may ask for a token besides; no other job asks for anything.
    """
    for path in sorted((project.root / ".github/workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        if workflow.get("permissions") != {"contents": "read"}:
            yield f"{path.name}: permissions are {workflow.get('permissions')}"
        for name, job in workflow["jobs"].items():
            signs_in = "azure/login@" in str(job["steps"])
            if job.get("permissions") not in ([LOGIN] if signs_in else [None]):
                yield f"{path.name}: job {name}: permissions are {job.get('permissions')}"


def the_linter_refuses_what_it_finds(project: Project) -> Iterator[str]:
    """Every rule is an error, and no rule is taken out."""
    rules = json.loads(project.text("infra/bicepconfig.json"))["analyzers"]["core"]
    if rules.get("enabled") is not True:
        yield "infra/bicepconfig.json: the linter is off"
    for name, rule in rules["rules"].items():
        if rule != {"level": "error"}:
            yield f"infra/bicepconfig.json: {name} is {rule}"
    yield from (
        f"infra/bicepconfig.json: {name} is missing"
        for name in sorted(LINT_RULES - set(rules["rules"]))
    )


LINT_RULES = {
    "adminusername-should-not-be-literal",
    "explicit-values-for-loc-params",
    "no-conflicting-metadata",
    "no-hardcoded-env-urls",
    "no-hardcoded-location",
    "no-loc-expr-outside-params",
    "no-unnecessary-dependson",
    "no-unused-existing-resources",
    "no-unused-params",
    "no-unused-vars",
    "outputs-should-not-contain-secrets",
    "secure-parameter-default",
    "secure-params-in-nested-deploy",
    "secure-secrets-in-params",
    "use-parent-property",
    "use-recent-api-versions",
    "use-resource-id-functions",
    "use-secure-value-for-secure-inputs",
    "use-stable-resource-identifiers",
}

EXCUSED = {"use-recent-api-versions": 5, "no-hardcoded-env-urls": 1, "use-resource-id-functions": 1}
"""How often each linter rule is switched off for a line; each has its reason on the line before."""


def an_excuse_has_a_reason(project: Project) -> Iterator[str]:
    """A linter rule is switched off for one line only, with a comment above it, and as often as is
    known.
    """
    found: dict[str, int] = {}
    for file in sorted((project.root / "infra").rglob("*.bicep")):
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if match := re.match(r"\s*#disable\S*\s+(.*)", line):
                found[match[1]] = found.get(match[1], 0) + 1
                if not re.match(r"\s*// \w", lines[number - 1]):
                    yield f"{file.name}:{number + 1}: {match[1]} is switched off without a reason"
    yield from differences(EXCUSED, found, "infra: switched off: ")


FLEX_GAVE_UP = {
    "FUNCTIONS_EXTENSION_VERSION",
    "FUNCTIONS_WORKER_RUNTIME",
    "FUNCTIONS_WORKER_RUNTIME_VERSION",
    "FUNCTIONS_MAX_HTTP_CONCURRENCY",
    "FUNCTIONS_WORKER_PROCESS_COUNT",
    "FUNCTIONS_WORKER_DYNAMIC_CONCURRENCY_ENABLED",
    "SCM_DO_BUILD_DURING_DEPLOYMENT",
    "ENABLE_ORYX_BUILD",
    "WEBSITE_CONTENTAZUREFILECONNECTIONSTRING",
    "WEBSITE_CONTENTSHARE",
    "WEBSITE_CONTENTOVERVNET",
    "WEBSITE_DNS_SERVER",
    "WEBSITE_MAX_DYNAMIC_APPLICATION_SCALE_OUT",
    "WEBSITE_NODE_DEFAULT_VERSION",
    "WEBSITE_RUN_FROM_PACKAGE",
    "WEBSITE_SKIP_CONTENTSHARE_VALIDATION",
    "WEBSITE_VNET_ROUTE_ALL",
    "WEBSITE_USE_PLACEHOLDER_DOTNETISOLATED",
    "WEBSITE_MOUNT_ENABLED",
}


def nothing_is_named_that_flex_consumption_gave_up(project: Project) -> Iterator[str]:
    """Settings that the plan refuses or ignores stand nowhere in infra/."""
    for file in sorted((project.root / "infra").rglob("*.bicep*")):
        words = set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
        yield from (
            f"{file.name}: {word} is no setting of Flex Consumption"
            for word in sorted(words & FLEX_GAVE_UP)
        )


VARIABLES = {
    "environmentName": "AZURE_ENV_NAME",
    "location": "AZURE_LOCATION",
    "neo4jUri": "NEO4J_URI",
    "neo4jPassword": "NEO4J_PASSWORD",
}
"""Names of variables that are not the parameter's own in capitals."""


def the_parameter_file_reads_each_value_from_its_own_variable(project: Project) -> Iterator[str]:
    """infra/main.bicepparam: the variable of each parameter, and the default of the template where
    there is one.
    """
    text = project.text("infra/main.bicepparam")
    given = given_in(text, {})
    yield from (
        f"infra/main.bicepparam: {name} is read, or no longer"
        for name in sorted(FROM_ENVIRONMENT ^ set(given))
    )
    for name, one in given.items():
        if name in {"neo4jPassword", "projectKeys", "appSettings"}:
            continue
        variable = VARIABLES.get(name) or re.sub(
            r"(?<=[a-z0-9])([A-Z])", r"_\1", name
        ).upper().replace("OPEN_AI", "OPENAI")
        if one.variable != variable:
            read = one.variable or "nowhere"
            yield f"infra/main.bicepparam: {name} is read from {read}, not from {variable}"
        if name not in REQUIRED and one.value != DEFAULTS[name]:
            yield (
                f"infra/main.bicepparam: {name} is {one.value!r} by default, and "
                f"{DEFAULTS[name]!r} in the template"
            )
        if name in REQUIRED and one.problem != "missing":
            yield f"infra/main.bicepparam: {name} has a default"
    for setting, variable in re.findall(
        r"^  (\w+): readEnvironmentVariable\('(\w+)', ''\)$", text, re.MULTILINE
    ):
        if setting != variable or setting.lower() not in Settings.model_fields:
            yield f"infra/main.bicepparam: setting {setting} is read from {variable}"
    for line in SECRET_LINES:
        if line not in text.splitlines():
            yield f"infra/main.bicepparam: the line is missing: {line}"


SECRET_LINES = [
    "var neo4jCredential = readEnvironmentVariable('NEO4J_CREDENTIAL_ID', '')",
    "var passwordVariable = empty(neo4jCredential) ? 'NEO4J_PASSWORD' : 'NEO4J_CREDENTIAL_ID'",
    (
        "param neo4jPassword = empty(neo4jCredential) "
        "? readEnvironmentVariable(passwordVariable) : null"
    ),
    "var keysVariable = readEnvironmentVariable('PROJECT_KEYS', '')",
    "param projectKeys = empty(keysVariable) ? null : keysVariable",
]


def no_way_holds_a_secret(project: Project) -> Iterator[str]:
    """Ways to deploy read password and keys from the environment, or name a secret that is
    there.
    """
    for file in sorted((project.root / "infra").rglob("*.bicepparam")):
        for line in file.read_text(encoding="utf-8").splitlines():
            secret = re.match(r"param (neo4jPassword|projectKeys) ", line)
            if secret and "readEnvironmentVariable(" not in line and line not in SECRET_LINES:
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
    "NEO4J_PASSWORD": "drift-on-loopback-only",
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


RULES: tuple[Rule, ...] = (
    the_host_is_set_up_as_meant,
    the_function_gives_up_before_the_platform,
    only_the_function_is_packed,
    azd_finds_template_service_and_hooks,
    a_workflow_may_read_and_a_login_gets_its_token,
    the_linter_refuses_what_it_finds,
    an_excuse_has_a_reason,
    nothing_is_named_that_flex_consumption_gave_up,
    the_parameter_file_reads_each_value_from_its_own_variable,
    no_way_holds_a_secret,
    the_example_shows_every_setting,
)
