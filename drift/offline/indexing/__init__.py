"""From folders of documents to a project in the graph: entities, relations, communities, summaries."""
