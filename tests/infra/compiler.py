"""The Bicep compiler, where there is one: one process of it answers all questions of a test run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anthonycmartin.bicep_rpc_client import (
    BicepClient,
    BicepClientConfiguration,
    BicepClientFactory,
    CompileParamsRequest,
    CompileRequest,
    FormatRequest,
    GetSnapshotRequest,
    SnapshotMetadata,
)

from drift.local.infra.bicep_compiler import HOW_TO_GET_ONE
from tests.infra.ways import ALWAYS_SET

NOT_CHECKED = (
    "infra/: no Bicep compiler, so snapshots, compiled template and parameters were not checked. "
    f"{HOW_TO_GET_ONE}"
)

WHERE = SnapshotMetadata(
    tenant_id="22222222-2222-2222-2222-222222222222",
    subscription_id="11111111-1111-1111-1111-111111111111",
    location="westeurope",
    deployment_name="drift",
)
"""The subscription of the committed snapshots: names are made of it."""


class RefusedError(Exception):
    """The compiler or the deployment engine refuses; the text says why."""


class Compiler:
    """Templates and parameters as the real compiler and Azure's deployment engine read them."""

    def __init__(self, client: BicepClient) -> None:
        self.client = client

    def compiled(self, template: Path) -> dict[str, Any]:
        """Return the template that is sent to Azure."""
        answer = self.client.compile(CompileRequest(template))
        return _contents(answer.contents, answer.diagnostics)

    def parameters(self, file: Path, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the parameters of a parameter file, name to value."""
        answer = self.client.compile_params(CompileParamsRequest(file, dict(overrides or {})))
        found = _contents(answer.parameters, answer.diagnostics)["parameters"]
        return {name: one.get("value") for name, one in found.items()}

    def formatted(self, file: Path) -> str:
        """Return a file in the one layout."""
        return self.client.format(FormatRequest(file)).contents

    def snapshot(self, file: Path) -> dict[str, Any]:
        """Return what a parameter file would deploy, in an order that does not change from run to
        run.
        """
        try:
            answer = self.client.get_snapshot(GetSnapshotRequest(file, WHERE))
        except RuntimeError as error:
            self.parameters(file)  # the compiler's own sentence, where it is the one that refuses
            raise RefusedError(str(error)) from error
        return in_order(json.loads(answer.snapshot))


def in_order(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Return a snapshot with outputs by name and resources by id.

    The engine's own order differs from run to run.
    """
    resources = sorted(snapshot["predictedResources"], key=lambda one: (one["type"], one["id"]))
    outputs = dict(sorted(snapshot["outputs"].items()))
    return {
        "predictedResources": resources,
        "diagnostics": snapshot["diagnostics"],
        "outputs": outputs,
    }


@contextmanager
def started(executable: str, variables: Mapping[str, str] | None = None) -> Iterator[Compiler]:
    """Start one process of the compiler; it reads this environment, and `variables`, once."""
    before = dict(os.environ)
    os.environ.update(ALWAYS_SET if variables is None else variables)
    try:
        client = BicepClientFactory().initialize(
            BicepClientConfiguration(existing_cli_path=executable)
        )
    finally:
        os.environ.clear()
        os.environ.update(before)
    with client:
        yield Compiler(client)


def _contents(contents: str | None, diagnostics: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    if diagnostics or contents is None:
        raise RefusedError("\n".join(map(_sentence, diagnostics)))
    return dict(json.loads(contents))


def _sentence(diagnostic: Mapping[str, Any]) -> str:
    """Return what the compiler says, with the line that it says it of."""
    file, line = Path(diagnostic["source"]), diagnostic["range"]["start"]["line"]
    lines = file.read_text(encoding="utf-8").splitlines()
    said = lines[line].strip() if line < len(lines) else ""
    return f"{file.name}:{line + 1}: {said}: {diagnostic['code']}: {diagnostic['message']}"
