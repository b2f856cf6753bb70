"""Which names of embedding models mean another model than the one of the questions."""

from __future__ import annotations

from collections.abc import Iterable


def other_models(known: Iterable[object], asked: str) -> tuple[str, ...]:
    """Return the names that mean another model than `asked`, each once; none where that is unknown.

    Case, a provider before the name and the tag `latest` behind it make no other model.
    """
    wanted = _key(asked)
    names = {name for name in known if isinstance(name, str) and name.strip()}
    return tuple(sorted(name for name in names if wanted and _key(name) != wanted))


def _key(name: str) -> str:
    return name.strip().casefold().rpartition("/")[2].removesuffix(":latest")
