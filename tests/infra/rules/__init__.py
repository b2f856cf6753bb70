"""Rules that hold for every way to deploy.

Each yields a sentence for each place where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.infra.ways import Project

Rule = Callable[[Project], Iterator[str]]
