"""Keys of callers for tests of the function, and its environment with them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from drift.auth.project_keys import hash_of

Key = tuple[str, dict[str, Any]]


def entry(name: str, projects: list[str], **fields: Any) -> Key:
    """Return a key of this name, and its entry of PROJECT_KEYS."""
    key = f"canary-key-of-{name}"
    return key, {"name": name, "sha256": hash_of(key.encode()), "projects": projects, **fields}


def use_keys(environment: pytest.MonkeyPatch, *entries: dict[str, Any]) -> None:
    """Have the function tell callers apart by these keys."""
    environment.setenv("AUTH_MODE", "keys")
    environment.setenv("PROJECT_KEYS", json.dumps(entries))
