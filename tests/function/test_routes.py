"""What the function registers: names, routes, methods, and who needs no key."""

from __future__ import annotations

from pathlib import Path

import function_app
from drift.routes import ROUTES

EXPECTED = """
retrieve POST retrieve
rag_query POST api/rag/query
chat_completions POST v1/chat/completions
chat_models GET v1/models
chat_embeddings POST v1/embeddings
chat_responses POST v1/responses
vector_store_search POST v1/vector_stores/{id}/search
dify_retrieval POST dify/retrieval
create_node POST api/nodes
replace_node PUT api/nodes/{*id}
remove_node DELETE api/nodes/{*id}
add_document POST documents
change_document PATCH documents/{*id}
remove_document DELETE documents/{*id}
read_content GET documents/{id}/content
read_projects GET projects
read_project GET projects/{id}
read_documents GET projects/{id}/documents
read_communities GET projects/{id}/communities
read_document GET documents/{*id}
read_chunk GET chunks/{*id}
read_entity GET entities/{*id}
give_feedback POST feedback
read_feedback GET projects/{id}/feedback
read_usage GET usage
mcp POST GET DELETE mcp
mcp_metadata GET .well-known/oauth-protected-resource/mcp
show_page GET rag
show_page_file GET rag/{*file}
health_live GET health/live
health_ready GET health/ready
health_neo4j GET health/neo4j
metrics GET metrics
openapi GET openapi.yaml
openapi_3_0 GET openapi-3.0.json
"""


def test_every_route_has_its_name_and_its_methods() -> None:
    listed = [f"{route.name} {route.methods} {route.path}" for route in ROUTES]
    assert listed == EXPECTED.split("\n")[1:-1]


def test_what_holds_no_data_is_open_and_nothing_else() -> None:
    opened = {route.name for route in ROUTES if route.is_open}
    assert opened == {"mcp_metadata", "show_page", "show_page_file", "health_live"}


def test_no_route_hides_behind_a_name_of_the_frameworks_own_pages() -> None:
    assert not {route.path for route in ROUTES} & {"docs", "redoc", "openapi.json"}


def test_the_worker_is_not_given_the_words_that_choose_another_runtime() -> None:
    text = Path(function_app.__file__).read_text(encoding="utf-8")
    assert "from fastapi import" not in text
    assert "FastAPI(" not in text
