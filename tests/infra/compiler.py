"""The Bicep compiler, where there is one: one process of it answers all questions of a test run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
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
from tests.infra.ways import ALWAYS_SET, Way

NOT_CHECKED = (
    "infra/: no Bicep compiler, so ways to deploy, compiled template and parameters were not "
    f"checked. {HOW_TO_GET_ONE}"
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

    def way(self, file: Path) -> Way:
        """Return the way of a parameter file, with the template's defaults and its snapshot."""
        answer = self.client.compile_params(CompileParamsRequest(file, {}))
        given = _contents(answer.parameters, answer.diagnostics)["parameters"]
        declared = json.loads(answer.template or "{}")["parameters"]
        values = {name: one.get("defaultValue") for name, one in declared.items()}
        values |= {name: one.get("value") for name, one in given.items()}
        return Way(file.stem, values, self.snapshot(file))

    def formatted(self, file: Path) -> str:
        """Return a file in the one layout."""
        return self.client.format(FormatRequest(file)).contents

    def snapshot(self, file: Path) -> dict[str, Any]:
        """Return what a parameter file would deploy; resources by id, outputs by name.

        The engine's own order differs from run to run.
        """
        try:
            answer = self.client.get_snapshot(GetSnapshotRequest(file, WHERE))
        except RuntimeError as error:
            refused = self.client.compile_params(CompileParamsRequest(file, {}))
            _contents(refused.parameters, refused.diagnostics)  # where the compiler says more
            raise RefusedError(str(error)) from error

        made = json.loads(answer.snapshot)
        made["predictedResources"].sort(key=lambda one: (one["type"], one["id"]))
        return {**made, "outputs": dict(sorted(made["outputs"].items()))}


@contextmanager
def started(executable: str) -> Iterator[Compiler]:
    """Start one process of the compiler; it reads this environment, and ALWAYS_SET, once."""
    before = dict(os.environ)
    os.environ.update(ALWAYS_SET)
    try:
        configuration = BicepClientConfiguration(existing_cli_path=executable)
        client = BicepClientFactory().initialize(configuration)
    finally:
        os.environ.clear()
        os.environ.update(before)
    with client:
        yield Compiler(client)


def _contents(contents: str | None, diagnostics: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    if diagnostics or contents is None:
        raise RefusedError("\n".join(map(_sentence, diagnostics)))
    return dict(json.loads(contents))


def _sentence(diagnostic: dict[str, Any]) -> str:
    """Return what the compiler says, with the line that it says it of."""
    file, line = Path(diagnostic["source"]), diagnostic["range"]["start"]["line"]
    lines = file.read_text(encoding="utf-8").splitlines()
    said = lines[line].strip() if line < len(lines) else ""
    return f"{file.name}:{line + 1}: {said}: {diagnostic['code']}: {diagnostic['message']}"
