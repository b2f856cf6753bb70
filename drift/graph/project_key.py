"""A project's name as one word of a full-text index."""

from __future__ import annotations

import hashlib


def project_key(project_id: str) -> str:
    """Return the word that stands for `project_id` in the full-text index.

    An analyser cuts most ids into words that other projects share (`team-2` is found inside
    `team-2-b`); a hash stays whole. It makes a project's chunks findable; the exact `project_id`
    behind it keeps projects apart.
    """
    return "p" + hashlib.sha256(project_id.encode()).hexdigest()[:24]
