"""Rules that hold for every way to deploy.

Each yields a sentence for each place where it does not. What one resource looks like stands in the
committed snapshots, one of which gives every parameter a value of its own; what costs or protects
is a rule as well, since a snapshot can be made anew without a look.
"""

from tests.infra.rules import callers, network, roles, snapshot, values

EVERY_WAY = (*snapshot.RULES, *network.RULES, *roles.RULES, *callers.RULES, *values.RULES)
"""Rules over what a way would deploy."""
