"""The files that an ingest has read are kept as long as their documents."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from drift.auth.entra import TokenSource
from drift.core.errors import DocumentStoreError
from drift.indexing.documents import Skipped
from drift.local.ingest import originals
from drift.local.ingest.files import document_in
from drift.local.ingest.kinds import hides_secrets
from drift.local.ingest.pipeline import ingest, remove
from drift.local.ingest.sources import read_source
from drift.originals.container import ContainerStore
from drift.originals.folder import FolderStore
from drift.originals.names import original_name, project_folder
from drift.originals.store import DocumentStore
from tests.ingest.fakes import MemoryWriter, context


class KnownToken:
    token, expires_on = "signed-in", 1 << 40

    def get_token(self, *scopes: str) -> KnownToken:
        assert scopes == ("https://storage.azure.com/.default",)
        return self


class Blobs(httpx2.AsyncBaseTransport):
    """A container by the same five calls, whose lists have two names a page."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.status = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert request.headers["authorization"] == "Bearer signed-in"
        assert request.headers["x-ms-version"]
        assert request.url.path.startswith("/documents")
        name = request.url.path.removeprefix("/documents").strip("/")
        if self.status:
            return httpx2.Response(self.status, stream=httpx2.ByteStream(b"<Error>secret</Error>"))
        if request.url.params.get("comp") == "list":
            return self._listed(request.url.params)
        if request.method == "PUT":
            assert request.headers["x-ms-blob-type"] == "BlockBlob"
            self.held[name] = await request.aread()
            return httpx2.Response(201)
        file = self.held.get(name)
        if file is None or request.method == "DELETE":
            self.held.pop(name, None)
            return httpx2.Response(404 if file is None else 202)
        if request.method == "HEAD":
            return httpx2.Response(200, headers={"content-length": str(len(file))})
        begin, end = request.headers["range"].removeprefix("bytes=").split("-")
        return httpx2.Response(206, stream=httpx2.ByteStream(file[int(begin) : int(end) + 1]))

    def _listed(self, asked: httpx2.QueryParams) -> httpx2.Response:
        below = (one for one in self.held if one.startswith(asked["prefix"]))
        names = sorted(one for one in below if one > asked["marker"])
        more = f"<NextMarker>{names[1]}</NextMarker>" if len(names) > 2 else "<NextMarker />"
        blobs = "".join(f"<Blob><Name>{name}</Name></Blob>" for name in names[:2])
        return httpx2.Response(
            200, stream=httpx2.ByteStream(f"<Blobs>{blobs}</Blobs>{more}".encode())
        )


@pytest.fixture
def blobs() -> Blobs:
    return Blobs()


@pytest.fixture(params=["folder", "container"])
def store(request: pytest.FixtureRequest, tmp_path: Path, blobs: Blobs) -> DocumentStore:
    if request.param == "folder":
        return FolderStore(tmp_path / "originals")
    tokens = TokenSource("https://storage.azure.com/.default", KnownToken)
    made = ContainerStore("https://account.test/documents/", tokens)
    made.http = httpx2.AsyncClient(transport=blobs)
    return made


async def whole(store: DocumentStore, name: str) -> bytes | None:
    size = await store.size(name)
    return None if size is None else b"".join([part async for part in store.read(name, 0, size)])


async def held(store: DocumentStore, writer: MemoryWriter) -> dict[str, bytes | None]:
    """What is kept of each document of the project."""
    documents = originals.names_of("p", writer.project("p").documents.values())
    return {one.id: await whole(store, name) for name, one in documents.items()}


