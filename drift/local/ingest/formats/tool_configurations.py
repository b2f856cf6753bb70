"""Configuration of MCP servers, and lists of tools: each server or tool with what is told of it.

A secret may stand anywhere in such a file, and look like anything. So of a command only what is
known to be harmless is read: its name, the package that it runs, and where a server stands.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from drift.graph.writing.records import Definition
from drift.indexing.documents import (
    CONFIGURATIONS,
    Piece,
    Skipped,
    SourceDocument,
    document_with,
    text_of,
)
from drift.local.ingest.formats.encodings import decoded

NAMES = CONFIGURATIONS
"""Files that are read; any of them holds `mcpServers`, `servers` or `tools`."""

TOOL = "Tool"
MOST_CHARACTERS = 2_000
"""Of what is told of one server or tool."""
MOST_OF_DESCRIPTION = 200

_HIDDEN = "***"

_QUIET = frozenset({"-q", "--quiet", "-y", "--yes"})
_CONTAINER = (
    frozenset({"run", "-i", "-t", "-it", "--rm", "--init", "--interactive", "--tty"}),
    frozenset({"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--network", "--name"})
    | {"-p", "--publish", "-u", "--user", "-w", "--workdir", "--platform", "--entrypoint"},
)
_NOTHING: frozenset[str] = frozenset()
_PYTHON = (frozenset({"-m", "-u"}), _NOTHING)
_RUNNERS = {
    "npx": (_QUIET | {"-p", "--package", "--prefer-offline"}, _NOTHING),
    "bunx": (_QUIET | {"-p", "--package", "--bun"}, _NOTHING),
    "uvx": (_QUIET | {"--from", "--refresh"}, frozenset({"--with", "--python"})),
    "uv": (_QUIET | {"run", "tool", "--from"}, frozenset({"--directory", "--project", "--with"})),
    "pipx": (_QUIET | {"run", "--spec"}, _NOTHING),
    "docker": _CONTAINER,
    "podman": _CONTAINER,
    "python": _PYTHON,
    "python3": _PYTHON,
    "node": (_NOTHING, _NOTHING),
    "deno": (frozenset({"run", "-A", "--allow-all"}), _NOTHING),
    "java": (frozenset({"-jar"}), _NOTHING),
}
"""What runs a package: what may stand before its name, and the options that have a value there."""

_ENDING = re.compile(r"\.(?:exe|cmd|bat)$")
_PROGRAM = re.compile(r"[a-z][a-z0-9._-]{0,60}")
_NO_PATH = re.compile(r"[=@?,;]|:(?!\\)")
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?\w[\w.-]*(?:/[\w.-]+)*(?:[@:][\w.-]+)?", re.ASCII)
_SCRIPT = re.compile(r"[\w.-]+\.(?:[cm]?[jt]s|py|jar)", re.ASCII)
_ADDRESS = re.compile(
    r"(?:https?|wss?)://(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::[0-9]{1,5})?"
    r"(?:(?:/(?:api|mcp|sse|http|stream|messages|v[0-9]))+/?)?(?=[/?#]|$)",
    re.IGNORECASE,
)
"""Where a server stands, as far as no path of it may be a secret."""

_RUN = re.compile("[A-Za-z0-9]+")
_WORD = re.compile(r"[0-9]{1,8}|[0-9]{0,4}[A-Za-z]{1,24}[0-9]{0,4}[A-Za-z]{0,4}")
_LONG = 20
"""Characters from which capitals, small letters and digits together look like chance."""
_KEY = re.compile(r"(?i)\W*(?:sk-|[prs]k_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-)")
_VALUE = re.compile(
    r"(?i)((?:key|token|secret|pass|password|passwd|pwd|auth|authorization|credentials?|sig|"
    r"signature)[\"']?\s?[=:]\s?|\bbearer\s(?!tokens?\b|auth))(?:(?:bearer|basic)\s)?\S+"
)
"""What people write behind the name of a secret."""


def read_tools(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    """Return the content of a configuration as a document, or why it is none."""
    found = text_of(content, name, decoded)
    if isinstance(found, Skipped):
        return found
    try:
        told = json.loads(found[0])
    except (ValueError, RecursionError):
        reason = "is not valid JSON: take out comments and commas behind the last one"
        return Skipped(name, reason, unreadable=True)  # it may just be written
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
            yield _prose(name), "MCP server", list(_of_server(server))
    tools = told.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        one = tool.get("function", tool) if isinstance(tool, dict) else {}
        if isinstance(one, dict) and (name := _prose(one.get("name"))):
            yield name, "tool", list(_of_tool(one))


def _of_server(server: dict[str, Any]) -> Iterator[str]:
    yield _prose(server.get("description"))
    words = [*_words(server.get("command"), server.get("args"))]
    if command := " ".join(_of_command(words)):
        yield f"Command: {command}"
    for address in dict.fromkeys(filter(None, map(_address, (server.get("url"), *words)))):
        yield f"Address: {address}"
    for place in ("env", "headers"):
        if names := _names(server.get(place)):
            yield f"Takes {', '.join(names)}"


def _words(command: object, arguments: object) -> list[str]:
    """Return the words of a command, which is one where its arguments stand beside it."""
    beside = arguments if isinstance(arguments, list) else []
    try:
        words = [command] if beside or not isinstance(command, str) else shlex.split(command)
    except ValueError:
        return []
    return [word if isinstance(word, str) else "" for word in (*words, *beside)]


def _of_command(words: list[str]) -> Iterator[str]:
    """Yield the program and the package that it runs, where it is known which word that is."""
    if [word.casefold() for word in words[:2]] in (["cmd", "/c"], ["cmd.exe", "/c"]):
        words = words[2:]
    program = _ENDING.sub("", _last_part(words[0]).casefold()) if words else ""
    if not (_PROGRAM.fullmatch(program) and _is_plain(program)):
        return
    yield program

    before, with_value = _RUNNERS.get(program, (_NOTHING, _NOTHING))
    rest = iter(words[1:])
    for word in rest:
        if word in with_value:
            next(rest, "")
        elif word not in before:
            named = script if _SCRIPT.fullmatch(script := _last_part(word)) else word
            if program in _RUNNERS and _PACKAGE.fullmatch(named) and _is_plain(named):
                yield named
            return


def _last_part(path: str) -> str:
    """Return the name of a file; nothing where an option or a value may have been cut."""
    is_path = not path.startswith("-") and not _NO_PATH.search(path)
    return PurePosixPath(path.replace("\\", "/")).name if is_path else ""


def _names(told: object) -> list[str]:
    """Return the names of variables or headers; what is no name may be a value."""
    named = re.compile(r"[A-Za-z][\w-]*", re.ASCII).fullmatch
    return [one for one in told if named(one) and _is_plain(one)] if isinstance(told, dict) else []


def _address(told: object) -> str:
    """Return where a server stands, else nothing; before an @ there may be a password."""
    found = _ADDRESS.match(told) if isinstance(told, str) and "@" not in told else None
    if found is None:
        return ""
    # The name of a tunnel opens what is behind it.
    host = ".".join(one if _is_plain(one) else _HIDDEN for one in found["host"].split("."))
    return found[0].rstrip("/").replace(found["host"], host, 1)


def _of_tool(tool: dict[str, Any]) -> Iterator[str]:
    yield _prose(tool.get("description"))
    schema = tool.get("inputSchema") or tool.get("input_schema") or tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, one in properties.items() if isinstance(properties, dict) else ():
        about = _prose(one.get("description")) if isinstance(one, dict) else ""
        yield f"- {_prose(name)}: {about}" if about else f"- {_prose(name)}"


def _prose(told: object) -> str:
    """Return the words of people, and none that looks like a secret or stands where one does."""
    if not isinstance(told, str):
        return ""
    words = _VALUE.sub(rf"\g<1>{_HIDDEN}", " ".join(told.split())).split()
    return " ".join(word if _is_plain(word) else _HIDDEN for word in words)


def _is_plain(word: str) -> bool:
    """Tell whether people write such words; what is made by chance has letters among digits."""
    if "://" in word:
        return _ADDRESS.fullmatch(word.strip("<>().,;")) is not None
    kinds = (str.isupper, str.islower, str.isdigit)
    is_mixed = len(word) >= _LONG and all(any(map(kind, word)) for kind in kinds)
    return not (is_mixed or _KEY.match(word)) and all(map(_WORD.fullmatch, _RUN.findall(word)))
