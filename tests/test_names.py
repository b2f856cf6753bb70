"""What docs/names.md names is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import typer

from drift.http.settings import Settings
from drift.local.cli.app import app
from drift.routes import ROUTES

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "names.md").read_text()
NAMES = sorted(
    {
        name
        for row in re.findall(r"^\|.*?[^\\]\|(.*)\|$", PAGE, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", row)
    }
)
SOURCE = "\n".join(file.read_text() for file in (ROOT / "drift").rglob("*.py"))
COMMANDS = typer.main.get_command(app)


def resolve(name: str) -> bool:
    """Tell whether there is a thing of this name."""
    if re.match(r"(GET|POST|PUT|DELETE) /", name):
        method, path = name.split(" /")
        return any(method in one.methods.split() and one.path == path for one in ROUTES)
    if name.startswith("drift "):
        return _is_command(*name.split()[1:])
    if name.startswith("drift."):
        return _imports(name)
    if "/" in name or name.endswith(".py"):
        return (ROOT / name).exists()
    if name.isupper():
        return name.lower() in Settings.model_fields or f'"{name}"' in SOURCE
    return (name if "." in name else f'"{name}"') in SOURCE


def _is_command(*words: str) -> bool:
    command = COMMANDS
    for word in (one for one in words if not one.startswith("-")):
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            return False
    options = {flag for one in command.params for flag in one.opts}
    return all(one in options for one in words if one.startswith("-"))


def _imports(name: str) -> bool:
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:at]))
        except ModuleNotFoundError as error:
            if not name.startswith(error.name or "-"):
                raise
            continue
        for part in parts[at:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_to_something(name: str) -> None:
    assert resolve(name)


@pytest.mark.parametrize(
    "name",
    [
        "drift.search.primer.Prime",
        "drift.nothing",
        "GET /retrieve",
        "drift asks",
        "drift ask --rag",
    ],
)
def test_a_wrong_name_is_seen(name: str) -> None:
    assert not resolve(name)
