"""NodeFinder that gives the nodes of a project, in the order in which a test gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drift.core.deadline import Deadline
from drift.model.found_nodes import FoundNode, FoundNodes, NodesQuery, Sampled


class FakeNodeFinder:
    """NodeFinder over a dictionary of projects."""

    def __init__(self, projects: Mapping[str, Sequence[FoundNode]] = {}) -> None:
        self.projects = projects

    async def nearest_nodes(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        deadline.require()
        held = self.projects.get(query.project_id, ())
        wanted = [node for node in held if node.node_type in query.labels]
        return FoundNodes(tuple(wanted[: query.limit]))

    async def sample(
        self, _project_id: str, _dimensions: int, _pairs: object, _least: int, deadline: Deadline
    ) -> Sampled:
        deadline.require()
        return Sampled()
