"""Documents read from a container of Azure's blob storage, without a key.

A blob is known by its ETag, which its listing tells: one that did not change is not fetched.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from drift.auth.entra import identity
from drift.core import source_uri
from drift.core.errors import IngestError
from drift.http.settings import environment
from drift.indexing.documents import Skipped, SourceDocument, ending_of
from drift.local.ingest import sources
from drift.local.ingest.files import MAX_FILE_BYTES, SourceFile, printable
from drift.local.ingest.kinds import ranked, why_ignored
from drift.local.ingest.places import REMOTE
from drift.local.ingest.selection import EVERYTHING, Selection
from drift.local.ingest.site_files import OF_SITES, generated_among
from drift.local.ingest.sources import Source

if TYPE_CHECKING:
    from azure.storage.blob import BlobProperties, ContainerClient

ENDPOINT = "AZURE_STORAGE_BLOB_ENDPOINT"
"""The account's address, where it is not at blob.core.windows.net."""
ETAG = "etag "
"""What stands before the ETag by which a blob is known."""

_PLACE = re.compile(r"az://([a-z0-9]{3,24})/(\$root|\$web|[a-z0-9](?:-?[a-z0-9]){2,62})(?:/(.*))?")
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_EMULATED = "devstoreaccount1"
_COMPRESSED = frozenset({"br", "deflate", "gzip", "zstd"})
_PATIENCE: dict[str, Any] = {
    "connection_timeout": 10,
    "read_timeout": 30,
    "initial_backoff": 1,
    "increment_base": 2,
    "retry_connect": 1,
    "max_single_get_size": MAX_FILE_BYTES,
}
_SIGN_IN = "Sign in with `az login`, or run this with a managed identity or a service principal"
_ROLE = (
    "Give whoever is signed in the role Storage Blob Data Reader on it, which takes up to ten "
    "minutes, and see whether its network rules let this machine in"
)


@dataclass(frozen=True, slots=True)
class BlobPlace:
    """A container, or what is below a prefix in it; `address` is that of its account."""

    account: str
    container: str
    prefix: str
    address: str

    @property
    def name(self) -> str:
        """What the source is called."""
        return f"{REMOTE}{self.account}/{self.container}" + (self.prefix and f"/{self.prefix}")


@dataclass(frozen=True, slots=True)
class Blob(SourceFile):
    """A blob of a container; `path` is its whole name, and `content_hash` says its ETag."""

    place: BlobPlace = BlobPlace("", "", "", "")
    blob: str = ""

    def loaded(self) -> Blob | Skipped:
        """Return it with its content, if that is still the one of its ETag, or why it is not."""
        from azure.core import MatchConditions  # noqa: PLC0415 - an extra
        from azure.core.exceptions import AzureError  # noqa: PLC0415 - the same

        try:
            stream = client_of(self.place).download_blob(
                self.blob,
                etag=f'"{self.content_hash.removeprefix(ETAG)}"',
                match_condition=MatchConditions.IfNotModified,
                decompress=False,
            )
            return replace(self, content=stream.readall())
        except AzureError as error:
            return Skipped(self.id, _about_blob(error), unreadable=True)

    def read(self) -> SourceDocument | Skipped:
        """Return it as a document, or why it is none."""
        read = SourceFile.read(self)
        return read if isinstance(read, Skipped) else replace(read, content_hash=self.content_hash)


def place_of(given: str, endpoint: str | None = None) -> BlobPlace:
    """Return the place that `az://ACCOUNT/CONTAINER[/PREFIX]` names; IngestError for none."""
    found = _PLACE.fullmatch(given)
    if found is None or printable(given) != given:
        raise IngestError(
            f"{printable(given)} is no place of blobs: expected az://ACCOUNT/CONTAINER or "
            f"az://ACCOUNT/CONTAINER/PREFIX, with the names that the Azure portal shows."
        )
    account, container, prefix = found[1], found[2], (found[3] or "").rstrip("/")
    endpoint = environment().get(ENDPOINT, "") if endpoint is None else endpoint
    address = endpoint.rstrip("/") or f"https://{account}.blob.core.windows.net"
    parts = urlsplit(address)
    is_own = account in {(parts.hostname or "").partition(".")[0], parts.path.strip("/")}
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(address))
    if not (is_own and is_safe) or parts.query or "@" in parts.netloc:
        raise IngestError(
            f"{ENDPOINT} has to be the https address of the account {account}, such as "
            f"https://{account}.blob.core.usgovcloudapi.net, or that of an emulator on this "
            f"machine. Change it, or leave it out."
        )
    return BlobPlace(account, container, prefix, address)


def require_package() -> None:
    """Raise IngestError where Azure's package for blobs is not installed."""
    try:
        import_module("azure.storage.blob")
    except ImportError as error:
        raise IngestError(
            "az:// needs Azure's package for blobs: pip install 'drift-neo4j[blobs]'."
        ) from error


