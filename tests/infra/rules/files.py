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
from tests.infra.rules import Rule
from tests.infra.ways import DECLARED, DEFAULTS, Project

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
    found = service["dist"], service["remoteBuild"], service["hooks"]["prepackage"]["run"]
    if found != ("build/package", False, "make package"):
        yield f"azure.yaml: the package is {found}"
    kept = {"local.settings.json", ".azure/"} - set(project.text(".gitignore").split())
    yield from (f".gitignore: {line} is missing" for line in sorted(kept))


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
    if len(rules["rules"]) < LINT_RULES:
        yield f"infra/bicepconfig.json: there are {len(rules['rules'])} rules"


LINT_RULES = 19

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


FLEX_GAVE_UP = re.compile(
    r"\b(FUNCTIONS_(EXTENSION_VERSION|MAX_HTTP_CONCURRENCY|WORKER_\w+)"
    r"|SCM_DO_BUILD_DURING_DEPLOYMENT|ENABLE_ORYX_BUILD|WEBSITE_(?!AUTH_ENABLED)\w+)\b"
)


def nothing_is_named_that_flex_consumption_gave_up(project: Project) -> Iterator[str]:
    """Settings that the plan refuses or ignores stand nowhere in infra/."""
    for file in sorted((project.root / "infra").rglob("*.bicep*")):
        for found in FLEX_GAVE_UP.finditer(file.read_text(encoding="utf-8")):
            yield f"{file.name}: {found[0]} is no setting of Flex Consumption"


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
    for name, one in given.items():
        if name in {"neo4jPassword", "projectKeys", "appSettings"}:
            continue
        variable = VARIABLES.get(name) or re.sub(
            r"(?<=[a-z0-9])([A-Z])", r"_\1", name
        ).upper().replace("OPEN_AI", "OPENAI")
        if one.variable != variable:
            read = one.variable or "nowhere"
            yield f"infra/main.bicepparam: {name} is read from {read}, not from {variable}"
        required = DECLARED[name].required
        if not required and one.value != DEFAULTS[name]:
            yield (
                f"infra/main.bicepparam: {name} is {one.value!r} by default, and "
                f"{DEFAULTS[name]!r} in the template"
            )
        if required and one.problem != "missing":
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


RULES: tuple[Rule, ...] = (
    the_host_is_set_up_as_meant,
    the_function_gives_up_before_the_platform,
    azd_runs_the_hooks_and_builds_nothing_on_azure,
    a_workflow_may_read_and_a_login_gets_its_token,
    the_linter_refuses_what_it_finds,
    an_excuse_has_a_reason,
    nothing_is_named_that_flex_consumption_gave_up,
    the_parameter_file_reads_each_value_from_its_own_variable,
    no_way_holds_a_secret,
    the_example_shows_every_setting,
)
