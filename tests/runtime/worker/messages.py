"""The worker's protocol as plain objects: the library only reads and sets attributes."""

from __future__ import annotations

from types import SimpleNamespace

from drift.local.stack.loopback import HOST

SUCCESS = 1


class Message:
    """Any message of the worker's protocol."""

    def __init__(self, **fields: object) -> None:
        """Take any fields."""
        self.__dict__.update(fields)

    def WhichOneof(self, _group: str) -> str | None:  # noqa: N802 - protobuf's name
        """Name the field that is set."""
        return next(
            (name for name, value in vars(self).items() if value is not None and name != "name"),
            None,
        )


class Messages:
    """The namespace that the worker takes its message types from: every name is one."""

    BindingInfo = type(
        "BindingInfo",
        (Message,),
        {"out": 1, "inout": 2, "undefined": 0, "string": 1, "binary": 2, "stream": 3},
    )
    StatusResult = type(
        "StatusResult", (Message,), {"Failure": 0, "Success": SUCCESS, "Cancelled": 2}
    )

    def __getattr__(self, name: str) -> type:
        return type(name, (Message,), {})


MESSAGES = Messages()


def envelope(**request: object) -> SimpleNamespace:
    """Wrap a request as the dispatcher hands it to the library."""
    return SimpleNamespace(
        request=SimpleNamespace(**request), properties={"protos": MESSAGES, "host": HOST}
    )
