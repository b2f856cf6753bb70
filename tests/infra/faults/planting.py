"""Plant a fault in a copy of the project, work the snapshots out anew, and ask every rule."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.infra.compiler import Compiler, RefusedError
from tests.infra.rules import files, snapshot, template
from tests.infra.ways import EVERY_PARAMETER, ROOT, Project, way_files

COMPILER = "the compiler"
"""What finds a fault that the compiler, its linter or the engine refuses."""

_WAYS = ("private", "all-private", "own-models-private", "developer", "without-redis")
"""With the file that gives every parameter, these reach every condition of the templates; the others would only take time."""

_COPIED = ("host.json", ".funcignore", ".gitignore", "azure.yaml", "local.settings.json.example")


@dataclass(frozen=True)
class Fault:
    """A change of one file: `right`, which stands there, becomes `wrong`; `rule` is the one that has to notice."""

    what: str
    file: str
    right: str
    wrong: str
    rule: str = ""


def findings(fault: Fault, folder: Path, compiler: Compiler) -> dict[str, str]:
    """Return the first finding of each rule that notices the fault; the snapshots are those of the changed templates."""
    _plant(fault, folder)
    project = Project(folder)
    if fault.file.startswith("infra/") and ".bicep" in fault.file and not fault.file.endswith(".json"):
        try:
            made = {file.relative_to(folder): compiler.snapshot(file) for file in way_files(folder)}
            project = Project(folder, made, compiler.compiled(folder / "infra/main.bicep"))
        except RefusedError as error:
            return {COMPILER: str(error)}
    rules = [*snapshot.RULES, *files.RULES, *(template.RULES if project.template else ())]
    found = {rule.__name__: next(rule(project), "") for rule in rules}
    return {name: finding for name, finding in found.items() if finding}


def _plant(fault: Fault, folder: Path) -> None:
    shutil.copytree(ROOT / "infra", folder / "infra", ignore=shutil.ignore_patterns("ways"))
    (folder / "infra/ways").mkdir()
    for way in _WAYS:
        for end in ("bicepparam", "snapshot.json"):
            shutil.copy(ROOT / f"infra/ways/{way}.{end}", folder / "infra/ways")
    (folder / "tests/infra").mkdir(parents=True)
    for end in ("bicepparam", "snapshot.json"):
        name = f"tests/infra/{EVERY_PARAMETER}.{end}"
        shutil.copy(ROOT / name, folder / name)
    for name in _COPIED:
        shutil.copy(ROOT / name, folder / name)
    file = folder / fault.file
    text = file.read_text(encoding="utf-8")
    if fault.right not in text:
        raise ValueError(f"{fault.what}: {fault.file} does not hold {fault.right!r}")
    file.write_text(text.replace(fault.right, fault.wrong, 1), encoding="utf-8")
