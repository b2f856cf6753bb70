"""The project of a request that names none."""

from __future__ import annotations

from drift.auth.caller import Caller, Right
from drift.auth.ranges import readable_ranges
from drift.core.deadline import Deadline
from drift.http.settings import Settings
from drift.http.time_limits import READING_S
from drift.model.reading import PageQuery
from drift.ports import GraphReader


async def meant(
    caller: Caller, right: Right, settings: Settings, reader: GraphReader
) -> str | None:
    """Return that of RAG_PROJECT, or the only one in the graph that the caller may read.

    The graph is asked each time: what was true before a second project came would be the wrong one.
    None where there is no such project; UpstreamError.
    """
    if (named := settings.rag_project) is not None and caller.may(named, right):
        return named
    if settings.graph_schema != "default":  # which answers to any name
        # What a graph without projects is called by who may call it anything.
        return next((one.first or "graph" for one in readable_ranges(caller)), None)
    page = await reader.projects(caller, PageQuery(2), Deadline.after(READING_S))
    return page.rows[0] if len(page.rows) == 1 and page.last is None else None
