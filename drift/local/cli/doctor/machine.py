"""What is there and what is missing, one finding a line, for people and for programs."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from drift.core.errors import LocalStackError, NotConfiguredError
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.http import settings, wiring
from drift.local.cli.console import print_json, stdout
from drift.local.infra.aura import aura_notes
from drift.local.infra.finding import Finding, State
from drift.local.prepare.unseen import whole_health, whole_local_health
from drift.local.setting_names import told
from drift.local.stack.data_folder import DataFolderError, check_data_folder
from drift.local.stack.neo4j.jars import NEEDED_BYTES, default_cache, exact_version, missing_jars
from drift.local.stack.neo4j.java import java_for
from drift.local.stack.record import Record, running_record
from drift.local.stack.stack import VARIABLES, StackOptions
from drift.model.health import Level

_STATES: Mapping[Level, State] = {Level.OK: "ok", Level.DEGRADED: "note", Level.FAILING: "problem"}
"""What a finding makes of how a server stands."""

_SIGNS = {"ok": "[green]✓[/]", "note": "[yellow]·[/]", "problem": "[red]✗[/]"}


async def examine(options: StackOptions, *, as_json: bool) -> bool:
    """Print the findings; tell whether there is no problem."""
    python = Finding("python", "ok", f"{platform.python_version()} at {sys.executable}")
    findings = [python, _disk(options), _data_folder(options), _java(options), _jars(options)]
    try:
        record = running_record(options.data_dir)
    except LocalStackError as error:
        record = None
        findings.append(Finding("local stack", "problem", error.detail))
    else:
        findings.append(_local_stack(options, record))

    findings += [Finding("settings", "note", one) for one in told(options.given)]
    findings += await _servers(options, record)
    return show(findings, as_json=as_json)


def show(findings: list[Finding], *, as_json: bool) -> bool:
    """Print the findings; tell whether there is no problem."""
    fine = all(finding.state != "problem" for finding in findings)
    if as_json:
        print_json({"ok": fine, "findings": [asdict(finding) for finding in findings]})
        return fine

    width = max(12, *(len(finding.name) for finding in findings))
    for finding in findings:
        stdout.print(f"{_SIGNS[finding.state]} {finding.name:<{width}}", end=" ")
        stdout.print(finding.text, markup=False)

    return fine


def _disk(options: StackOptions) -> Finding:
    folder = options.cache_dir or default_cache()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    text = f"{free // 1_000_000:,} MB free for the cache of the local servers"
    return Finding("disk", "ok" if free >= NEEDED_BYTES else "note", text)


def _data_folder(options: StackOptions) -> Finding:
    try:
        free = check_data_folder(options.data_dir)
    except DataFolderError as error:
        return Finding("data folder", "problem", error.detail)
    return Finding(
        "data folder",
        "ok",
        f"{options.data_dir.absolute()} can be written, {free // 1_000_000:,} MB free",
    )


def _java(options: StackOptions) -> Finding:
    home = options.given.get("JAVA_HOME")
    try:
        java = java_for(exact_version(options.neo4j_version), Path(home) if home else None)
    except LocalStackError as error:
        return Finding("java", "note", error.detail)
    return Finding("java", "ok", f"Java {java.major} in {java.home}, for a local Neo4j")


def _jars(options: StackOptions) -> Finding:
    try:
        version = exact_version(options.neo4j_version)
    except LocalStackError as error:
        is_given = options.given.get("NEO4J_URI")
        return Finding("neo4j jars", "note" if is_given else "problem", error.detail)
    cache = options.cache_dir or default_cache()
    if not missing_jars(version, cache):
        return Finding("neo4j jars", "ok", f"Neo4j {version} is in {cache}")

    text = f"Neo4j {version} is not fetched yet: the first start downloads about 180 MB"
    return Finding("neo4j jars", "note", text)


def _local_stack(options: StackOptions, record: Record | None) -> Finding:
    if record is None:
        text = "does not run: commands start what is not named, `python -m drift up` keeps it"
        return Finding("local stack", "note", text)
    parts = ", ".join(f"{name} (pid {pid})" for name, pid in record.pids.items())
    return Finding("local stack", "ok", f"runs on {options.data_dir.absolute()}: {parts}")


_SEEN = {"neo4j": ("graph", "indexes"), "valkey": ("redis",), "model": ("model", "chat")}
"""What is looked at of each part."""
_NOWHERE = {
    "neo4j": {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "none"},
    "valkey": {},
    "model": {
        "OAI_BASE_URL": "http://127.0.0.1:1",
        "OAI_MODEL": "none",
        "OAI_EMBED_MODEL_NAME": "none",
    },
}
"""Settings of a part that nobody names and that does not run: it is not looked at."""


async def _servers(options: StackOptions, record: Record | None) -> list[Finding]:
    """Look at the servers that the environment names, and at those of the running local stack."""
    named = [part for part, (first, *_) in VARIABLES.items() if options.given.get(first)]
    there = {part for part in VARIABLES if part in named or (record and part in record.pids)}
    if not there:
        return []

    values: dict[str, str] = {}
    for part, names in VARIABLES.items():
        if part not in there:
            nowhere = _NOWHERE[part].items()
            values |= {name: one for name, one in nowhere if not options.given.get(name)}
        elif part not in named and record:
            values |= {name: record.env[name] for name in names if name in record.env}

    try:
        loaded = settings.load(values)
        service = wiring.build_service(loaded)
    except NotConfiguredError as error:
        return [Finding("settings", "problem", problem) for problem in error.problems]

    async with AsyncExitStack() as closing:
        closing.push_async_callback(service.close)
        is_of_any = "OAI_EMBED_MODEL_NAME" in values and "model" not in there
        graph = _graph_of_any_model(loaded) if is_of_any else wiring.build_graph(loaded)
        closing.push_async_callback(graph.close)
        health = replace(service.health, graph=partial(whole_health, graph))
        if health.fallback:
            health = replace(health, fallback=partial(whole_local_health, graph))
        readiness = await health.readiness()

    unseen = {name for part in VARIABLES if part not in there for name in _SEEN[part]}
    looks = [
        Finding(name, _STATES[one.level], str(one))
        for name, one in readiness.items()
        if name not in unseen
    ]
    uri, user, _, name = wiring.database(loaded)
    notes = [Finding(one, "note", text) for one, text in aura_notes(uri, user, name)]
    return [Finding("settings", "ok", "complete"), *notes, *looks]


def _graph_of_any_model(values: settings.Settings) -> Neo4jGraph:
    """Return the graph without the name of a model that its projects would be compared with."""
    connection = Connection(*wiring.database(values))
    return Neo4jGraph(connection, wiring.index_names(values), schema=values.graph_schema)
