"""What a filter leaves of a project."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MOST_ROWS, _MOST_WORDED = 10_000, 2_000


@dataclass(frozen=True, slots=True)
class Allowed:
    """The documents that may be read, by id, with how many `chunks` they have, `of` all."""

    documents: Mapping[str, bool]
    chunks: int
    of: int

    def bounding(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a statement, with the documents, and with as many rows as it needs.

        An index is asked for more, as most of its rows are left out again. It pays up to about
        the root of all chunks: below, scoring every allowed one is as fast.
        """
        share = max(1, self.of) / max(1, self.chunks)
        told = {"allowed": self.documents, "allowed_chunks": self.chunks}
        widened = {"asked": values["asked"] | told}
        for name, most in {"fetch": _MOST_ROWS, "text_rows": _MOST_WORDED}.items():
            if name in values:
                widened[name] = max(values[name], min(most, math.ceil(values[name] * share)))
        if values.get("exact_limit"):  # 0 asks for the index
            widened["exact_limit"] = max(values["exact_limit"], round(10 * math.sqrt(self.of)))
        return {**values, **widened}
