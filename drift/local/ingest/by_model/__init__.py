"""Knowledge that a chat model writes while documents are ingested: reports on topics, and facts."""

from __future__ import annotations

from typing import Literal

Tier = Literal["none", "reports", "facts"]
"""What a model writes: nothing, reports on topics, or also entities and what is said of them."""
