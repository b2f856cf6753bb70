"""The environment that azd keeps in a project's `.azure` folder, read without azd."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dotenv import dotenv_values


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

    read = dotenv_values(file, interpolate=False, encoding="utf-8")
    values = {variable: value or "" for variable, value in read.items()}
    return AzdEnvironment(name, file, {"AZURE_ENV_NAME": name, **values})


def _default_name(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8")).get("defaultEnvironment", ""))
    except (OSError, ValueError, AttributeError):
        return ""
