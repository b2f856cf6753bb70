"""The Bicep compiler, and Azure's deployment engine inside it, where this machine has one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drift.http.settings import environment

HOW_TO_GET_ONE = (
    "`az bicep install` brings one; or put `bicep` on the PATH, or its path into the variable "
    "BICEP."
)

_DIAGNOSTIC = re.compile(
    r"^(.+)\((\d+),\d+\) : Error ([\w-]+: .*?)(?: \[https?://\S+\])?$", re.MULTILINE
)
_PLACE = re.compile(r"\s*(?:param\s+)?'?(\w+)")
_WRONG_PARAMETER = re.compile(r"parameter '(\w+)'")
_WRONG_VALUE = re.compile(r"parameter 'problems' is not valid\. The value '(.*)' is not part of")
_WHERE = {
    "mode": "overwrite",
    "subscription-id": "11111111-1111-1111-1111-111111111111",
    "tenant-id": "22222222-2222-2222-2222-222222222222",
    "location": "westeurope",
    "deployment-name": "drift",
}
"""A place for a preview; nothing there is asked or changed."""

_ANY_SECRET = (
    f"/subscriptions/{_WHERE['subscription-id']}/resourceGroups/g/providers/Microsoft.KeyVault"
    "/vaults/any/secrets/keys"
)


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a parameter file gives to its template.

    `values` has every parameter, with the template's own default where the file gives none, and
    `secure` the names of secrets among them. `refused` has place and sentence of whatever the
    compiler or the deployment engine refuses.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    secure: frozenset[str] = frozenset()
    refused: tuple[tuple[str, str], ...] = ()


def find_compiler() -> str | None:
    """Return the compiler: that of BICEP, on the PATH, of `az bicep install`, or azd's own."""
    given = environment()
    if named := given.get("BICEP"):
        return shutil.which(named)

    folders = (given.get("AZURE_CONFIG_DIR", "~/.azure"), given.get("AZD_CONFIG_DIR", "~/.azd"))
    paths = [Path(folder).expanduser() / "bin" / "bicep" for folder in folders]
    installed = [str(path.with_suffix(end)) for path in paths for end in ("", ".exe")]
    return next(filter(None, map(shutil.which, ["bicep", *installed])), None)


def work_out(compiler: str, file: Path, variables: Mapping[str, str]) -> Deployment:
    """Let the compiler and then the deployment engine work out a parameter file."""
    built = _run(compiler, "build-params", str(file), "--stdout", variables=variables)
    if built.returncode:
        places = tuple(_told(*match) for match in _DIAGNOSTIC.findall(built.stderr))
        return Deployment(refused=places or (("compiler", built.stderr.strip()),))

    output = json.loads(built.stdout)
    declared = json.loads(output["templateJson"])["parameters"]
    given = json.loads(output["parametersJson"])["parameters"]
    defaults = {name: one.get("defaultValue") for name, one in declared.items()}
    values = {**defaults, **{name: one.get("value") for name, one in given.items()}}
    # an object of a shape of its own has a reference to it instead of a type
    types = {name: one.get("type", "") for name, one in declared.items()}
    secure = frozenset(name for name, kind in types.items() if kind.startswith("secure"))
    return Deployment(values, secure, _preview(compiler, file, variables))


def _told(path: str, line: str, sentence: str) -> tuple[str, str]:
    """Return the parameter or setting of a line, and the compiler's sentence with the variable."""
    text = Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    place = _PLACE.match(text)
    variable = re.search(r"readEnvironmentVariable\('(\w+)'", text)
    where = f"{Path(path).name}:{line}" + (f", which reads {variable[1]}" if variable else "")
    return place[1] if place else where, f"{sentence} ({where})"


def _preview(
    compiler: str, file: Path, variables: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Let the deployment engine work out what would be created; a copy keeps its preview apart.

    A preview knows no secret, not even whether there is one, and with it no rule that looks at the
    keys of callers. The id of a secret stands in their place.
    """
    if variables.get("PROJECT_KEYS"):
        variables = {**variables, "PROJECT_KEYS": "", "PROJECT_KEYS_CREDENTIAL_ID": _ANY_SECRET}
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(file.parent, Path(folder) / "infra") / file.name
        options = [word for name, value in _WHERE.items() for word in (f"--{name}", value)]
        ran = _run(compiler, "snapshot", str(copy), *options, variables=variables)

    if not ran.returncode:
        return ()
    if rules := _WRONG_VALUE.search(ran.stderr):
        return (("parameters", rules[1]),)
    place = _WRONG_PARAMETER.search(ran.stderr)
    return ((place[1] if place else "parameters", ran.stderr.strip()),)


def _run(
    compiler: str, *arguments: str, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    needed = {"HOME", "PATH", "TMPDIR", "USERPROFILE"}
    given = {name: value for name, value in environment().items() if name in needed}
    return subprocess.run(  # noqa: S603 - the compiler that the machine has
        [compiler, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**given, **variables},
    )
