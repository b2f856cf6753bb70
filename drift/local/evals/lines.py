"""Files of one JSON object a line, checked as they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from drift.core.errors import IngestError


class Line(BaseModel):
    """A line; ids and answers may be numbers."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


Shape = TypeVar("Shape", bound=Line)


def read_lines(path: Path, shape: type[Shape]) -> list[Shape]:
    """Return the lines of a file in its order; empty ones are left out.

    Raises:
        IngestError: when the file cannot be read, or a line is not of this shape; it is named.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise IngestError(f"{path} cannot be read: {error}.") from error

    read = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                read.append(shape.model_validate_json(line))
        except ValidationError as error:
            reason = " ".join(str(error).split())
            raise IngestError(f"{path}, line {number}: {reason}.") from error
    return read
