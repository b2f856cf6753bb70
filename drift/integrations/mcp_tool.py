"""A tool of the Model Context Protocol: its schemas, its arguments, and its errors in our words."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from drift.contracts.strict_schema import inlined
from drift.core.errors import NotFoundError
from drift.http import http


def tool_of(work: Callable[..., Any], title: str, *, is_repeatable: bool = True) -> Tool:
    """Return a tool with schemas that stand alone."""
    hints = ToolAnnotations(
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=is_repeatable,
        open_world_hint=False,
    )
    about, called = cleandoc(work.__doc__ or ""), guarded(work, ToolError, ToolError)
    tool = _Tool.from_function(called, title=title, description=about, annotations=hints)

    shape = tool.fn_metadata
    shape.arg_model.model_config["extra"] = "forbid"
    shape.arg_model.model_rebuild(force=True)
    tool.parameters = inlined(shape.arg_model.model_json_schema())
    shape.output_schema = inlined(shape.output_schema)

    return tool


class _Tool(Tool):
    """A tool that says in our words what is wrong with its arguments.

    Clients send null for what they leave out, and arguments of their own, which are ignored.
    """

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:  # noqa: ANN401 - that of the tool
        """Run the tool; ToolError names each wrong argument."""
        known = self.fn_metadata.arg_model.model_fields
        given = {name: arguments[name] for name in known if arguments.get(name) is not None}
        others = ", ".join(sorted(set(arguments) - set(known)))[:200]
        ignored = f" These arguments are not known and were ignored: {others}." if others else ""
        try:
            self.fn_metadata.validate_arguments(given)
        except ValidationError as error:
            problems = http.field_problems(error, "is no argument of this tool")
            told = "; ".join(f"{one.field} {one.message}" for one in problems)
            raise ToolError(f"Error executing tool {self.name}: {told}.{ignored}") from None
        try:
            return await super().run(given, context, convert_result)
        except ToolError as error:
            raise ToolError(f"{error}{ignored}") from None


def guarded(
    work: Callable[..., Any], kind: type[Exception], missing: type[Exception]
) -> Callable[..., Any]:
    """Have errors become those of the protocol, in words that callers may read."""

    @wraps(work)
    async def called(**given: Any) -> Any:  # noqa: ANN401 - those of the tool
        try:
            return await work(**given)
        except ToolError:
            raise
        except Exception as error:  # noqa: BLE001 - it becomes an answer
            told = missing if isinstance(error, NotFoundError) else kind
            raise told(http.log_failure(error, {}, "/mcp").detail) from None

    return called
