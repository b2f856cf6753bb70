"""How AuraDB calls user and database: today as the instance, earlier both `neo4j`."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

_HOSTS = ".databases.neo4j.io"


def aura_notes(uri: str, username: str, database: str | None) -> Iterator[tuple[str, str]]:
    """Yield the variable and a sentence for each name that an instance of today does not have."""
    parts = urlsplit(uri)
    instance, found, _ = (parts.hostname or "").partition(_HOSTS)
    if not found:
        return

    for name, value in (("NEO4J_USERNAME", username), ("NEO4J_DATABASE", database)):
        if value == "neo4j":
            can_miss = name == "NEO4J_DATABASE" and parts.scheme != "https"
            leave = " or leave it out," if can_miss else ""
            yield (
                name,
                (
                    f"is neo4j, as on older instances of AuraDB: set {name} to {instance},{leave} "
                    "where the file of the Aura console says so"
                ),
            )
