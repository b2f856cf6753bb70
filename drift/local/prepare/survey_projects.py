"""To which project the nodes of a graph belong, as far as they and their edges say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drift.graph.connection import Connection
from drift.graph.indexes import PREPARE
from drift.local.prepare import preparing_statements as statements
from drift.local.prepare.findings import Survey
from drift.local.prepare.kinds import KEYED

_WRONG = {
    "contradiction": "The `project_id` of some {label} nodes ({nodes:,}) contradicts their "
    f"IN_PROJECT edge: {{shown}}. Correct the property or the edge, then {PREPARE} again.",
    "several": "Some {label} nodes ({nodes:,}) are in more than one project and get no "
    "`project_id`: {shown}. Give each project a node of its own.",
    "no text": "The `project_id` of some {label} nodes ({nodes:,}) is no text, so no request "
    "finds them: {shown}.",
}
"""What is said of nodes by the state of their project."""


@dataclass(frozen=True, slots=True)
class ProjectSurvey:
    """Reads one graph; every method adds to the survey."""

    connection: Connection
    survey: Survey

    async def look_at(self, label: str) -> None:
        """Report nodes of the label whose project is contradictory, ambiguous or no text."""
        states = await self._states_of(label)
        for state, sentence in _WRONG.items():
            if nodes := states.get(state):
                shown = await self._examples(label, state)
                said = sentence.format(label=label, nodes=nodes, shown=shown)
                is_refused = state == "contradiction"
                (self.survey.refusals if is_refused else self.survey.problems).append(said)

        await self._look_for_duplicates(label)

    async def look_at_project_nodes(self) -> None:
        """Report projects without an id, and those that share one."""
        nodes, named = await self._project_nodes()
        if nameless := nodes - named:
            some = self.survey.some_of("__Project__", nameless)
            self.survey.problems.append(f"{some} lack `id`.")

        await self._look_for_duplicates("__Project__", has_project=False)
        if long := await self.connection.rows(statements.LONG_PROJECTS):
            shown = f"'{long[0]['beginning']}...'"
            self.survey.refusals.append(
                f"The `id` of some __Project__ nodes ({len(long):,}) is longer than the "
                f"{statements.MOST_PROJECT_CHARS} characters that a request may name: {shown}. "
                f"Shorten it, then {PREPARE}."
            )

    async def refuse_several(self) -> None:
        """Report that there is more than one project, where the schema has none."""
        nodes, _ = await self._project_nodes()
        if nodes > 1:
            self.survey.refusals.append(
                f"This graph has {nodes:,} __Project__ nodes, and this GRAPH_SCHEMA would answer "
                "each from the data of all: leave GRAPH_SCHEMA out."
            )

    async def what_waits(self, label: str) -> str:
        """Return how many nodes are still to get their project, from their neighbours."""
        nodes = self.survey.states[label]["without"]
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
        self.survey.problems.append(
            f"Some {label} nodes ({nodes:,}: {shown}) have neither an IN_PROJECT edge to a "
            f"__Project__ node with an `id` nor neighbours that agree on one project, so no "
            f"request finds them: connect them, or set `project_id`, and {PREPARE} again."
        )

    async def look_for_duplicates(self) -> None:
        """Look again, now that more nodes have a project."""
        for label in KEYED:
            if self.survey.nodes[label]:
                await self._look_for_duplicates(label)

    async def _look_for_duplicates(self, label: str, *, has_project: bool = True) -> None:
        key = KEYED.get(label, "id")
        text = statements.count_duplicates(label, key, has_project=has_project)
        row = (await self.connection.rows(text))[0]
        if not row["keys"]:
            return

        shown = ", ".join(
            f"'{value}' in '{project}'" if project else f"'{value}'"
            for value, project in row["examples"]
        )
        where = "of one project " if has_project else ""
        self.survey.refusals.append(
            f"Two or more {label} nodes {where}have the same `{key}` ({row['keys']:,} of them, on "
            f"{row['nodes']:,} nodes): {shown}. Remove or rename all but one of each, then "
            f"{PREPARE} again."
        )

    async def _project_nodes(self) -> tuple[int, int]:
        row = (await self.connection.rows(statements.PROJECTS))[0]
        self.survey.nodes["__Project__"] = row["nodes"]
        return row["nodes"], row["named"]

    async def _states_of(self, label: str) -> dict[str, int]:
        """Return, and keep, the nodes of the label by the state of their project."""
        rows = await self.connection.rows(statements.count_states(label))
        states = self.survey.states[label] = {row["state"]: row["nodes"] for row in rows}
        return states

    async def _examples(self, label: str, state: str) -> str:
        text = statements.examples_of_state(label, KEYED[label])
        rows = await self.connection.rows(text, {"state": state})
        return ", ".join(sorted(map(_example, rows)))


def _example(row: Mapping[str, Any]) -> str:
    said = [f"property '{row['stored']}'"] if row["stored"] is not None else []
    said += [f"edge to '{project}'" for project in row["edges"]]
    return f"'{row['key']}' ({', '.join(said)})" if said else f"'{row['key']}'"
