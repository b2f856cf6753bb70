"""What the code imports is what the project says that it needs."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SAYS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DEPLOYED = [
    line
    for line in map(str.strip, (ROOT / "requirements.txt").read_text().splitlines())
    if line and not line.startswith("#")
]


def _declared(lines: list[str]) -> set[str]:
    names = (re.match(r"[\w.-]+", line) for line in lines)
    return {re.sub(r"[-_.]+", "-", name[0]).lower() for name in names if name}


def _imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    return names - {*sys.stdlib_module_names, "drift", "function_app"}


def test_every_package_that_is_imported_is_declared_where_it_is_needed() -> None:
    extras = {name: _declared(lines) for name, lines in SAYS["optional-dependencies"].items()}
    del extras["test"]
    client = _declared(SAYS["dependencies"])
    anywhere = set().union(*(names for extra, names in extras.items() if extra != "local"))
    here = packages_distributions()
    undeclared = set()
    for file in [ROOT / "function_app.py", *(ROOT / "drift").rglob("*.py")]:
        path = file.relative_to(ROOT).as_posix()
        may_have = anywhere
        if path.startswith(("drift/client/", "drift/sync.py")):
            may_have = client
        elif path.startswith("drift/local/"):
            may_have = anywhere | extras["local"]
        for name in _imported(file):
            found = {re.sub(r"[-_.]+", "-", one).lower() for one in here.get(name, [name])}
            if not found & may_have:
                undeclared.add((name, path))
    assert not undeclared


def test_the_service_as_an_extra_is_what_is_deployed() -> None:
    service = {str(Requirement(line)) for line in SAYS["optional-dependencies"]["service"]}
    assert service == {str(Requirement(line.partition(" #")[0])) for line in DEPLOYED}


def test_the_client_takes_what_the_service_takes() -> None:
    service = {one.name: one for one in map(Requirement, SAYS["optional-dependencies"]["service"])}
    client = {one.name: one for one in map(Requirement, SAYS["dependencies"])}
    assert {name: service.get(name) for name in client} == client
