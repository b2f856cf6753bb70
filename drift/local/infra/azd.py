"""The environment that azd keeps in a project's `.azure` folder, read without azd."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(
    r"""^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*("(?:\\.|[^"\\])*"|'[^']*'|[^#\n]*)""", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class AzdEnvironment:
    """The variables of one environment of azd; `file` is None where there is none."""

    name: str
    file: Path | None
    values: Mapping[str, str]


def azd_environment(root: Path, given: Mapping[str, str]) -> AzdEnvironment:
    """Return the environment that AZURE_ENV_NAME names, else the one of `.azure/config.json`."""
    name = given.get("AZURE_ENV_NAME") or _default_name(root / ".azure" / "config.json")
    file = root / ".azure" / name / ".env"
    if not name or not file.is_file():
        return AzdEnvironment(name, None, {})

    lines = _LINE.findall(file.read_text(encoding="utf-8"))
    values = {variable: _unquoted(value) for variable, value in lines}
    return AzdEnvironment(name, file, {"AZURE_ENV_NAME": name, **values})


def _default_name(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8")).get("defaultEnvironment", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _unquoted(value: str) -> str:
    value = value.strip()
    if value.startswith('"'):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value.strip("'")
