"""To which project the nodes of a graph belong, as far as they and their edges say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift.graph.connection import Connection
from drift.graph.indexes import PREPARE
from drift.local.prepare import statements
from drift.local.prepare.findings import Survey, share
from drift.local.prepare.kinds import KEYED


class ProjectSurvey:
    """Reads one graph; every method adds to the survey."""

    def __init__(self, connection: Connection, survey: Survey) -> None:
        """Look through the connection; nothing is read yet."""
        self._connection = connection
        self._survey = survey

    async def look_at(self, label: str) -> None:
        """Report nodes of the label whose project is contradictory, ambiguous or no text."""
        states = await self._states_of(label)
        if contradicting := states.get("contradiction"):
            shown = await self._examples(label, "contradiction")
            self._survey.refusals.append(
                f"The `project_id` of some {label} nodes ({contradicting:,}) contradicts their "
                f"IN_PROJECT edge: {shown}. Correct the property or the edge, then {PREPARE} again."
            )

        if several := states.get("several"):
            shown = await self._examples(label, "several")
            self._survey.problems.append(
                f"Some {label} nodes ({several:,}) are in more than one project and get no "
                f"`project_id`: {shown}. Give each project a node of its own."
            )

        if numbers := states.get("no text"):
            shown = await self._examples(label, "no text")
            self._survey.problems.append(
                f"The `project_id` of some {label} nodes ({numbers:,}) is no text, so no request "
                f"finds them: {shown}."
            )

        await self._look_for_duplicates(label)

    async def look_at_project_nodes(self) -> None:
        """Report projects without an id, and those that share one."""
        nodes, named = await self._project_nodes()
        if nameless := nodes - named:
            self._survey.problems.append(f"{share(nameless, nodes, '__Project__')} lack `id`.")

        await self._look_for_duplicates("__Project__", has_project=False)
        if long := await self._connection.rows(statements.LONG_PROJECTS):
            shown = f"'{long[0]['beginning']}...'"
            self._survey.refusals.append(
                f"The `id` of some __Project__ nodes ({len(long):,}) is longer than the "
                f"{statements.MOST_PROJECT_CHARS} characters that a request may name: {shown}. "
                f"Shorten it, then {PREPARE}."
            )

    async def refuse_several(self) -> None:
        """Report that there is more than one project, where the schema has none."""
        nodes, _ = await self._project_nodes()
        if nodes > 1:
            self._survey.refusals.append(
                f"This graph has {nodes:,} __Project__ nodes, and GRAPH_SCHEMA=v1 would answer "
                "each from the data of all: leave GRAPH_SCHEMA out."
            )

    async def what_waits(self, label: str) -> str:
        """Return how many nodes are still to get their project, from their neighbours."""
        nodes = self._survey.states[label]["without"]
        shown = await self._examples(label, "without")
        return (
            f"Some {label} nodes ({nodes:,}: {shown}) have no IN_PROJECT edge; each gets the "
            f"project of its neighbours, where these agree."
        )

    async def tell_what_is_left(self, label: str) -> None:
        """Report the nodes whose project could not be taken from their neighbours either."""
        states = await self._states_of(label)
        nodes = states.get("without", 0)
        if not nodes:
            return

        shown = await self._examples(label, "without")
        self._survey.problems.append(
            f"Some {label} nodes ({nodes:,}: {shown}) have neither an IN_PROJECT edge to a "
            f"__Project__ node with an `id` nor neighbours that agree on one project, so no "
            f"request finds them: connect them, or set `project_id`, and {PREPARE} again."
        )

    async def look_for_duplicates(self) -> None:
        """Look again, now that more nodes have a project."""
        for label in KEYED:
            if self._survey.nodes[label]:
                await self._look_for_duplicates(label)

    async def _look_for_duplicates(self, label: str, *, has_project: bool = True) -> None:
        key = KEYED.get(label, "id")
        text = statements.count_duplicates(label, key, has_project=has_project)
        row = (await self._connection.rows(text))[0]
        if not row["keys"]:
            return

        shown = ", ".join(
            f"'{value}' in '{project}'" if project else f"'{value}'"
            for value, project in row["examples"]
        )
        where = "of one project " if has_project else ""
        self._survey.refusals.append(
            f"Two or more {label} nodes {where}have the same `{key}` ({row['keys']:,} of them, on "
            f"{row['nodes']:,} nodes): {shown}. Remove or rename all but one of each, then "
            f"{PREPARE} again."
        )

    async def _project_nodes(self) -> tuple[int, int]:
        """Return how many projects there are, and how many of them have an id."""
        row = (await self._connection.rows(statements.PROJECTS))[0]
        return row["nodes"], row["named"]

    async def _states_of(self, label: str) -> dict[str, int]:
        """Return, and keep, the nodes of the label by the state of their project."""
        rows = await self._connection.rows(statements.count_states(label))
        states = self._survey.states[label] = {row["state"]: row["nodes"] for row in rows}
        return states

    async def _examples(self, label: str, state: str) -> str:
        text = statements.examples_of_state(label, KEYED[label])
        rows = await self._connection.rows(text, {"state": state})
        return ", ".join(sorted(map(_example, rows)))


def _example(row: Mapping[str, Any]) -> str:
    said = [f"property '{row['stored']}'"] if row["stored"] is not None else []
    said += [f"edge to '{project}'" for project in row["edges"]]
    return f"'{row['key']}' ({', '.join(said)})" if said else f"'{row['key']}'"
