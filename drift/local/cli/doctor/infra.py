"""`drift doctor --infra`: what is wrong with a deployment's parameters, before Azure is asked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from drift.local.cli.doctor.machine import show
from drift.local.infra.azd import AzdEnvironment, azd_environment
from drift.local.infra.bicep_compiler import Built, build_parameters, find_compiler
from drift.local.infra.bicep_parameters import UNREAD, Declared, Given, declared_in, given_in
from drift.local.infra.finding import Finding
from drift.local.infra.rules import RULES

_SECRET_NAME = re.compile(
    r"password|secret|connectionstring|accesskey|apikey|project_?keys$", re.IGNORECASE
)
_PASSWORD = "NEO4J_PASSWORD"  # noqa: S105 - the name of a variable
_KEYS = "PROJECT_KEYS"
_AZD_SECRET = "akvs://"  # noqa: S105 - what `azd env set-secret` writes
_LOGIN_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]+@")


def examine_infra(root: Path, variables: Mapping[str, str], *, as_json: bool) -> bool:
    """Print what was found in `root`'s infra folder; tell whether there is no problem."""
    return show(infra_findings(root, variables, find_compiler()), as_json=as_json)


def infra_findings(
    root: Path, variables: Mapping[str, str], compiler: str | None = None
) -> list[Finding]:
    """Return what was found; no finding holds the value of a secret.

    A Bicep compiler, by its path, works out the parameter file; without one only plain values are
    looked at.
    """
    template, file = root / "infra" / "main.bicep", root / "infra" / "main.bicepparam"
    for path in (template, file):
        if not path.is_file():
            text = f"{path} is not there: run this in the root of the repository"
            return [Finding("infra", "problem", text)]

    azd = azd_environment(root, variables)
    declared = declared_in(template.read_text(encoding="utf-8"))
    environment = {**variables, **azd.values}
    given = given_in(file.read_text(encoding="utf-8"), environment)
    _add_password(given, environment)
    _add_keys(given, environment)
    built = build_parameters(compiler, file, environment) if compiler else Built()
    for name, value in built.values.items():
        given.setdefault(name, Given(name, literal=False)).value = value
    values = {
        name: given[name].value if name in given else one.default for name, one in declared.items()
    }
    findings = [
        *_sources(root, azd),
        *_parameters(declared, given),
        *_package(root, values),
        *(Finding(*said) for rule in RULES for said in rule(values)),
    ]
    if not any(finding.state == "problem" for finding in findings):
        findings += [Finding("compiler", "problem", error) for error in built.errors]

    if not any(finding.state == "problem" for finding in findings):
        counts = f"{len(given)} given, {len(declared)} declared"
        findings.append(Finding("parameters", "ok", counts))

    return findings


def _add_password(given: dict[str, Given], environment: Mapping[str, str]) -> None:
    """Say where the password comes from: the file asks for it only where no secret is named."""
    credential, password = given.get("neo4jCredentialId"), given.get("neo4jPassword")
    if not password or password.variable or password.literal or (credential and credential.value):
        return
    password.variable = _PASSWORD
    password.value = environment.get(_PASSWORD, UNREAD)
    password.problem = "" if environment.get(_PASSWORD) else "missing"


def _add_keys(given: dict[str, Given], environment: Mapping[str, str]) -> None:
    """Say where the keys of callers come from: the file gives none where the variable is empty."""
    keys = given.get("projectKeys")
    if keys and not keys.variable and not keys.literal:
        keys.variable = _KEYS
        keys.value = environment.get(_KEYS) or None


def _sources(root: Path, azd: AzdEnvironment) -> Iterator[Finding]:
    if not azd.file:
        named = f"{root / '.azure' / azd.name / '.env'} is not there: " if azd.name else ""
        yield Finding(
            "environment", "note", f"{named}the variables of this shell are used, none of azd's"
        )
        return

    yield Finding("environment", "ok", f"{azd.name}, of {azd.file}")
    secrets = [name for name in azd.values if _SECRET_NAME.search(name)]
    if secrets:
        text = "in plain text: take it out, and export it in the shell that runs azd"
        yield Finding("environment", "note", f"{azd.file} holds {', '.join(secrets)} {text}")


