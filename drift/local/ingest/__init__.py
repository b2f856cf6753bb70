"""From folders of documents to a project in the graph.

Entities, relations, communities, summaries.
"""
