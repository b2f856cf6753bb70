"""Names and marks of what is kept in Redis: whoever else uses it can delete it, not forge it."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

_MARK_BYTES = 32


def secret_of(password: str) -> bytes:
    """Return what the service's processes alone know, and whoever else uses Redis does not.

    It is made of the graph's password, slowly: marks of entries must not help to guess that.
    """
    salt = b"drift cache entries"
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32)


@dataclass(frozen=True, slots=True)
class Seal:
    """Signs keys and entries with a secret that the service's processes alone know."""

    secret: bytes = field(repr=False)

    def name(self, key: str) -> str:
        """Return the name that a key has in Redis; what stands before its first colon is kept."""
        return f"{key.partition(':')[0]}:{self._mark(b'key', key).hex()}"

    def close(self, key: str, entry: bytes) -> bytes:
        """Return an entry as it is kept under a key."""
        return self._mark(b"entry", key, entry) + entry

    def open(self, key: str, stored: object) -> bytes | None:
        """Return the entry that was kept under a key; None for anything else."""
        if not isinstance(stored, bytes):
            return None
        mark, entry = stored[:_MARK_BYTES], stored[_MARK_BYTES:]
        return entry if hmac.compare_digest(mark, self._mark(b"entry", key, entry)) else None

    def _mark(self, of: bytes, key: str, entry: bytes = b"") -> bytes:
        return hmac.digest(self.secret, b"\n".join((of, key.encode(), entry)), "sha256")
