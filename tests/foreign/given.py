"""What a script is to write, and where."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

ENTITIES = {"Ingrid Falk": "Person", "Quay Four": "Place", "Crane": "Machine"}
"""What each text mentions, with its label."""
TITLE = "harbour.md"


@dataclass(frozen=True)
class Given:
    """The server, and texts with their vectors and a summary of all, which an embedder knows."""

    uri: str
    username: str
    password: str
    database: str
    texts: list[str]
    vectors: list[list[float]]
    summary: str

    @classmethod
    def read(cls) -> Given:
        """Return it from standard input."""
        return cls(**json.load(sys.stdin))

    @property
    def login(self) -> dict[str, str]:
        """The server, by the names that most tools take."""
        return {"username": self.username, "password": self.password, "database": self.database}

    def embed(self, text: str) -> list[float]:
        """Return the vector of the text that stands in this one; of what is unknown the first."""
        pairs = zip(self.texts, self.vectors, strict=True)
        return next((vector for known, vector in pairs if known in text), self.vectors[0])
