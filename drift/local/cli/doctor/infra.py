"""`drift doctor --infra`: what is wrong with a deployment's parameters, before Azure is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from drift.local.cli.doctor.machine import show
from drift.local.infra.at_once import at_once
from drift.local.infra.azd import AzdEnvironment, azd_environment
from drift.local.infra.bicep_compiler import HOW_TO_GET_ONE, Deployment, find_compiler, work_out
from drift.local.infra.finding import Finding
from drift.local.infra.rules import RULES, Values

_SECRET_NAME = re.compile(
    r"password|secret|connectionstring|accesskey|apikey|project_?keys$", re.IGNORECASE
)
_AZD_SECRET = "akvs://"  # noqa: S105 - what `azd env set-secret` writes
_LOGIN_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_MIN_SECRET = 8
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_DEFAULT = re.compile(
    rf"readEnvironmentVariable\(\s*'(\w+)'\s*,\s*'(?:[^'\\]|\\.){{{_MIN_SECRET},}}"
)

_MOVED = {
    "anthropicCredentialId": "credentialIds.ANTHROPIC_KEY",
    "anthropicModel": "appSettings.OAI_MODEL",
    "anthropicUrl": "appSettings.ANTHROPIC_BASE_URL",
    "chatProvider": "appSettings.CHAT_PROVIDER",
    "milvusCredentialId": "credentialIds.MILVUS_TOKEN",
    "milvusUri": "appSettings.MILVUS_URI",
    "neo4jCredentialId": "credentialIds.NEO4J_PASSWORD",
    "neo4jUri": "appSettings.NEO4J_URI",
    "neo4jUsername": "appSettings.NEO4J_USERNAME",
    "projectClaim": "appSettings.PROJECT_CLAIM",
    "projectKeysCredentialId": "credentialIds.PROJECT_KEYS",
    "vectorStore": "appSettings.VECTOR_STORE",
}
"""Parameters of older parameter files, and where their values stand now."""


def examine_infra(root: Path, variables: Mapping[str, str], *, as_json: bool) -> bool:
    """Print what was found in `root`'s infra folder; tell whether there is no problem."""
    return show(infra_findings(root, variables, find_compiler()), as_json=as_json)


def infra_findings(root: Path, variables: Mapping[str, str], compiler: str | None) -> list[Finding]:
    """Return what was found, with the compiler's path; no finding holds the value of a secret."""
    template, file = root / "infra" / "main.bicep", root / "infra" / "main.bicepparam"
    for path in (template, file):
        if not path.is_file():
            text = f"{path} is not there: run this in the root of the repository"
            return [Finding("infra", "problem", text)]

    azd = azd_environment(root, variables)
    findings = [*_sources(root, azd), *_moved(file)]
    if compiler is None:
        text = f"there is none, so parameters were not checked. {HOW_TO_GET_ONE}"
        return [*findings, Finding("compiler", "problem", text)]

    deployment = work_out(compiler, file, {**variables, **azd.values})
    findings += parameter_findings(deployment, file.read_text(encoding="utf-8"))
    findings += _package(root, deployment.values)
    if not any(finding.state == "problem" for finding in findings):
        findings.append(at_once(deployment.values))
        findings.append(Finding("parameters", "ok", f"{len(deployment.values)} are right"))

    return findings


def parameter_findings(deployment: Deployment, file: str) -> list[Finding]:
    """Return what is wrong with the parameters that a file gives."""
    values = deployment.values
    refused = [Finding(name, "problem", text) for name, text in deployment.refused]
    secrets = [*_secrets(deployment, file), *_logins(deployment)]
    return [*refused, *secrets, *(found for rule in RULES for found in rule(values))]


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


def _moved(file: Path) -> Iterator[Finding]:
    """Say where a parameter of an older file stands now."""
    for name in re.findall(r"^param (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE):
        if name in _MOVED:
            yield Finding(name, "problem", f"stands in the file as {_MOVED[name]} now: move it")


def _secrets(deployment: Deployment, file: str) -> Iterator[Finding]:
    """Say what is wrong with how a secret is kept; the secret itself is never part of it."""
    take_out = "take it out, change it, and read it with readEnvironmentVariable"
    for variable in filter(_SECRET_NAME.search, _DEFAULT.findall(file)):
        text = f"has a default in infra/main.bicepparam: {take_out} alone"
        yield Finding(variable, "problem", text)

    plain = _ESCAPED.sub(lambda escaped: _ESCAPES.get(escaped[1], escaped[1]), file)
    for name in sorted(deployment.secure):
        value = str(deployment.values.get(name) or "")
        if len(value) >= _MIN_SECRET and (value in file or value in plain):
            yield Finding(name, "problem", f"stands in infra/main.bicepparam: {take_out}")
        if value.startswith(_AZD_SECRET):
            text = (
                "is a reference of azd, which azd does not resolve for .bicepparam files: export "
                "the value itself"
            )
            yield Finding(name, "problem", text)


def _logins(deployment: Deployment) -> Iterator[Finding]:
    """Say which value that is no secret has one in its address."""
    plain = {k: v for k, v in deployment.values.items() if k not in deployment.secure}
    for name, value in plain.items():
        if _LOGIN_IN_URL.search(json.dumps(value)):
            yield Finding(name, "problem", "holds a password in an address: take it out")


def _package(root: Path, values: Values) -> Iterator[Finding]:
    """Say where Milvus is chosen and its package would not be deployed."""
    lock = root / "requirements.lock"
    locked = lock.is_file() and "\npymilvus==" in lock.read_text(encoding="utf-8")
    chosen = (values.get("appSettings") or {}).get("VECTOR_STORE") == "milvus"
    if chosen and not locked:
        text = "milvus needs pymilvus>=3,<4 in requirements.txt, and then `make lock`"
        yield Finding("VECTOR_STORE", "problem", text)
