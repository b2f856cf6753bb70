"""Settings to what writes and prepares graphs.

Building opens no connection, and whoever asks closes it.
"""

from drift.http.settings import Settings
from drift.http.wiring import database, index_names
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.prepare.preparer import Neo4jPreparer


def build_writer(settings: Settings) -> Neo4jWriter:
    """Return the graph writer."""
    return Neo4jWriter.connect(*database(settings), names=index_names(settings))


def build_preparer(settings: Settings) -> Neo4jPreparer:
    """Return what prepares the graph for the schema of the settings."""
    schema = settings.graph_schema
    return Neo4jPreparer.connect(*database(settings), names=index_names(settings), schema=schema)
