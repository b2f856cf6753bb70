"""Addresses in texts, and what is told of tools, without what is secret."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from drift.core.hyperlinks import MOST_OF_A_CHUNK
from drift.graph.writing.records import DocumentRecord, DocumentVersion
from drift.indexing.documents import Skipped, SourceDocument, document_of
from drift.indexing.links import addresses_in
from drift.indexing.records import chunk_records
from drift.local.ingest.files import document_in
from drift.local.ingest.sent_files import read_sent
from drift.local.ingest.sources import read_source

ADDRESSES = {
    "[the *book*](https://Example.com/a_(b)#x) and <https://a.example>.": [
        ("https://example.com/a_(b)", "the *book*"),
        ("https://a.example/", ""),
    ],
    "(http://a.example/x?y=1), http://a.example/x?y=1; [http://a.example/x?y=1]": [
        ("http://a.example/x?y=1", "")
    ],
    "![a picture](https://a.example/p.png) ftp://a.example https://localhost/x": [],
    "https://me:secret@a.example/ https://a.example/?sig=0123456789abcdef0123&se=1": [],
    "https://{host}.example/ https://<host>/ https://[::1/": [],
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_addresses_are_told_apart_as_readers_do(text: str) -> None:
    found = addresses_in(text)
    assert [(one.title, one.description) for one in found] == ADDRESSES[text]


def test_addresses_are_bounded_and_found_in_linear_time() -> None:
    many = " ".join(f"https://a.example/{number}" for number in range(1000))
    assert len(addresses_in(many)) == MOST_OF_A_CHUNK
    began = time.perf_counter()
    for part in ("[", "https://", "[a](https://", "https://a.example" + ")" * 4000):
        addresses_in(part * 20_000)
    assert time.perf_counter() - began < 10


PAGES = {
    "page.html": """<title>Mills</title><nav><a href="https://menu.example/">all our mills</a></nav>
        <article><h1>Mills</h1><p>Corn is ground by <a href="https://A.example/mill#top">water
        mills</a>, and in <a href="/here">other ways</a>; it takes a
        <a href="https://a.example/day">day</a> for each sack of corn.</p></article>""",
    "page.md": """# Mills

