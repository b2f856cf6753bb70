"""A place for original files; which one it is, the settings say."""

from __future__ import annotations

from drift.originals.container import ContainerStore
from drift.originals.folder import FolderStore

DocumentStore = FolderStore | ContainerStore
"""Keeps files by name, whole or not at all; DocumentStoreError where it does not answer."""
