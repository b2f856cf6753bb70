"""Rules that hold for every way to deploy.

Each yields a sentence for each place where it does not. What one resource looks like is no rule:
it stands in the committed snapshots, one of which gives every parameter a value of its own.
"""

from tests.infra.rules import callers, network, roles, snapshot

EVERY_WAY = (*snapshot.RULES, *network.RULES, *roles.RULES, *callers.RULES)
"""Rules over what a way would deploy."""
