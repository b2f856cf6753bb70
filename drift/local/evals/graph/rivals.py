"""Statements that others use for the same steps, to be measured beside ours on the same graph.

They stand in `rival_statements/`, word for word. Two are published as fragments:
`provider_retrieval` got its index call, `ranking_by_function` its MATCH and its second key.

`design_...` and `flat_...` are the statements of published designs for DRIFT on Neo4j. Some do not
compile or name an index that is not there, and then the server's own words are the result. Where
only the name of the index is wrong, the same text with the right name follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from drift.local.evals.graph.exact import nearest_chunks, nearest_communities
from drift.local.evals.graph.synthetic import LEVELS, Query, SyntheticProject

TOP_CHUNKS = 30
TOP_COMMUNITIES = 5
SCOPE_LEAVES = 5
"""Leaf communities of a scoped statement: these designs look for chunks at the leaves only."""

Rows = Sequence[Mapping[str, Any]]


def statement(name: str) -> str:
    """Return the text of a rival statement."""
    return (files(__package__) / "rival_statements" / f"{name}.cypher").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class RivalQuestion:
    """A question of a project, as a rival statement is asked it.

    `community_index` is the name of the index over communities.
    """

    project: SyntheticProject
    query: Query
    community_index: str

    @property
    def leaves(self) -> list[int]:
        """The leaf communities nearest to the question, by number."""
        return list(nearest_communities(self.project, self.query.vector, 0)[:SCOPE_LEAVES])

    @property
    def parameters(self) -> dict[str, Any]:
        """The values under all the names that the statements use."""
        leaves = [self.project.community_id(0, leaf) for leaf in self.leaves]
        vector = list(self.query.vector)
        return {
            "projectId": self.project.project_id,
            "name": self.community_index,
            "k": TOP_COMMUNITIES,
            "level": LEVELS - 1,
            "qvec": vector,
            "queryEmb": vector,
            "cids": leaves,
            "communityIds": leaves,
            "chunkIds": self.exact_chunks(),
        }

    def exact_chunks(self) -> list[str]:
        """Return the chunks of the project nearest to the question."""
        return list(nearest_chunks(self.project, self.query.vector, TOP_CHUNKS))

    def exact_scope(self) -> list[str]:
        """Return the nearest chunks below the leaves of the scope."""
        scope = frozenset(self.leaves)
        return list(nearest_chunks(self.project, self.query.vector, TOP_CHUNKS, 0, scope))

    def exact_communities(self) -> list[str]:
        """Return the communities of the highest level nearest to the question, by id."""
        level = LEVELS - 1
        nearest = nearest_communities(self.project, self.query.vector, level)[:TOP_COMMUNITIES]
        return [str(self.project.community_id(level, number)) for number in nearest]


@dataclass(frozen=True, slots=True)
class Rival:
    """One statement of others.

    `found` reads the ids from its rows, and `exact` returns those that it should have found; both
    are None for a statement that ranks nothing.
    """

    name: str
    text: str
    found: Callable[[Rows, RivalQuestion], list[str]] | None = None
    exact: Callable[[RivalQuestion], list[str]] | None = None


def published(chunk_index: str) -> list[Rival]:
    """Return the statements of published designs.

    `chunk_index` takes the place of the name that does not exist.
    """
    scoped = _rival("design_scoped", _chunk_ids, RivalQuestion.exact_scope)
    named = scoped.text.replace("chunk_idx", chunk_index)
    return [
        _rival("design_max_level"),
        _rival("design_level_query", _communities, RivalQuestion.exact_communities),
        _rival("design_samples"),
        scoped,
        _rival("design_neighbourhood"),
        _rival("flat_communities", _communities, RivalQuestion.exact_communities),
        _rival("flat_samples"),
        _rival("provider_retrieval"),
        _rival("ranking_by_function"),
        Rival("design_scoped_index_named", named, scoped.found, scoped.exact),
    ]


def _rival(
    name: str,
    found: Callable[[Rows, RivalQuestion], list[str]] | None = None,
    exact: Callable[[RivalQuestion], list[str]] | None = None,
) -> Rival:
    return Rival(name, statement(name), found, exact)


def _chunk_ids(rows: Rows, _: RivalQuestion) -> list[str]:
    return [str(row["chunk_id"]) for row in rows]


def _communities(rows: Rows, question: RivalQuestion) -> list[str]:
    nodes = [row["node"] for row in rows]
    project_id = question.project.project_id
    return [str(node["community"]) for node in nodes if node["project_id"] == project_id]
