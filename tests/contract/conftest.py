"""Fixtures that several contract tests share."""

from tests.contract.v1_graphs import database, v1_server

__all__ = ["database", "v1_server"]
