"""Pure: the name of an original file, made of hashes alone: no id leads out of the store.

It ends with what its document was read from, so that no earlier file is taken for a later one.
"""

from __future__ import annotations

import hashlib


def of_project(project_id: str) -> str:
    """Return the folder of a project's originals."""
    return _hashed(project_id)


def of_document(project_id: str, key: str) -> str:
    """Return the folder of a document, by the `key` that it keeps when it is moved."""
    return f"{_hashed(project_id)}/{_hashed(key)}"


def of_original(project_id: str, key: str, content_hash: str) -> str:
    """Return the name of the file that a document in this state was read from."""
    return f"{of_document(project_id, key)}/{_hashed(content_hash)}"


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
