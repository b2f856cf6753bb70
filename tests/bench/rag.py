"""The search of nodes, with the three most important around each, on the databases of `graph`.

`nodes_sample` is the sample of 2,000 pairs that a threshold is measured from.
"""

from __future__ import annotations

from functools import partial

from tests.bench.command import run
from tests.bench.graph import asked_shapes, bench

if __name__ == "__main__":
    run(partial(bench, nodes_alone=True), asked_shapes(__doc__))