[home](https://menu.example/) [shop](https://menu.example/shop) [all our mills](https://menu.example/all)

Corn is ground by [water mills](https://A.example/mill#top), and in [other ways](/here); it takes a
[day](https://a.example/day) for each sack of corn, as everybody knows who ever had to do it.
""",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_whose_text_has_lost_its_links_still_leads_to_them(name: str) -> None:
    document = document_in(PAGES[name].encode(), name, None)
    assert isinstance(document, SourceDocument)
    assert "http" not in document.text

    record = DocumentRecord("d", "t", "s", DocumentVersion("h"))
    chunks = chunk_records("p", record, document)
    found = [(one.title, one.description) for chunk in chunks for one in chunk.defines]
    assert found == [("https://a.example/mill", "water mills"), ("https://a.example/day", "day")]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    ("id_", "address", "day"),
    [
        ("x/a b.html", "", "https://a.example/day"),
        ("x/a b.html", "https://a.example/x/a%20b.html", "/day"),
        ("x/a b.html", "https://other.example/7", "https://a.example/day"),
    ],
)
def test_links_of_a_page_are_kept_beside_its_text(
    name: str, id_: str, address: str, day: str
) -> None:
    document = document_in(PAGES[name].encode(), name, None)
    assert isinstance(document, SourceDocument)
    document = replace(document, id=id_, source_uri=address)
    chunks = chunk_records("p", DocumentRecord("d", "t", "s", DocumentVersion("h")), document)
    found = [link for chunk in chunks for link in chunk.links]
    mill = "https://A.example/mill\nwater mills"
    assert found == [mill, "/here\nother ways", f"{day}\nday"]
    assert all("example" not in chunk.text for chunk in chunks)


def test_of_hidden_folders_of_editors_only_the_tools_are_read(tmp_path: Path) -> None:
    for path in (".vscode/mcp.json", ".vscode/notes.md", ".git/mcp.json", "a/.cursor/mcp.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("{}")
    found = read_source(tmp_path)
    assert [one.id for one in found.documents] == [".vscode/mcp.json", "a/.cursor/mcp.json"]
    assert [(one.kind, one.count) for one in found.ignored] == [("hidden", 2)]


def _read(told: object, name: str = "mcp.json") -> SourceDocument | Skipped:
    return document_in(json.dumps(told).encode(), name, None)


def test_of_servers_and_tools_is_told_what_they_are_called_run_and_take() -> None:
    docker = ["run", "-i", "--rm", "-e", "PW=hush hush", "ghcr.io/github/github-mcp-server", "hush"]
    servers = {
        "files": {"command": "npx", "args": ["-y", "@a/oauth", "--root", "hush"]},
        "web": {"url": "https://a.example/mcp/hush/sse?k=hush", "headers": {"X-Key": "hush"}},
        "hub": {"command": "docker", "args": docker, "env": {"GITHUB_TOKEN": "hush", "=hush": ""}},
        "far": {
            "command": "C:\\Program Files\\node\\npx.cmd",
            "args": ["mcp-remote", "https://a.example/sse"],
        },
        "own": {"command": "/opt/node", "args": ["/hush/build/index.js", "hush"]},
        "one": {"command": "uvx --from 'a-package' 'hush or not'"},
    }
    schema = {"properties": {"corn": {"description": "what to grind"}, "fast": True}}
    tools = [{"name": "grind", "description": "Grinds by OAuth2.", "inputSchema": schema}]
    document = _read({"mcpServers": servers, "tools": tools})
    assert isinstance(document, SourceDocument)
    assert "hush" not in repr(document)
    assert document.text.split("\n\n") == [
        "MCP server files\nCommand: npx @a/oauth",
        "MCP server web\nAddress: https://a.example/mcp\nTakes X-Key",
        "MCP server hub\nCommand: docker ghcr.io/github/github-mcp-server\nTakes GITHUB_TOKEN",
        "MCP server far\nCommand: npx mcp-remote\nAddress: https://a.example/sse",
        "MCP server own\nCommand: node index.js",
        "MCP server one\nCommand: uvx a-package",
        "tool grind\nGrinds by OAuth2.\n- corn: what to grind\n- fast",
        "",
    ]
    defined = [(one.title, one.type) for piece in document.pieces for one in piece.defines]
    assert defined[0] == ("files", "MCP server")
    assert defined[-1] == ("grind", "tool")


@pytest.mark.parametrize(
    "server",
    [
        {"command": "npx", "args": ["-y", "a-package", "hush", "sk-hush", "--hush"]},
        {"command": "npx", "args": ["-k", "hush", "a-package"]},
        {"command": "npx", "args": ["-khush", "--hush", "--token=hush", "KEY=hush"]},
        {"command": "npx", "args": ["ghp_16hushC7e42F292c6912E7710c838347Ae178B4a"]},
        {"command": "server", "args": ["hush", "Server=db;Password=hush;", "postgres://a:hush@db"]},
        {"command": "npx mcp-remote --header 'X-Api-Key: hush' https://a.example/hush"},
        {"command": "KEY=a/hush npx -y a-package"},
        {"command": "KEY=a/hush npx", "args": ["a-package"]},
        {"command": "sh", "args": ["-c", "KEY=hush npx a-package hush"]},
        {"command": "docker", "args": ["run", "-eKEY=hush", "hush", "--env", "hush", "hush"]},
        {"command": "docker run -e KEY='a hush word' -e hush"},
        {"command": "docker run -e KEY='hush"},
        {"url": "https://hush:@a.example/sse"},
        {"url": "https://a:hu/sh@hush/sse"},
        {"url": "https://a.example/s/hush/mcp#hush"},
        {"url": "https://hush1f4a1b2c3.tunnel.example/mcp"},
        {"env": {"KEY": "hush", "hush hush": ""}, "headers": ["Authorization: hush"]},
        {"description": "Give it token=hush or Password: hush, as Authorization: Bearer hush."},
        {"description": 'Or "api_key": "hush"; sk-hush, x://a:hush@b, wJalrXUhushK7MDENG/bPxRf1'},
        {"inputs": [{"id": "hush", "default": "hush"}], "envFile": "hush", "command": ["hush"]},
    ],
)
@pytest.mark.parametrize("form", ["mcpServers", "servers"])
def test_no_secret_of_a_configuration_is_read_wherever_it_stands(
    server: dict[str, object], form: str
) -> None:
    document = _read({form: {"a": server}})
    assert isinstance(document, SourceDocument)
    assert "hush" not in document.text + repr(document.pieces)


def test_a_configuration_is_no_text_under_another_name_or_where_texts_are_sent() -> None:
    content = json.dumps({"mcpServers": {"a": {"command": "npx", "args": ["b", "hush"]}}}).encode()
    sent = read_sent("mine/mcp.json", content)
    assert isinstance(sent, SourceDocument)
    assert sent.text == "MCP server a\nCommand: npx b\n\n"
    for read in (
        document_in(content, "mcp.json.txt", None),
        document_in(b"\xef\xbb\xbf " + content, "copy", None),
        document_of("claude.json", content),
        document_of("mine/Mcp.json", b"servers"),
        read_sent("settings.json", content),
    ):
        assert isinstance(read, Skipped)
        assert "may hold secrets" in read.reason


@pytest.mark.parametrize(
    "told",
    [
        {"mcpServers": {}},
        {"mcpServers": ["a"], "tools": {"name": "b"}},
        {"tools": [None, {"name": 1}, {"function": []}]},
        [[[]]],
        "text",
        None,
    ],
)
def test_what_names_no_tool_is_skipped_with_the_reason(told: object) -> None:
    skipped = _read(told)
    assert isinstance(skipped, Skipped)
    assert "names no server or tool" in skipped.reason


def test_a_configuration_with_comments_or_endless_nesting_is_no_json() -> None:
    for content in (b"// mine\n{}", b"[" * 100_000):
        skipped = document_in(content, "mcp.json", None)
        assert isinstance(skipped, Skipped)
        assert "not valid JSON" in skipped.reason
