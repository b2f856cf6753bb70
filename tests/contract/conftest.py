"""Fixtures that several contract tests share.

Those about preparing have a `database` of their own.
"""

from tests.contract.graph_backends import backend, graph_server, project
from tests.contract.v1_graphs import database

__all__ = ["backend", "database", "graph_server", "project"]
