"""The page's files over HTTP: what is there, how it is kept, and that nothing else is."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.datastructures import Headers
from starlette.responses import Response

from drift.core.errors import NotConfiguredError, NotFoundError
from drift.http import page
from drift.local.infra.package import deployed_files

FOLDER = Path(page.__file__).parent.parent / "page"
pytestmark = pytest.mark.usefixtures("defaults")


@pytest.fixture
def defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTH_MODE", "ENABLE_RAG_SEARCH", "ENABLE_INDEXING", "GRAPH_SCHEMA"):
        monkeypatch.delenv(name, raising=False)


def get(path: str, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return page.response(path.encode(), Headers(named))


def addresses() -> list[str]:
    """Return what the page itself names, as its own address makes of it."""
    return re.findall(r'(?:src|href)="(rag/[^"]+)"', bytes(get("/rag").body).decode())


LATER = (
    "answer_graph.js",
    "communities.js",
    "document_list.js",
    "how_found.js",
    "marks.js",
    "picture.js",
    "source.js",
)
"""What is loaded when something is opened."""
AT_FIRST = "theme.js"
"""What is run before anything is shown, so that no other colours are seen first."""
PDF = {f"vendor/pdfjs-dist/{name}" for name in ("LICENSE", "pdf.min.mjs", "pdf.worker.min.mjs")}
"""What is loaded when a PDF is opened."""
FORCES = ("d3-dispatch", "d3-force", "d3-quadtree", "d3-timer")


def modules(name: str = "main.js") -> Iterator[str]:
    """Yield the modules that are loaded with one, and itself."""
    seen, ahead = set(), [name]
    while ahead:
        one = ahead.pop()
        if one in seen:
            continue
        seen.add(one)
        text = (FOLDER / one).read_text(encoding="utf-8")
        imported = re.findall(r'^(?:import|export) .*?from "\./([^"]+)";', text, re.MULTILINE)
        ahead += [(Path(one).parent / name).as_posix() for name in imported]
    yield from sorted(seen)


def test_the_page_and_all_that_it_names_are_there_with_their_types() -> None:
    assert get("/rag").headers["content-type"] == "text/html; charset=utf-8"
    types = {
        name.rpartition(".")[2]: get(f"/{name}").headers["content-type"] for name in addresses()
    }
    assert types == {
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    }


def test_the_page_knows_how_large_a_document_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_DOCUMENT_MB", "50")
    assert b' data-most-bytes="52428800"' in bytes(get("/rag").body)


def test_the_page_knows_whether_documents_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def said() -> list[str]:
        return re.findall(r'data-takes-documents="(\w+)"', bytes(get("/rag").body).decode())

    assert said() == ["nothing"]
    monkeypatch.setenv("ENABLE_INDEXING", "true")
    assert said() == ["text"]
    monkeypatch.setenv("GRAPH_SCHEMA", "v1")  # it has no projects to add to
    assert said() == ["nothing"]


def test_the_page_names_every_module_that_it_needs_once() -> None:
    named = [name.split("/", 2)[2] for name in addresses() if name.endswith(".js")]
    assert sorted(named) == sorted([*modules(), AT_FIRST])


def test_no_file_of_the_page_is_left_over() -> None:
    told = {"index.html", "page.css", "threads.css", "icon.svg", "words/en.json", "words/de.json"}
    told |= {one for start in ("main.js", AT_FIRST, *LATER) for one in modules(start)} | PDF
    told |= {f"vendor/{name}/{name}.min.js" for name in FORCES}
    told |= {f"vendor/{name}/LICENSE" for name in ("marked", *FORCES)}
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert files == told


def test_pictures_and_documents_are_loaded_when_they_are_opened_and_not_before() -> None:
    at_once = set(modules())
    at_once_not = {"graph_layout.js", "graph_canvas.js", "source_pdf.js", "source_text.js"}
    assert at_once.isdisjoint({*at_once_not, "trusted.js", *LATER})
    assert not [name for name in addresses() if "d3-" in name or "pdf" in name]


def test_all_of_it_is_deployed_the_licences_too() -> None:
    files = {f"drift/page/{path.relative_to(FOLDER).as_posix()}" for path in FOLDER.rglob("*.*")}
    licences = {f"drift/page/vendor/{name}/LICENSE" for name in ("marked", "pdfjs-dist", *FORCES)}
    assert files | licences <= set(deployed_files())


@pytest.mark.parametrize(
    "path",
    [
        "/rag/x/../page.css",
        "/rag/x/%2e%2e/page.css",
        "/rag/x/..%2f..%2fhttp/page.py",
        "/rag/x//page.css",
        "/rag/page.css",
        "/rag/x/index.html",
        "/rag/x/vendor/marked/LICENSE",
        "/rag/x/main.js%00",
    ],
)
def test_nothing_else_is_given(path: str) -> None:
    with pytest.raises(NotFoundError):
        get(path)


def test_every_answer_guards_itself() -> None:
    for path in ("/rag", *(f"/{name}" for name in addresses())):
        headers = get(path).headers
        assert headers["content-security-policy"] == page.CONTENT_SECURITY_POLICY, path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    assert "unsafe" not in page.CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in page.CONTENT_SECURITY_POLICY


def test_files_are_kept_for_good_under_their_version_alone_and_the_page_is_asked_for() -> None:
    css = next(name for name in addresses() if name.endswith("/page.css"))
    assert "immutable" in get(f"/{css}").headers["cache-control"]
    assert get("/rag/of-before/page.css").headers["cache-control"] == "no-cache"
    assert get("/rag/of-before/page.css").body == get(f"/{css}").body
    assert get("/rag").headers["cache-control"] == "no-cache"


def test_who_has_it_already_gets_nothing() -> None:
    first = get("/rag")
    again = get("/rag", if_none_match=f'"other", {first.headers["etag"]}')
    assert (again.status_code, again.body) == (304, b"")
    assert get("/rag", if_none_match='"other"').status_code == 200


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [("br;q=1.0, gzip;q=0.8", True), ("gzip;q=0", False), ("gzip;q=0.0", False),
     ("GZIP ; q=1", True)],
)  # fmt: skip
def test_gzip_is_sent_to_who_takes_it(accepted: str, is_packed: bool) -> None:
    reply = get("/rag", accept_encoding=accepted)
    assert (reply.headers.get("content-encoding") == "gzip") == is_packed
    body = gzip.decompress(reply.body) if is_packed else reply.body
    assert body.startswith(b"<!doctype html>")
    assert reply.headers["vary"] == "accept-encoding"


def test_all_of_it_weighs_less_than_150_kb() -> None:
    sizes = [len(get(f"/{name}", accept_encoding="gzip").body) for name in addresses()]
    words = len(get("/rag/x/words/de.json", accept_encoding="gzip").body)
    assert sum(sizes) + words + len(get("/rag", accept_encoding="gzip").body) < 150_000


@pytest.mark.parametrize("mode", ["function", "easyauth"])
def test_the_page_says_how_callers_are_told_apart(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTH_MODE", f" {mode.upper()} ")
    assert f'data-auth-mode="{mode}"'.encode() in get("/rag").body


def test_with_a_slash_it_leads_to_the_page() -> None:
    assert (get("/rag/").status_code, get("/rag/").headers["location"]) == (308, "../rag")


@pytest.mark.parametrize("path", ["/rag", "/rag/x/page.css"])
def test_the_setting_hides_it(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_RAG_SEARCH", "false")
    with pytest.raises(NotFoundError):
        get(path)


def test_a_setting_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_RAG_SEARCH", "perhaps")
    with pytest.raises(NotConfiguredError, match="ENABLE_RAG_SEARCH"):
        get("/rag")
