"""All rules over what a way would deploy."""

from __future__ import annotations

from tests.infra.rules import Rule, callers, names, network, roles, snapshot

RULES: tuple[Rule, ...] = (
    *snapshot.RULES,
    *names.RULES,
    *network.RULES,
    *roles.RULES,
    *callers.RULES,
)
