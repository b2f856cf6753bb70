"""What became of the follow-ups of a search, and of what they cite."""

from __future__ import annotations

from collections import Counter

from drift.model.tree import Tree
from drift.telemetry import otel
from drift.telemetry.parts import Part


def count_followups(part: Part, tree: Tree) -> None:
    """Count the ends of a phase's follow-ups, and the results of their citations."""
    states_counted = ("answered", "failed", "no_evidence", "skipped")
    ended, citations = [node.state for node in tree.nodes.values()], tree.counts
    by_kind = Counter[str](state.kind for state in ended)
    failed = Counter(state.reason for state in ended if state.kind == "failed")
    for code, number in failed.items():
        otel.count("drift.followups.failed", number, {"code": code})

    for reason, number in citations.dropped.items():
        otel.count("drift.citations.dropped", number, {"reason": reason})

    part.add(followups=len(ended))
    part.add(**{f"followups_{kind}": by_kind[kind] for kind in states_counted})
    part.add(
        citations=citations.total,
        citations_kept=citations.kept,
        citations_repaired=citations.repaired,
        citations_dropped=sum(citations.dropped.values()),
    )