async def test_files_follow_their_documents(store: DocumentStore, tmp_path: Path) -> None:
    writer, folder = MemoryWriter(), tmp_path / "docs"
    writer.originals = store
    texts = {f"{n}.md": f"# {n}\n\nThe lamp {n} stands at the pier.\n".encode() for n in "abc"}
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text)

    async def run() -> None:
        source = await asyncio.to_thread(read_source, folder)
        await ingest(source, "p", context(writer))

    await store.put(f"{project_folder('p')}{'0' * 40}", b"of a run that was killed")
    await run()
    assert await held(store, writer) == texts
    assert len(await originals.kept(store, "p")) == 3

    (folder / "a.md").write_bytes(texts["a.md"] + b"It is lit.\n")
    (folder / "b.md").unlink()
    (folder / "c.md").rename(folder / "d.md")
    await run()
    assert await held(store, writer) == {
        "a.md": texts["a.md"] + b"It is lit.\n",
        "d.md": texts["c.md"],
    }
    assert len(await originals.kept(store, "p")) == 2

    for name in await originals.kept(store, "p"):
        await store.remove(name)
    await run()
    assert None not in (await held(store, writer)).values(), "nothing is read anew but for this"

    await store.put(original_name("other", "a.md", "1"), b"another project's")
    await remove(None, "p", context(writer))
    assert not await originals.kept(store, "p")
    assert len(await originals.kept(store, "other")) == 1


@pytest.mark.parametrize(
    "content",
    [
        b'[{"user": "ann", "pass\\u0077ord": "hunter2"}, {"user": "bo", "pass\\u0077ord": "x1"}]',
        b'[{"user": "ann", "secret": ["hunter2", "x"]}, {"user": "bo", "secret": ["hunter3"]}]',
    ],
)
def test_what_a_table_hides_is_not_kept(content: bytes) -> None:
    read = document_in(content, "a.json", None)
    assert not isinstance(read, Skipped)
    assert "hunter2" not in read.text
    assert hides_secrets("a.json", content)
    assert not hides_secrets("a.json", b'[{"lamp": "lit", "at": 1}, {"lamp": "out", "at": 2}]')


async def test_a_file_that_hides_secrets_or_has_changed_is_not_kept(tmp_path: Path) -> None:
    writer, folder = MemoryWriter(), tmp_path / "docs"
    writer.originals = store = FolderStore(tmp_path / "originals")
    folder.mkdir()
    (folder / "a.yaml").write_text("lamp: at the pier\npassword: hunter2hunter2\n")
    (folder / "b.md").write_text("# Lamp\n\nIt stands at the pier.\n")
    source = await asyncio.to_thread(read_source, folder)
    await ingest(source, "p", context(writer))
    assert [name for name, file in (await held(store, writer)).items() if file] == ["b.md"]

    (document,) = (one for one in source.documents if one.id == "b.md")
    (folder / "b.md").write_text("# Lamp\n\nIt stands at the mole.\n")
    assert not isinstance(originals.content_of(document, source, document.content_hash), bytes)


async def test_what_cannot_be_put_leaves_nothing(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "originals")
    (store.folder / "a" / "b").mkdir(parents=True)
    with pytest.raises(DocumentStoreError):
        await store.put("a/b", b"no file takes the place of a folder")
    assert [one.name for one in store.folder.rglob("*")] == ["a", "b"]


@pytest.mark.parametrize("store", ["container"], indirect=True)
async def test_a_store_that_is_down_stops_an_ingest_at_its_end(
    store: DocumentStore, blobs: Blobs, tmp_path: Path
) -> None:
    writer, blobs.status = MemoryWriter(), 503
    writer.originals = store
    (tmp_path / "b.md").write_text("# Lamp\n\nIt stands at the pier.\n")
    source = await asyncio.to_thread(read_source, tmp_path)
    with pytest.raises(DocumentStoreError):
        await ingest(source, "p", context(writer))
    assert set(writer.project("p").documents) == {"b.md"}


@pytest.mark.parametrize("store", ["container"], indirect=True)
@pytest.mark.parametrize("status", [403, 500, 503])
async def test_a_container_that_refuses_is_an_error_of_ours(
    store: DocumentStore, blobs: Blobs, status: int
) -> None:
    await store.put("a/b", b"lamp")
    assert (await store.size("a/b"), await store.size("a/c")) == (4, None)
    assert [part async for part in store.read("a/c", 0, 4)] == []
    blobs.status = status
    with pytest.raises(DocumentStoreError) as told:
        await store.size("a/b")
    assert "secret" not in str(told.value)
    blobs.status = 404
    with pytest.raises(DocumentStoreError):
        await store.put("a/b", b"no container")
