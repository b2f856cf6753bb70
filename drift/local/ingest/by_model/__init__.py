"""Knowledge that a chat model writes while documents are ingested: reports, entities, relations."""

from __future__ import annotations

from typing import Literal

Tier = Literal["none", "reports", "graph"]
"""What a model writes: nothing, reports on topics, or also entities and relations."""
