"""Neo4j's own Browser on loopback, for people who want to look at the graph.

The server's distribution on Maven Central is without it, so its files come out of its official jar.
The page speaks Bolt to the database itself: it works with the shared servers as they run, and with
any database that NEO4J_URI names.
"""

from __future__ import annotations

import asyncio
import mimetypes
import sys
import webbrowser
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from drift.core.errors import LocalStackError
from drift.local.hosts.local_host import listening
from drift.local.say import Say
from drift.local.stack.neo4j.maven import fetch_one

BROWSER = "org.neo4j.client:neo4j-browser:5.24.0"
"""The newest on Maven Central; it speaks Bolt 4 and 5, which 5.26 and the calendar versions
understand."""
USUAL_PORT = 17474

_FOLDER = "browser"
_HEADERS = {
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@asynccontextmanager
async def browsing(uri: str, user: str, database: str, cache: Path, say: Say) -> AsyncIterator[str]:
    """Serve Neo4j Browser on loopback while the block runs.

    Yields the address that leads to this database.

    Raises:
        LocalStackError: the Browser is not in the cache and cannot be fetched.
    """
    jar = await asyncio.to_thread(fetch, cache, say)
    with zipfile.ZipFile(jar) as archive:
        async with listening(_app(archive, uri), preferred=USUAL_PORT) as url:
            parts = urlsplit(uri)
            at = urlunsplit(parts._replace(netloc=f"{quote(user)}@{parts.netloc}"))
            yield f"{url}/{_FOLDER}/?{urlencode({'dbms': at, 'db': database})}"


def open_page(address: str) -> None:
    """Open the address in the person's web browser, if somebody sits at a screen."""
    if sys.stderr.isatty() and (sys.platform == "darwin" or _has_screen()):
        webbrowser.open(address)


def _has_screen() -> bool:
    try:
        return isinstance(webbrowser.get(), webbrowser.BackgroundBrowser | webbrowser.UnixBrowser)
    except webbrowser.Error:
        return False


def fetch(cache: Path, say: Say) -> Path:
    """Return the Browser's jar, fetched into the cache when it is not there.

    Raises:
        LocalStackError: it cannot be fetched, or what is there is damaged.
    """
    jar = fetch_one(
        BROWSER,
        cache / "repository",
        lambda: say("Neo4j Browser is fetched from Maven Central, once: 15 MB."),
    )
    if not zipfile.is_zipfile(jar):
        raise LocalStackError(f"{jar} is damaged: delete it and start again.")
    return jar


def _app(archive: zipfile.ZipFile, uri: str) -> Starlette:
    async def discover(request: Request) -> Response:
        """Tell the page where the database is, as a Neo4j server does; lead people to the page."""
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse(f"/{_FOLDER}/", headers=_HEADERS)
        return JSONResponse({"bolt_direct": uri}, headers=_HEADERS)

    async def page(request: Request) -> Response:
        name = f"{_FOLDER}/{request.path_params['path'] or 'index.html'}"
        try:
            content = archive.read(name)
        except KeyError:
            return Response(status_code=404)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(content, media_type=kind, headers=_HEADERS)

    return Starlette(
        routes=[
            Route("/", discover, methods=["GET"]),
            Route(f"/{_FOLDER}", lambda _: RedirectResponse(f"/{_FOLDER}/"), methods=["GET"]),
            Route(f"/{_FOLDER}/{{path:path}}", page, methods=["GET"]),
        ]
    )
