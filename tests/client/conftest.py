"""The function's own servers, for what no scripted service can do."""

from tests.function.conftest import base_settings, corpus, environment, graph_server, no_settings

__all__ = ["base_settings", "corpus", "environment", "graph_server", "no_settings"]
