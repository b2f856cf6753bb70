"""The routes that write people's own nodes; the right to write is known before all else."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from drift.auth.caller import Caller
from drift.contracts.nodes import NewNode, NodeChange, NodeOut
from drift.contracts.reading import ProjectParameters
from drift.core.deadline import Deadline
from drift.http import http
from drift.http.http import Reply
from drift.http.query import parse_query, path_id
from drift.http.reading import Sent

if TYPE_CHECKING:  # they load what only a first request shall
    from drift.http.service import Service

NODES = "api/nodes"
NODE = "api/nodes/{*id}"

DEADLINE_S = 60.0


async def create(caller: Caller, body: bytes, service: Service) -> Reply:
    """Make a node: 201 with its id, and where it is."""
    writing = service.nodes()
    asked = http.parse(body, NewNode)
    project = await service.project(caller, asked.project_id, "write")
    await service.quotas.admit(caller)
    with service.admission.counted(caller):
        node = await writing.create(project, asked, Deadline.after(DEADLINE_S))
    where = f"/{NODES}/{quote(node.id, safe='')}?project_id={quote(project.id, safe='')}"

    return _told(HTTPStatus.CREATED, node, {"location": where})


async def replace(asked: Sent, body: bytes, service: Service) -> Reply:
    """Give a node other properties."""
    writing = service.nodes()
    named = parse_query(asked.query, ProjectParameters).project_id
    node_id = path_id(asked.path, NODE)
    change = http.parse(body, NodeChange)
    project = await service.project(asked.caller, named, "write")
    await service.quotas.admit(asked.caller)
    deadline = Deadline.after(DEADLINE_S)
    with service.admission.counted(asked.caller):
        node = await writing.replace(project, node_id, change.properties, deadline)

    return _told(HTTPStatus.OK, node, {})


async def remove(asked: Sent, service: Service) -> Reply:
    """Remove a node: 204."""
    writing = service.nodes()
    named = parse_query(asked.query, ProjectParameters).project_id
    node_id = path_id(asked.path, NODE)
    project = await service.project(asked.caller, named, "write")
    await service.quotas.admit(asked.caller)
    await writing.remove(project, node_id, Deadline.after(DEADLINE_S))

    return Reply(HTTPStatus.NO_CONTENT)


def _told(status: HTTPStatus, node: NodeOut, more: dict[str, str]) -> Reply:
    headers = {"cache-control": "no-store", **more}
    return Reply(status, node.model_dump_json().encode(), headers=headers)
