"""What a filter leaves of a project: its documents, and what is made of these alone.

A summary, a relation or a name that other documents had a part in would tell what the filter hides.
"""

from __future__ import annotations

from drift.contracts.filter import LEVELS
from drift.graph.cypher.expressions import has_its_edges, milliseconds

_COMMUNITY = "<-[:IN_COMMUNITY*1..12]-"


def document(d: str) -> str:
    """Return the condition that a document is one of `$asked.allowed`, a map of ids to true."""
    return f"coalesce($asked.allowed[toStringOrNull({d}.id)], false)"


def chunk(n: str) -> str:
    """Return the condition that a chunk stands in such a document."""
    return f"EXISTS {{ ({n})<-[:HAS_CHUNK]-(holder) WHERE {document('holder')} }}"


def entity(n: str) -> str:
    """Return the condition that an entity is of such chunks and documents, and of no others."""
    return f"""EXISTS {{ ({n})<-[:HAS_ENTITY]-() }} AND {_is_as_made(n, "HAS_ENTITY")}
    AND NOT EXISTS {{ ({n})<-[:HAS_ENTITY]-(mention) WHERE NOT {chunk("mention")} }}
    AND NOT EXISTS {{
      ({n})-[:REFERS_TO|LINKS_TO|DEFINED_IN]-(holder:__Document__) WHERE NOT {document("holder")}
    }}"""


def community(n: str) -> str:
    """Return the condition that there are such chunks below a community, and nothing else."""
    return f"""EXISTS {{ ({n}){_COMMUNITY}(member) WHERE member:__Chunk__ }}
    AND {_is_current(n)} AND NOT EXISTS {{
      ({n}){_COMMUNITY}(member)
      WHERE NOT CASE
        WHEN member:__Community__ THEN {_is_current("member")}
        WHEN member:__Entity__ THEN {entity("member")}
        ELSE {chunk("member")} END
    }}"""


def _is_current(c: str) -> str:
    return f"{c}.stale IS NULL AND {_is_as_made(c, 'IN_COMMUNITY')}"


# The text of a node may tell of what was taken from it; one that others made has no stamp.
def _is_as_made(n: str, edge: str) -> str:
    return f"coalesce({has_its_edges(n, edge)}, true)"


# One statement for every filter: keys and values are data, so that none is planned anew, and none
# can say anything but what it compares.
def matches(d: str) -> str:
    """Return the condition that a document fits `$asked.conditions`, of drift.contracts.filter."""
    leaf = f"level{LEVELS}"
    value, compared = f"({milliseconds(f'{d}[{leaf}.key]')})", f"{leaf}.values[0]"
    held = f"""CASE WHEN {value} IS :: LIST<ANY> NOT NULL THEN {value} ELSE [{value}] END
        + CASE {leaf}.key WHEN 'path' THEN coalesce({d}.also_at, []) ELSE [] END"""
    condition = f"""{leaf}.negated <> coalesce(CASE {leaf}.type
      WHEN 'in' THEN any(one IN {held} WHERE one IN {leaf}.values)
      WHEN 'prefix' THEN any(one IN {held} WHERE toStringOrNull(one) STARTS WITH {compared})
      WHEN 'gt' THEN {value} > {compared}
      WHEN 'gte' THEN {value} >= {compared}
      WHEN 'lt' THEN {value} < {compared}
      WHEN 'lte' THEN {value} <= {compared}
    END, false)"""
    for level in range(LEVELS, 0, -1):
        listed = f"level{level - 1}" if level > 1 else "$asked.conditions"
        of = "all" if level % 2 else "any"
        condition = f"{of}(level{level} IN {listed} WHERE {condition})"
    return condition
