"""The routes that write people's own nodes; the right to write is known before all else."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from starlette.responses import Response

from drift.contracts.nodes import NewNode, NodeChange
from drift.core.deadline import Deadline
from drift.http import http
from drift.http.route import Call
from drift.http.time_limits import NODE_S

NODES = "api/nodes"
NODE = "api/nodes/{*id}"


async def create_node(call: Call) -> Response:
    """Make a node of a label of RAG_LABELS, with the vector of its title and text.

    The node is there; Location is its path.
    """
    asked: NewNode = call.body
    service = await call.service()
    project = await service.project(call.caller, asked.project_id, "write")
    await service.quotas.admit(call.caller)
    with service.admission.counted(call.caller):
        node = await service.nodes().create(project, asked, Deadline.after(NODE_S))

    where = f"/{NODES}/{quote(node.id, safe='')}?project_id={quote(project.id, safe='')}"
    return http.read(node, HTTPStatus.CREATED, location=where)


async def replace_node(call: Call) -> Response:
    """Give a node other properties, and another vector where its text is another.

    The node has these properties and no others.
    """
    change: NodeChange = call.body
    service = await call.service()
    project = await service.project(call.caller, call.query.project_id, "write")
    await service.quotas.admit(call.caller)
    with service.admission.counted(call.caller):
        deadline = Deadline.after(NODE_S)
        node = await service.nodes().replace(project, call.id, change.properties, deadline)

    return http.read(node)


async def remove_node(call: Call) -> Response:
    """Remove a node with its vector and its edges.

    The node is gone.
    """
    service = await call.service()
    project = await service.project(call.caller, call.query.project_id, "write")
    await service.quotas.admit(call.caller)
    await service.nodes().remove(project, call.id, Deadline.after(NODE_S))

    return Response(status_code=HTTPStatus.NO_CONTENT, media_type=http.JSON)
