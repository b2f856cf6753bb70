"""What a query plan says.

Its operators, what they cost, and which of them have no business there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Plan = Mapping[str, Any]
"""A plan as the driver gives it; `rows` and `dbHits` only where the statement was profiled."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of a plan; `runs` is how often it was started, None where that is not known."""

    name: str
    details: str
    rows: int | None
    hits: int
    inputs: tuple[int, ...]
    runs: int | None

    def __str__(self) -> str:
        return (
            f"{self.name}({self.details[:90]}) with {self.rows} rows from {list(self.inputs)}, "
            f"started {self.runs} times"
        )

    @property
    def is_scan(self) -> bool:
        """Label, all-nodes, relationship-type and index scans alike.

        They read nodes of all projects.
        """
        return self.name.endswith("Scan")

    @property
    def multiplies(self) -> bool:
        """Tell whether a Cartesian product is more than putting one row beside another.

        One row beside one row is how subqueries meet that do not depend on each other, and nodes
        found by unique keys. So it is harmless while, each time it is started, both inputs have at
        most one row: no input, and no output, has more rows than the product was started times. It
        is started once for each row of the left input of the nearest Apply above it in whose right
        input it stands, and once where there is none.
        """
        if self.name != "CartesianProduct" or self.runs is None:
            return False
        return max(self.rows or 0, *self.inputs) > self.runs


def operators(plan: Plan, runs: int | None = 1) -> Iterator[Operator]:
    """Yield the operators of a plan, each before its inputs."""
    inputs = list(plan.get("children", ()))
    name = plan["operatorType"].partition("@")[0]
    details = str(plan.get("args", {}).get("Details", ""))
    rows = tuple(child.get("rows") or 0 for child in inputs)
    yield Operator(name, details, plan.get("rows"), plan.get("dbHits") or 0, rows, runs)
    for place, child in enumerate(inputs):
        is_repeated = place == 1 and ("Apply" in name or "Foreach" in name)
        yield from operators(child, inputs[0].get("rows") if is_repeated else runs)


def hits(plan: Plan) -> int:
    """Return what the whole plan cost in accesses of the store."""
    return sum(operator.hits for operator in operators(plan))


def scans(plan: Plan, allowed: tuple[str, ...] = ()) -> list[str]:
    """Return the scans of a plan but those whose details end with one of `allowed`."""
    return [
        str(o) for o in operators(plan) if o.is_scan and not o.details.endswith(allowed or ("\0",))
    ]


def products(plan: Plan) -> list[str]:
    """Return the Cartesian products that multiply rows."""
    return [str(o) for o in operators(plan) if o.multiplies]


def eagers(plan: Plan) -> list[str]:
    """Return where a plan holds rows back.

    Aggregations do so by nature and are other operators, one row is nothing to hold.
    """
    return [str(o) for o in operators(plan) if o.name == "Eager" and o.rows != 1]
