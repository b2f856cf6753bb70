"""From folders of documents to a project in the graph: documents, chunks, entities, relations, communities."""