def read_container(
    given: str,
    uri_prefix: str = "",
    *,
    may_be_empty: bool = False,
    selection: Selection = EVERYTHING,
) -> Source:
    """Return the blobs of a place as `read_source` does the files of a folder; none is fetched.

    IngestError when it cannot be listed, or nothing in it can be read.
    """
    place = place_of(given)
    require_package()
    from azure.core.exceptions import AzureError  # noqa: PLC0415 - an extra

    blobs: list[BlobProperties] = []
    is_file = False
    try:
        blobs += _listed(place, place.prefix and f"{place.prefix}/")
        if not blobs and place.prefix:
            # A blob stands before all others whose names begin with its own.
            first = next(_listed(place, place.prefix), None)
            is_file = first is not None and first.name == place.prefix
            blobs = [first] if first is not None and is_file else []
    except AzureError as error:
        if not (may_be_empty and _code(error) == "ContainerNotFound"):
            raise IngestError(about_place(place, error)) from error

    source = _sorted_in(place, blobs, uri_prefix, selection, is_file=is_file)
    if not source.documents and not may_be_empty:
        raise IngestError(sources.nothing_read(source, source.skipped))
    return source


def _listed(place: BlobPlace, begin: str) -> Iterator[BlobProperties]:
    yield from client_of(place).list_blobs(name_starts_with=begin or None, include=["metadata"])


def _sorted_in(
    place: BlobPlace,
    blobs: list[BlobProperties],
    uri_prefix: str,
    selection: Selection,
    *,
    is_file: bool,
) -> Source:
    found: list[Blob | Skipped] = []
    ignored: Counter[tuple[str, str]] = Counter()
    below = place.prefix.rpartition("/")[0] if is_file else place.prefix
    cut = len(below) + 1 if below else 0
    at = "/".join(filter(None, (place.address, place.container, quote(below))))
    generated = generated_among(blob.name[cut:] for blob in blobs)
    for blob in blobs:
        name = blob.name[cut:]
        if name.endswith("/") or not name or (blob.metadata or {}).get("hdi_isfolder"):
            continue  # what stands for a folder
        is_wanted = selection.wants(name)
        if reason := selection.why_not(name):
            ignored[ending_of(name), reason] += 1
        elif kind := why_ignored(name, is_wanted=is_wanted):
            ignored[kind] += 1
        elif name in generated and not is_wanted:
            ignored[ending_of(name), OF_SITES] += 1
        elif reason := _why_skipped(blob):
            found.append(Skipped(name, reason, unreadable=blob.blob_tier == "Archive"))
        else:
            etag = ETAG + blob.etag.strip('"')
            changed = int(blob.last_modified.timestamp() * 1000)
            uri = source_uri.below(uri_prefix or at, name)
            found.append(Blob(Path(name), name, etag, changed, uri, place=place, blob=blob.name))

    return Source(
        place.name,
        tuple(sorted((one for one in found if isinstance(one, Blob)), key=lambda one: one.id)),
        tuple(one for one in found if isinstance(one, Skipped)),
        ranked(ignored),
        is_file=is_file,
        selection=selection,
    )


def _why_skipped(blob: BlobProperties) -> str:
    if blob.size > MAX_FILE_BYTES:
        return f"has {blob.size:,} bytes, more than {MAX_FILE_BYTES:,}"
    if blob.blob_tier == "Archive":
        return "is in the archive tier: rehydrate it to have it read"
    encoding = blob.content_settings.content_encoding or ""
    return f"is stored as {encoding}: store it unpacked" if encoding in _COMPRESSED else ""


def _is_loopback(address: str) -> bool:
    return urlsplit(address).hostname in _LOOPBACK


@lru_cache(maxsize=4)
def client_of(place: BlobPlace) -> ContainerClient:
    """Return what reads and writes a container; only the emulator gets the key all know."""
    from azure.storage.blob import ContainerClient  # noqa: PLC0415 - an extra

    logging.getLogger("azure.storage").setLevel(logging.ERROR)
    credential: Any
    if place.account == _EMULATED and _is_loopback(place.address):
        known = ContainerClient.from_connection_string("UseDevelopmentStorage=true", "known")
        credential = {"account_name": _EMULATED, "account_key": known.credential.account_key}
    else:
        credential = identity(None)
    return ContainerClient(place.address, place.container, credential=credential, **_PATIENCE)


def _code(error: Exception) -> str:
    return str(getattr(error, "error_code", None) or getattr(error, "status_code", None) or "")


def _about_blob(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    if status in {404, 412}:
        return "has changed or vanished since it was listed: it may just be written"
    if status == 403:  # noqa: PLR2004 - as HTTP has it
        return "may not be read by who is signed in"
    return f"cannot be fetched ({_code(error) or type(error).__name__})"


def about_place(place: BlobPlace, error: Exception) -> str:
    """Return a sentence about what Azure says of a place, and what to do."""
    status, code = getattr(error, "status_code", None), _code(error)
    if status == 403:  # noqa: PLR2004 - as HTTP has it
        return f"{place.name} may not be read by who is signed in ({code}). {_ROLE}."
    if status == 404:  # noqa: PLR2004 - the same
        return (
            f"The account {place.account} has no container {place.container}. Name one that "
            f"exists.{sources.TO_EMPTY}"
        )
    if status is not None and status != 401:  # noqa: PLR2004 - the same
        return f"{place.name} cannot be listed ({status} {code}). Try it again later."
    if type(error).__name__ in {"ServiceRequestError", "ServiceRequestTimeoutError"}:
        return (
            f"No account answers at {place.address}. See whether {place.account} is its name, and "
            f"this machine reaches it; for another cloud {ENDPOINT} says where it is."
        )
    if type(error).__name__ in {"ClientAuthenticationError", "CredentialUnavailableError"}:
        return f"Nobody is signed in who can read {place.name}. {_SIGN_IN}."
    return f"{place.name} cannot be listed ({code or type(error).__name__}). Try it again later."
