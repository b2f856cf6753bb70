"""A store of vectors in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from drift.core.errors import VectorStoreError
from drift.model.vectors import VectorRow


@dataclass
class InMemoryVectors:
    """A store that compares everything; `fails` says how, and `searched` counts."""

    settles_s: float = 0.0

    rows: dict[str, VectorRow] = field(default_factory=dict)
    fails: str = ""
    searched: int = 0

    async def place(self, _space: str, _timeout: float) -> str:
        return "memory"

    def _fail(self) -> None:
        if self.fails:
            raise VectorStoreError(self.fails)

    async def search(
        self, _: str, project_id: str, vector: Any, kinds: Any, limit: int, _timeout: float
    ) -> list[tuple[str, str]]:
        self._fail()
        self.searched += 1
        found = [
            (sum(map(float.__mul__, row.vector, vector)), row.kind, row.node_id)
            for row in self.rows.values()
            if row.project_id == project_id and row.kind in kinds
        ]
        return [(kind, node_id) for _, kind, node_id in sorted(found, reverse=True)[:limit]]

    async def upsert(self, _: str, rows: Sequence[VectorRow], _timeout: float) -> None:
        self._fail()
        self.rows |= {row.key: row for row in rows}

    async def delete(self, _: str, keys: Sequence[str], _timeout: float) -> None:
        self._fail()
        for key in keys:
            self.rows.pop(key, None)

    async def digests(self, _: str, project_id: str, _timeout: float) -> dict[str, str]:
        self._fail()
        return {k: row.digest for k, row in self.rows.items() if row.project_id == project_id}

    async def check(self, _: str, _timeout: float) -> None:
        self._fail()

    async def close(self) -> None:
        pass
