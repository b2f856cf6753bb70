"""Names that somebody may have meant as a setting, and that are none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from drift.http import settings

_NEAR, _OWN_NEAR = 0.88, 0.6
"""How alike two names are that are taken for one; what begins with `OAI_` is for nobody else."""
_OTHERS = ("AZURE_", "WEBSITE_", "OPENAI_", "MCP_")
"""What begins like this is read by many programs, and what is near to a setting is another's."""
_LEAST_BEGINNING = 8


def misnamed(given: Iterable[str]) -> Mapping[str, str]:
    """Return the names that are no settings but near one that is not given, with that one."""
    names = {name.upper() for name in given}
    known = sorted(name for name in settings.names() if not name.startswith(_OTHERS))
    found = {name: _meant(name, known) for name in sorted(names - settings.names())}
    return {name: meant for name, meant in found.items() if meant and meant not in names}


def told(given: Iterable[str]) -> list[str]:
    """Return a sentence for each of them."""
    return [f"{name} is no setting; did you mean {one}?" for name, one in misnamed(given).items()]


def _meant(name: str, known: list[str]) -> str:
    if name.startswith(_OTHERS):
        return ""
    bare = name.removeprefix("DRIFT_")
    by_letters = {one.replace("_", ""): one for one in known}
    if same := by_letters.get(bare.replace("_", "").replace("-", "")):
        return same
    longer = [one for one in known if one.startswith(bare) and 2 * len(bare) >= len(one)]
    if len(longer) == 1 and len(bare) >= _LEAST_BEGINNING and "_" in bare:
        return longer[0]
    near = difflib.get_close_matches(bare, known, 1, _OWN_NEAR if bare[:4] == "OAI_" else _NEAR)
    return near[0] if near else ""
