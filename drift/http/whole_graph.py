"""A graph beyond searches: who reads it, and who writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drift.nodes.ports import LabelledNodes, NodeFinder, NodeStore
from drift.ports import GraphReader

if TYPE_CHECKING:  # it loads what reads documents
    from drift.indexing.indexer import Indexer


@dataclass(frozen=True, slots=True)
class WholeGraph:
    """What is done with a graph besides searching it; one of v1 has nothing to write.

    `index` makes what writes the documents of a project, and tells the tokens that this takes.
    """

    reader: GraphReader
    finder: NodeFinder
    store: NodeStore | None = None
    labelled: LabelledNodes | None = None
    index: Callable[[str], Indexer] | None = None
