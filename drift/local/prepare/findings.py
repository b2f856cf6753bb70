"""The findings about a graph, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LEFT_OUT = "left_out_of"
"""The property of nodes whose key is too long for an index: the `project_id` that they had."""


@dataclass
class Survey:
    """The counts of a graph: nodes by label, and those of each label by the state of their project.

    `refusals` are sentences about what keeps the graph from being prepared, `problems` those about
    what its searches will miss, `vectors` those of them about embeddings. `too_long` names the
    nodes of each label whose key no index can hold, `short_again` those that were left out for it.
    """

    nodes: dict[str, int] = field(default_factory=dict)
    states: dict[str, dict[str, int]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)
    too_long: dict[str, list[str]] = field(default_factory=dict)
    short_again: list[str] = field(default_factory=list)

    def some_of(self, label: str, nodes: int) -> str:
        """Return the words for so many of the nodes of a label: all, or some of them."""
        of_all = self.nodes[label]
        if nodes == of_all:
            return f"All {label} nodes ({of_all:,})"
        return f"Some {label} nodes ({nodes:,} of {of_all:,})"


def tally(counts: Mapping[str, int], what: str) -> str:
    """Return the ten largest counts in words, after the name of what is counted."""
    largest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
    return f"{what} " + (", ".join(f"{name} ({count:,})" for name, count in largest) or "none")
