"""How statements go along a graph: arrows, and what can be counted and collected of them.

An arrow stands between two nodes: `(ch){arrow}(e)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from drift.graph.cypher.expressions import any_but, degree_of_generation, types
from drift.graph.mapping import GraphMapping

MAX_LEVELS = 12


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of a graph that is built like this."""

    mapping: GraphMapping
    has_projects: bool

    @property
    def mentions(self) -> str:
        """From a chunk to an entity."""
        return self.mapping.edge("mention").arrow()

    @property
    def mentioned_in(self) -> str:
        """From an entity to a chunk."""
        return self.mapping.edge("mention").arrow(back=True)

    @property
    def holds(self) -> str:
        """From a document to a chunk."""
        own = self.mapping.is_own_document
        return "-[*0..0]-" if own else self.mapping.edge("part_of").arrow(back=True)

    @property
    def in_community(self) -> str:
        """From a chunk or an entity to a community that it is directly in."""
        return self.mapping.edge("member").arrow()

    @property
    def community_up(self) -> str:
        """From a community to the one above."""
        return self.mapping.edge("parent").arrow()

    @property
    def any_above(self) -> str:
        """From a community to itself, and to those at any height above it."""
        return self.mapping.edge("parent").arrow(times=f"*0..{MAX_LEVELS - 1}")

    # Chunks of others may be in communities themselves, or by the entities that they mention.
    @property
    def member_of(self) -> str:
        """From a chunk to the communities that it is directly in."""
        return f"{self._to_mentioned}{self.in_community}"

    @property
    def above(self) -> str:
        """From a chunk to a community at any height."""
        member = self.mapping.edge("member")
        if member == self.mapping.edge("parent"):  # mostly the same edge leads on from there
            return f"{self._to_mentioned}{member.arrow(times=f'*1..{MAX_LEVELS}')}"
        return f"{self._to_mentioned}{member.arrow()}(){self.any_above}"

    @property
    def below(self) -> str:
        """From a community to a chunk at any depth."""
        member, parent = self.mapping.edge("member"), self.mapping.edge("parent")
        mentioned = self.mapping.edge("mention").arrow(back=True, times="*0..1")
        last = "" if self.has_projects else f"(){mentioned}"
        if member == parent:
            return f"{member.arrow(back=True, times=f'*1..{MAX_LEVELS}')}{last}"
        down = parent.arrow(back=True, times=f"*0..{MAX_LEVELS - 1}")
        return f"{down}(){member.arrow(back=True)}{last}"

    @property
    def _to_mentioned(self) -> str:
        if self.has_projects:
            return ""
        return f"{self.mapping.edge('mention').arrow(times='*0..1')}()"

    @property
    def between(self) -> str:
        """Types of edges from a chunk or an entity to what it is told with, beside relations."""
        return types(*self._types_of("mention", "member"))

    @property
    def walked(self) -> str:
        """What a walk goes along, either way."""
        if self.mapping.relation:
            return f"-[:{types(*self._types_of('mention', 'relation'))}]-"
        return f"-[:{any_but(*self._apart)}]-"

    @property
    def _relation(self) -> str:
        if self.mapping.relation:
            return types(*self._types_of("relation"))
        return any_but(*self.not_relations)

    @property
    def not_relations(self) -> tuple[str, ...]:
        """Types of edges that say no relation, where these may be of any other type."""
        return (*self._types_of("mention"), *self._apart)

    @property
    def _apart(self) -> tuple[str, ...]:
        """Types of edges that no walk goes along, where relations may be of any type."""
        # What is between two chunks says nothing of entities.
        lexical = ("NEXT_CHUNK", "FIRST_CHUNK", "SIMILAR")
        return (*self._types_of("member", "parent", "part_of"), *lexical)

    def _types_of(self, *names: str) -> tuple[str, ...]:
        return tuple(one for name in names for one in self.mapping.edge(name).types)

    def inside(self, c: str) -> str:
        """Return how many nodes are directly in a community."""
        edges = (self.mapping.edge(name).arrow(back=True) for name in ("member", "parent"))
        return " + ".join(f"COUNT {{ ({c}){arrow}() }}" for arrow in dict.fromkeys(edges))

    def related(self, r: str) -> str:
        """Return the relation, named or not, between two entities."""
        return f"[{r}:{self._relation}]"

    def degree(self, n: str) -> str:
        """Return how many edges a walk could go along; degrees by type are read off the node."""
        if self.has_projects:
            return degree_of_generation(n)
        if self.mapping.relation:  # parallel edges count, as they do in the walk
            return f"COUNT {{ ({n}){self.walked}() }}"
        return f"COUNT {{ ({n})--() }} - COUNT {{ ({n})-[:{types(*self._apart)}]-() }}"

    def told(self, n: str) -> str:
        """Return how many relations begin at the entity."""
        if self.mapping.relation:
            return f"COUNT {{ ({n})-[:{self._relation}]->() }}"
        return f"COUNT {{ ({n})-->() }} - COUNT {{ ({n})-[:{self.between}]->() }}"

    def targets(self, n: str) -> str:
        """Return the list of what they end at."""
        listed = f"COLLECT {{ MATCH ({n})-[:{self._relation}]->(x) RETURN x }}"
        if self.mapping.relation:
            return listed
        # Going along edges of any type means going along all of them, a hub's mentions too.
        return f"CASE WHEN COUNT {{ ({n})-->() }} <= 1000 THEN {listed} ELSE [] END"
