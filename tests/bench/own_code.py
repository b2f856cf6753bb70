"""Ten questions about this repository: whether one of the first three citations is the right one.

The files that Git knows are ingested as they are; a citation is right in a file that answers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from drift.local.cli.ingestion import ingest_documents
from drift.local.cli.placing import placed
from drift.local.cli.servers import running
from drift.local.hosts.local_host import serving
from drift.local.ingest.sources import read_source
from tests.bench.command import Options, read_options, run, show, stack_of

ROOT = Path(__file__).parents[2]
QUESTIONS = Path(__file__).parent / "code_questions" / "questions.jsonl"
FIRST = 3


async def bench(asked: Options) -> None:
    """Ingest the repository, and ask in turn."""
    with TemporaryDirectory() as folder:
        _copy(Path(folder))
        async with running(stack_of(asked)) as (_, values), placed(values) as place:
            await ingest_documents(values, read_source(Path(folder)), asked.project, place)
            async with serving() as url, httpx2.AsyncClient(timeout=240, trust_env=False) as client:
                right = 0
                for one in map(json.loads, QUESTIONS.read_text().splitlines()):
                    body = {
                        "query": one["question"],
                        "project_id": asked.project,
                        "include": ["references"],
                    }
                    reply = (await client.post(f"{url}/retrieve", json=body)).raise_for_status()
                    items = reply.json()["references"]["items"][:FIRST]
                    labels = [item["label"] for item in items]
                    is_right = any(label.rsplit(":", 1)[0] in one["places"] for label in labels)
                    right += is_right
                    show({"question": one["question"], "right": is_right, "cited": labels}, asked)
    show({"right": right}, asked)


def _copy(folder: Path) -> None:
    """Copy what Git knows of this repository."""
    git = shutil.which("git") or "git"
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)  # noqa: S603 - names come from here
    for name in filter(None, listed.stdout.decode().split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)


if __name__ == "__main__":
    run(bench, read_options(__doc__, servers=True, project=("own-code", "where it is ingested")))