def _parameters(declared: Mapping[str, Declared], given: Mapping[str, Given]) -> Iterator[Finding]:
    for name in given:
        if name not in declared:
            near = difflib.get_close_matches(name, declared, 1)
            hint = f": is {near[0]} meant?" if near else ": remove it"
            yield Finding(name, "problem", f"is no parameter of infra/main.bicep{hint}")
    for name, parameter in declared.items():
        text = _missing(parameter, given.get(name)) or _secret(parameter, given.get(name))
        if not text and name in given:
            one = given[name]
            source = f"{one.variable} is wrong" if one.variable else "cannot be read"
            text = f"{source}: {one.problem}" if one.problem else _out_of_bounds(parameter, one)
        if text:
            yield Finding(name, "problem", text)


def _package(root: Path, values: Mapping[str, object]) -> Iterator[Finding]:
    """Say where Milvus is chosen and its package would not be deployed."""
    lock = root / "requirements.lock"
    locked = lock.is_file() and "\npymilvus==" in lock.read_text(encoding="utf-8")
    if values.get("vectorStore") == "milvus" and not locked:
        text = "milvus needs pymilvus>=3,<4 in requirements.txt, and then `make lock`"
        yield Finding("vectorStore", "problem", text)


def _missing(parameter: Declared, given: Given | None) -> str:
    if given is None:
        return "is not given: add it to infra/main.bicepparam" if parameter.required else ""

    empty = given.value == "" and (parameter.required or parameter.secure)
    if given.problem != "missing" and not empty:
        return ""
    if not given.variable:
        return "is empty: give it a value in infra/main.bicepparam"
    if parameter.secure:
        return f"is not given: export {given.variable} in the shell that runs azd or az"

    return (
        f"is not given: set {given.variable} (`azd env set {given.variable} VALUE`, or export it)"
    )


def _secret(parameter: Declared, given: Given | None) -> str:
    """Return what is wrong with how a secret is kept; the secret itself is never part of it."""
    if not parameter.secure and parameter.type == "string" and _SECRET_NAME.search(parameter.name):
        return (
            "would be kept in plain text with every deployment: declare it with @secure() in "
            "infra/main.bicep"
        )

    if given is None:
        return ""

    if parameter.secure and given.literal:
        return (
            "stands in infra/main.bicepparam: take it out, change it, and read it with "
            "readEnvironmentVariable"
        )

    if parameter.secure and str(given.value).startswith(_AZD_SECRET):
        return (
            "is a reference of azd, which azd does not resolve for .bicepparam files: export "
            f"{given.variable} itself"
        )

    if (
        not parameter.secure
        and parameter.name != "neo4jUri"
        and _LOGIN_IN_URL.search(str(given.value))
    ):
        return "holds a password in its address: take it out"

    return ""


def _out_of_bounds(parameter: Declared, given: Given) -> str:
    """Compare a value with the decorators of its parameter."""
    value, rules = given.value, parameter.rules
    if value is UNREAD or (value is None and not parameter.required):
        return ""

    shown = "its value" if parameter.secure else repr(value)
    if wrong := _wrong_type(parameter.type, value):
        return f"{shown} is no {wrong}{_change(given)}"

    allowed = rules.get("allowed")
    if isinstance(allowed, list) and value not in allowed:
        return f"{shown} is not one of {', '.join(map(str, allowed))}{_change(given)}"

    if isinstance(value, int) and not rules.get("minValue", value) <= value <= rules.get(
        "maxValue", value
    ):
        least, most = rules.get("minValue"), rules.get("maxValue")
        return f"is {value}: from {least} to {most} is possible{_change(given)}"

    if isinstance(value, str | list):
        return _wrong_length(parameter, given, len(value))
    return ""


def _wrong_type(declared: str, value: object) -> str:
    kinds: dict[str, tuple[type, str]] = {
        "int": (int, "whole number"),
        "bool": (bool, "true or false"),
        "string": (str, "text"),
        "array": (list, "list"),
    }
    expected, name = kinds.get(declared, (object, ""))
    is_right = isinstance(value, expected) and (expected is not int or not isinstance(value, bool))
    return "" if is_right else name


def _wrong_length(parameter: Declared, given: Given, length: int) -> str:
    least, most = parameter.rules.get("minLength", 0), parameter.rules.get("maxLength", length)
    if least <= length <= most:
        return ""
    what = "entries" if isinstance(given.value, list) else "characters"
    bound = f"at most {most}" if length > most else f"at least {least}"
    return f"has {length} {what}: {bound}{_change(given)}"


def _change(given: Given) -> str:
    return (
        f"; change {given.variable}" if given.variable else "; change it in infra/main.bicepparam"
    )
