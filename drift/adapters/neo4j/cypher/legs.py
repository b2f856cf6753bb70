"""The labels that a search of nodes looks at, each with the index that it asks."""

from __future__ import annotations

from dataclasses import dataclass

PERSONAL = "__Node__"
"""The label of people's own nodes, beside the one that they gave."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One label that is searched, with its vector index: None where there is none to ask.

    `searches` says that the server searches it inside a project by itself. Without an index all
    nodes of the project are scored, however many they are.
    """

    label: str
    index: str | None = None
    searches: bool = False
