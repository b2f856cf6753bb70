"""Plant a fault in a copy of the project, work out anew what it would deploy, and ask the rule that
has to notice it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.infra.compiler import Compiler, RefusedError
from tests.infra.rules import callers, files, snapshot, template
from tests.infra.ways import ROOT, Project, way_files, way_name

COMPILER = "the compiler"
"""What finds a fault that the compiler, its linter or the engine refuses."""

_FIRST = ("every-parameter", "all-private")
"""The ways that show most faults: asked first, since working one out takes a second."""

_OVER_WAYS = {rule.__name__: rule for rule in (*snapshot.RULES, *callers.RULES)}
_OVER_TEMPLATE = {rule.__name__: rule for rule in template.RULES}
_OVER_FILES = {rule.__name__: rule for rule in files.RULES}

_COPIED = ("host.json", ".funcignore", ".gitignore", "azure.yaml", "local.settings.json.example")


@dataclass(frozen=True)
class Fault:
    """A change of one file: `right`, which stands there, becomes `wrong`.

    `rule` is the one that has to notice.
    """

    what: str
    file: str
    right: str
    wrong: str
    rule: str


def finding(fault: Fault, folder: Path, compiler: Compiler) -> str:
    """Return what the fault's own rule finds, empty if it finds nothing.

    The snapshots are those of the changed template, made one after the other until one shows the
    fault. Raises RefusedError where the compiler refuses a fault that is a rule's.
    """
    _plant(fault, folder)
    if fault.rule == COMPILER:
        return _refusal(folder, compiler)
    rule = {**_OVER_WAYS, **_OVER_TEMPLATE, **_OVER_FILES}[fault.rule]
    found = (next(rule(project), "") for project in _worked_out(fault, folder, compiler))
    return next(filter(None, found), "")


def _refusal(folder: Path, compiler: Compiler) -> str:
    try:
        compiler.compiled(folder / "infra/main.bicep")
        for file in _ways(folder):
            compiler.snapshot(file)
    except RefusedError as error:
        return str(error)
    return ""


def _worked_out(fault: Fault, folder: Path, compiler: Compiler) -> Iterator[Project]:
    """Yield the changed project as the fault's rule reads it.

    Its files, its compiled template, or one way after the other.
    """
    if fault.rule in _OVER_FILES:
        yield Project(folder)
    elif fault.rule in _OVER_TEMPLATE:
        yield Project(folder, template=compiler.compiled(folder / "infra/main.bicep"))
    else:
        for file in _ways(folder):
            yield Project(folder, {file.relative_to(folder): compiler.snapshot(file)})


def _ways(folder: Path) -> list[Path]:
    return sorted(way_files(folder), key=lambda file: way_name(file) not in _FIRST)


def _plant(fault: Fault, folder: Path) -> None:
    shutil.copytree(ROOT / "infra", folder / "infra")
    (folder / "tests/infra").mkdir(parents=True)
    for end in ("bicepparam", "snapshot.json"):
        for file in (ROOT / "tests/infra").glob(f"*.{end}"):
            shutil.copy(file, folder / "tests/infra")
    for name in _COPIED:
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / ".github", folder / ".github")
    file = folder / fault.file
    text = file.read_text(encoding="utf-8")
    if fault.right not in text:
        raise ValueError(f"{fault.what}: {fault.file} does not hold {fault.right!r}")
    file.write_text(text.replace(fault.right, fault.wrong, 1), encoding="utf-8")
