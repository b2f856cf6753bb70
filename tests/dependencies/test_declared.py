"""What the code imports is what the project says that it needs."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
    deployed = _declared((ROOT / "requirements.txt").read_text().splitlines())
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    del extras["test"]
    local = ROOT / "drift" / "local"
    here = packages_distributions()
    undeclared = set()
    for file in [ROOT / "function_app.py", *(ROOT / "drift").rglob("*.py")]:
        optional = [one for name, lines in extras.items() for one in lines if name != "local"]
        may_have = deployed | _declared(optional)
        if local in file.parents:
            may_have |= _declared(extras["local"])
        for name in _imported(file):
            found = {re.sub(r"[-_.]+", "-", one).lower() for one in here.get(name, [name])}
            if not found & may_have:
                undeclared.add((name, file.relative_to(ROOT).as_posix()))
    assert not undeclared
