"""All checks on a folder of Bicep files: syntax, names, modules, types."""

from __future__ import annotations

from pathlib import Path

from tests.infra.bicep_modules import check_modules
from tests.infra.bicep_symbols import check_symbols
from tests.infra.bicep_tree import BicepFile, Finding
from tests.infra.bicep_types import check_types


def check(folder: Path) -> list[Finding]:
    """Return what is wrong with the files below a folder; names and types only of files whose syntax is right."""
    files = {path.resolve(): BicepFile(path) for path in sorted(folder.rglob("*.bicep"))}
    found: list[Finding] = []
    for file in files.values():
        errors = file.syntax_errors()
        found += errors
        if not errors:
            found += [*check_symbols(file), *check_modules(file, files), *check_types(file)]
    return found
