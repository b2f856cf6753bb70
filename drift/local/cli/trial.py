"""What `drift serve` says: where its page is, how to ask, and two keys to try AUTH_MODE=keys."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drift.auth.caller import EVERYBODY, Caller, Grant, Right, pattern_problem
from drift.core.deadline import Deadline
from drift.local.cli.key_files import new_entry, new_key, value_of
from drift.local.cli.options import DEMO_PROJECT, DEMO_QUESTION
from drift.model.reading import PageQuery
from drift.ports import GraphReader

NO_PROJECT = "another-project"
"""What the second key opens where the graph holds no second project."""
_LOOKED_AT = 100
_PATIENCE_S = 30.0
_CREDENTIAL = (
    "AUTH_MODE={mode} says who may ask: send such a credential with this. With --auth none nobody "
    "is asked for one.\n"
)


@dataclass(frozen=True, slots=True)
class TrialKey:
    """A key, the one project that it opens, and whether the graph holds that."""

    key: str
    project: str
    is_held: bool


async def choose(reader: GraphReader) -> tuple[TrialKey, TrialKey]:
    """Return new keys of the demo's project and of the first other one that a key can open alone.

    Raises:
        DriftError: the graph cannot be read.
    """
    deadline = Deadline.after(_PATIENCE_S)
    found = await reader.projects(EVERYBODY, PageQuery(_LOOKED_AT), deadline)
    others = (one for one in found.rows if one != DEMO_PROJECT and _can_be_opened_alone(one))
    two = (DEMO_PROJECT, next(others, NO_PROJECT))

    read: frozenset[Right] = frozenset({"read"})
    of_two = Caller("trial", tuple(Grant(project, read) for project in two))
    held = (await reader.projects(of_two, PageQuery(_LOOKED_AT), deadline)).rows
    first, second = (TrialKey(new_key(), project, project in held) for project in two)

    return first, second


def settings_with(keys: Sequence[TrialKey]) -> Mapping[str, str]:
    """Return the settings under which these keys are asked for, and no others."""
    entries = [
        new_entry(one.key, f"trial {number}", [one.project])
        for number, one in enumerate(keys, start=1)
    ]
    return {"AUTH_MODE": "keys", "PROJECT_KEYS": value_of(entries), "PROJECT_KEYS_SECRET": ""}


def where_to_look(url: str, keys: Sequence[TrialKey]) -> str:
    """Return the page's address; a key stands behind the #, which no browser sends."""
    return f"The page to ask in: {url}/rag{f'#key={keys[0].key}' if keys else ''}"


def how_to_ask(
    url: str,
    keys: Sequence[TrialKey],
    mode: str,
    projects: Sequence[str] | None,
    folder: Path | None,
) -> str:
    """Return a command that finds something, or the one that fills a graph without projects.

    `projects` is None where they are not known, `folder` that of a graph of ours.
    """
    if keys:
        mine, other = keys
        return instructions(url, mine, other, folder)

    how = "" if mode == "function" else _CREDENTIAL.format(mode=mode)
    if projects == ():
        sample = ingest_command("--sample", folder)
        return (
            "It holds nothing to ask about yet. This fills it with a sample, the Python reference "
            f"manual, in another terminal; then reload the page:\n\n  {sample}\n\n{how}"
            f"Then:\n\n{asking(url)}"
        )

    if projects is None or DEMO_PROJECT not in projects:
        project = projects[0] if projects else "PROJECT"
        return f"{how}With a question of yours:\n\n{asking(url, None, project, 'QUESTION')}"

    return f"{how}{asking(url)}"


def instructions(url: str, mine: TrialKey, other: TrialKey, folder: Path | None = None) -> str:
    """Return what to type to see a key work, another one refused, and none."""
    return f"""
Two keys, valid until Ctrl-C:

  {mine.key}   opens {mine.project}
  {other.key}   opens {other.project}
{_to_fill(mine, folder)}{_to_fill(other, folder)}
The first one is answered. The last line is the status, 200:

{asking(url, mine.key)}

The second one is for another project, and gets 403:

{asking(url, other.key)}

Without a key it is 401:

{asking(url)}
"""


def asking(
    url: str, key: str | None = None, project: str = DEMO_PROJECT, question: str = DEMO_QUESTION
) -> str:
    """Return a command that asks a question, the demo's, and shows the answer and its status."""
    body = json.dumps({"query": question, "project_id": project})
    shown = f"    -H 'x-api-key: {key}' \\\n" if key else ""
    return (
        f"  curl -sw '\\n%{{http_code}}\\n' {url}/retrieve -H 'content-type: application/json' \\\n"
        f"{shown}    -d {shlex.quote(body)}"
    )


def ingest_command(what: str, folder: Path | None) -> str:
    """Return a command that ingests into the same graph, whichever folder it is typed in."""
    where = f" --data-dir {shlex.quote(str(folder.absolute()))}" if folder else ""
    return f"{shlex.quote(sys.executable)} -m drift ingest {what}{where}"


def _to_fill(one: TrialKey, folder: Path | None) -> str:
    """Return a line that says what to do when a project holds nothing."""
    if one.is_held:
        return ""

    source = "--sample"
    if one.project != DEMO_PROJECT:
        source = f"FOLDER --project {shlex.quote(one.project)}"
    return (
        f"\n{one.project} holds nothing yet. To fill it, in another terminal:\n"
        f"  {ingest_command(source, folder)}\n"
    )


def _can_be_opened_alone(project: str) -> bool:
    """Tell whether a pattern can mean this project and no other."""
    return pattern_problem(project) is None and Grant(project, frozenset()).is_one_project
