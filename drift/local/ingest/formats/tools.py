"""Configuration of MCP servers, and lists of tools: each server or tool with what is told of it.

Values of environments and headers, and arguments that may be secrets, are never read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from drift.indexing.documents import Piece, Skipped, SourceDocument, document_with, text_of
from drift.indexing.graph_records import Definition
from drift.local.ingest.formats.encodings import decoded

NAMES = frozenset({"mcp.json", ".mcp.json", "claude_desktop_config.json", "tools.json"})
"""Files that are read; any of them holds `mcpServers`, `servers` or `tools`."""

TOOL = "Tool"
MOST_CHARACTERS = 2_000
"""Of what is told of one server or tool."""
MOST_OF_DESCRIPTION = 200

_HIDDEN = "***"
_SECRET = re.compile(r"key|token|secret|passw|auth|credential", re.IGNORECASE)
_VALUE = re.compile(r"[=:]")
_PASSWORD = re.compile(r"(://)[^/@\s]+@|[?].*")


def read_tools(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    """Return the content of a configuration as a document, or why it is none."""
    found = text_of(content, name, decoded)
    if isinstance(found, Skipped):
        return found
    try:
        told = json.loads(found[0])
    except (ValueError, RecursionError):
        return Skipped(name, "is not valid JSON: take out comments and commas behind the last one")
    tools = list(_tools(told))
    if not tools:
        return Skipped(name, "names no server or tool under mcpServers, servers or tools")

    text, pieces = "", []
    for tool, kind, told_lines in tools:
        start, lines = len(text), [*filter(None, told_lines)]
        text += "\n".join((f"{kind} {tool}", *lines))[:MOST_CHARACTERS] + "\n\n"
        description = " ".join(lines)[:MOST_OF_DESCRIPTION]
        defines = (Definition(TOOL, tool, kind, description),)
        pieces.append(Piece(start, len(text.rstrip()), tool, defines))
    return document_with(
        name, content, text, "text", updated_at=updated_at, note=found[1], pieces=tuple(pieces)
    )


def _tools(told: Any) -> Iterator[tuple[str, str, list[str]]]:  # noqa: ANN401 - JSON
    if isinstance(told, list):
        told = {"tools": told}
    if not isinstance(told, dict):
        return
    servers = told.get("mcpServers") or told.get("servers")
    for name, server in servers.items() if isinstance(servers, dict) else ():
        if isinstance(server, dict):
            yield name, "MCP server", list(_of_server(server))
    tools = told.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        one = tool.get("function", tool) if isinstance(tool, dict) else {}
        if isinstance(one, dict) and (name := _words(one.get("name"))):
            yield name, "tool", list(_of_tool(one))


def _of_server(server: dict[str, Any]) -> Iterator[str]:
    yield _words(server.get("description"))
    arguments = server.get("args")
    command = [_words(server.get("command"))]
    for one in map(_words, arguments if isinstance(arguments, list) else ()):
        flag = command[-1]
        is_secret = flag.startswith("-") and "=" not in flag and _SECRET.search(flag)
        command.append(_HIDDEN if is_secret else _without_secrets(one))
    if any(command):
        yield f"Command: {' '.join(filter(None, command))}"
    if address := _without_secrets(_words(server.get("url"))):
        yield f"Address: {address}"
    for place in ("env", "headers"):
        if isinstance(server.get(place), dict) and server[place]:
            yield f"Takes {', '.join(map(_words, server[place]))}"


def _without_secrets(told: str) -> str:
    """Return an argument or an address with what may be secret in it hidden."""
    if "://" in told:
        return _PASSWORD.sub(lambda found: f"{found[1]}{_HIDDEN}@" if found[1] else "", told)
    value = _VALUE.search(told)
    is_secret = value and _SECRET.search(told[: value.start()])
    return f"{told[: value.end()]}{_HIDDEN}" if value and is_secret else told


def _of_tool(tool: dict[str, Any]) -> Iterator[str]:
    yield _words(tool.get("description"))
    schema = tool.get("inputSchema") or tool.get("input_schema") or tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, one in properties.items() if isinstance(properties, dict) else ():
        about = _words(one.get("description")) if isinstance(one, dict) else ""
        yield f"- {name}: {about}" if about else f"- {name}"


def _words(told: Any) -> str:  # noqa: ANN401 - JSON
    return " ".join(told.split()) if isinstance(told, str) else ""
