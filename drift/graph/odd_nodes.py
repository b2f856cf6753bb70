"""What is remembered of projects with nodes that a search cannot use.

Said in the log, and looked at with more care.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from drift.core.logs import log

REPEATED_S = 3600.0
"""A project is named in the log at most this often, however often it is asked."""
CAREFUL_S = 600.0
MAX_PROJECTS = 1000
EXAMPLES = 3


class _Until:
    """Projects, each up to a moment; of too many the oldest is forgotten."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends: OrderedDict[str, float] = OrderedDict()

    def holds(self, project_id: str) -> bool:
        return self._ends.get(project_id, 0.0) > self._clock()

    def set(self, project_id: str, seconds: float) -> None:
        self._ends.pop(project_id, None)
        self._ends[project_id] = self._clock() + seconds
        if len(self._ends) > MAX_PROJECTS:
            self._ends.popitem(last=False)


class OddNodes:
    """Belongs to one graph store, and is shared by all its requests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without any project; `clock` gives seconds."""
        self._said = _Until(clock)
        self._careful = _Until(clock)

    def need_care(self, project_id: str) -> bool:
        """Tell whether every number of the project's vectors has to be looked at."""
        return self._careful.holds(project_id)

    def take_care(self, project_id: str) -> None:
        """Have that done for a while: a vector of the project cannot be compared."""
        self._careful.set(project_id, CAREFUL_S)

    def left_out(self, project_id: str, nodes: Mapping[str, Sequence[object]]) -> None:
        """Say in one line how many nodes of each label are left out, and the ids of some."""
        left = {label: list(dict.fromkeys(map(str, ids))) for label, ids in nodes.items() if ids}
        if not left or self._said.holds(project_id):
            return

        self._said.set(project_id, REPEATED_S)
        counts = ", ".join(f"{len(ids)} {label}" for label, ids in left.items())
        examples = ", ".join(id_ for ids in left.values() for id_ in ids[:EXAMPLES])
        log.warning("graph_nodes_left_out", extra={"nodes": counts, "examples": examples})
