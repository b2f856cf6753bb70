"""Plant a fault in a copy of the project, work out anew what it would deploy, and ask the rule that
has to notice it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.infra.compiler import Compiler
from tests.infra.rules import callers, files, network, roles, snapshot, template
from tests.infra.ways import ROOT, Project, Rule, way_files

_FIRST = ("every-parameter", "all-private")
"""The ways that show most faults: asked first, since working one out takes a second."""

_WAYS = (*snapshot.RULES, *network.RULES, *roles.RULES, *callers.RULES)
_RULES = {rule.__name__: rule for rule in (*_WAYS, *template.RULES, *files.RULES)}

_COPIED = ("host.json", ".funcignore", ".gitignore", "azure.yaml", "local.settings.json.example")


@dataclass(frozen=True)
class Fault:
    """A change of one file: `right`, which stands there, becomes `wrong`.

    `finder` is what has to notice.
    """

    file: str
    right: str
    wrong: str
    finder: str

    def __str__(self) -> str:
        """Return a name for the test."""
        return f"{Path(self.file).stem}: {self.wrong.strip()[:40]}: {self.finder}"


def finding(fault: Fault, folder: Path, compiler: Compiler) -> str:
    """Return what the fault's own rule finds, empty if it finds nothing.

    The snapshots are those of the changed template, made one after the other until one shows the
    fault. Raises RefusedError where the compiler refuses a fault that is a rule's.
    """
    _plant(fault, folder)
    rule = _RULES[fault.finder]
    found = (next(rule(project), "") for project in _worked_out(rule, folder, compiler))
    return next(filter(None, found), "")


def _worked_out(rule: Rule, folder: Path, compiler: Compiler) -> Iterator[Project]:
    """Yield the changed project as a rule reads it.

    Its files, its compiled template, or one way after the other.
    """
    if rule in files.RULES:
        yield Project(folder)
    elif rule in template.RULES:
        yield Project(folder, template=compiler.compiled(folder / "infra/main.bicep"))
    else:
        for file in _ways(folder):
            yield Project(folder, [compiler.way(file)])


def _ways(folder: Path) -> list[Path]:
    return sorted(way_files(folder), key=lambda file: file.stem not in _FIRST)


def _plant(fault: Fault, folder: Path) -> None:
    shutil.copytree(ROOT / "infra", folder / "infra")
    (folder / "tests/infra").mkdir(parents=True)
    for file in (ROOT / "tests/infra").glob("*.bicepparam"):
        shutil.copy(file, folder / "tests/infra")
    for name in _COPIED:
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / ".github", folder / ".github")
    file = folder / fault.file
    text = file.read_text(encoding="utf-8")
    if fault.right not in text:
        raise ValueError(f"{fault.file} does not hold {fault.right!r}")
    file.write_text(text.replace(fault.right, fault.wrong, 1), encoding="utf-8")
