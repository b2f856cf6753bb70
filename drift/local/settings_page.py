"""The page of settings, made of the settings: `make settings` writes docs/settings.md."""

from __future__ import annotations

import ast
import inspect

from drift.http.settings import Settings
from drift.http.settings_base import SettingsGroup

HEAD = """# Settings

Read from the environment once, on the first request. A missing or wrong one gives 503 and names
itself. Blanks, line ends and one pair of quotes around a value are no part of it. A pasted target
of a deployment or of one call is taken for its server. `make settings` writes this page from
`drift/http/settings_*.py`.
"""


def page() -> str:
    """Return the page: a table for each group, of what each setting is by default and means."""
    groups = [
        group
        for group in reversed(Settings.__mro__)
        if issubclass(group, SettingsGroup) and group not in {SettingsGroup, Settings}
    ]
    return "\n".join([HEAD, *map(_table, groups)])


def _table(group: type[SettingsGroup]) -> str:
    rows = [f"| `{name.upper()}` | {_default(name)} | {text} |" for name, text in _texts(group)]
    title = (group.__doc__ or "").split("\n", 1)[0].rstrip(".")
    head = [f"## {title}\n", "| setting | default | meaning |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _default(name: str) -> str:
    field = Settings.model_fields[name]
    if field.is_required():
        return "required"
    if field.default is None:
        return "unset"
    if isinstance(field.default, bool):
        return str(field.default).lower()

    return f"{field.default:g}" if isinstance(field.default, float) else str(field.default)


def _texts(group: type[SettingsGroup]) -> list[tuple[str, str]]:
    """Return each setting of a group with the text below it."""
    found: list[tuple[str, str]] = []
    of_class = ast.parse(inspect.getsource(group)).body[0]
    for one in ast.iter_child_nodes(of_class):  # not what stands below: properties have texts too
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            found.append((one.target.id, ""))
        elif isinstance(one, ast.Expr) and found and isinstance(one.value, ast.Constant):
            found[-1] = (found[-1][0], " ".join(str(one.value.value).split()))

    return found


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - what `make settings` writes
