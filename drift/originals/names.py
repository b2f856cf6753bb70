"""Pure: under which name the file of a document is kept."""

from __future__ import annotations

import hashlib


def project_folder(project_id: str) -> str:
    """Return what the names of a project's files begin with."""
    return f"{_hashed(project_id)}/"


def original_name(project_id: str, key: str, content_hash: str) -> str:
    """Return the name of the file from which a document in this state was read.

    It is made of hashes: no id leads out of the store, and no earlier file is taken for a later.
    The `key` of a document stays when it is moved.
    """
    return project_folder(project_id) + _hashed(f"{_hashed(key)} {content_hash}")


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:40]
