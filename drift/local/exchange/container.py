"""An exported folder in a container of Azure's blob storage, by the identity of who is signed in.

`project.json` goes up last and comes down first: without it nothing there is an export. Nothing is
written over one that is whole.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from drift.core.errors import IngestError
from drift.local.exchange.folder import MANIFEST
from drift.local.ingest.blobs import BlobPlace, about_place, client_of, place_of, require_package
from drift.local.ingest.places import REMOTE

_FILE = re.compile(r"project\.json|nodes\.jsonl|edges\.jsonl|vectors-[^/\\:]+\.f32")
_TO_WRITE = " To write there takes the role Storage Blob Data Contributor."


@asynccontextmanager
async def written_to(given: str) -> AsyncIterator[Path]:
    """Give the folder to write an export into; what is to be in a container goes there afterwards.

    Raises:
        IngestError: the container holds an export there, or cannot be read or written.
    """
    if not given.startswith(REMOTE):
        yield Path(given)
        return
    place = _place(given)
    await asyncio.to_thread(_told, place, _require_room)
    with tempfile.TemporaryDirectory() as beside:
        yield (folder := Path(beside) / "project")
        await asyncio.to_thread(_told, place, _upload, folder)


@asynccontextmanager
async def read_from(given: str) -> AsyncIterator[Path]:
    """Give the folder of an export; that of a container is fetched, and told by its own name.

    Raises:
        IngestError: the container holds no export there, or cannot be read.
    """
    if not given.startswith(REMOTE):
        yield Path(given)
        return
    place = _place(given)
    with tempfile.TemporaryDirectory() as beside:
        await asyncio.to_thread(_told, place, _download, Path(beside))
        try:
            yield Path(beside)
        except IngestError as error:
            raise IngestError(error.detail.replace(beside, place.name)) from error


def _place(given: str) -> BlobPlace:
    place = place_of(given)
    require_package()
    if not place.prefix:
        raise IngestError(
            f"{given} is a whole container, and an export is one of many in it: name a place in "
            f"it, such as {place.name}/2026-12-01/NAME."
        )
    return place


def _told(place: BlobPlace, work: Callable[..., None], *more: Path) -> None:
    """Do the work with a place; what Azure says becomes a sentence."""
    from azure.core.exceptions import AzureError  # noqa: PLC0415 - an extra

    try:
        work(place, *more)
    except AzureError as error:
        is_denied = getattr(error, "status_code", None) == 403  # noqa: PLR2004 - as HTTP has it
        raise IngestError(about_place(place, error) + _TO_WRITE * is_denied) from error
    except OSError as error:
        raise IngestError(
            f"What goes to {place.name}, or comes from it, finds no room on this machine "
            f"({error.strerror or error})."
        ) from error


def _require_room(place: BlobPlace) -> None:
    if client_of(place).get_blob_client(f"{place.prefix}/{MANIFEST}").exists():
        raise IngestError(f"{place.name} holds an export, which stays: name another place.")


def _upload(place: BlobPlace, folder: Path) -> None:
    _require_room(place)
    paths = sorted(folder.iterdir(), key=lambda path: path.name == MANIFEST)
    for path in paths:
        with path.open("rb") as file:
            client_of(place).upload_blob(
                f"{place.prefix}/{path.name}", file, overwrite=path.name != MANIFEST
            )


def _download(place: BlobPlace, folder: Path) -> None:
    client, begin = client_of(place), f"{place.prefix}/"
    names = {blob.name.removeprefix(begin) for blob in client.list_blobs(name_starts_with=begin)}
    if MANIFEST not in names:
        raise IngestError(
            f"{place.name} holds no exported project: there is no {MANIFEST} in it. One whose "
            f"export was cut short has none: name one that is whole."
        )
    for name in names:
        if _FILE.fullmatch(name):
            with (folder / name).open("wb") as file:
                client.download_blob(f"{begin}{name}").readinto(file)
