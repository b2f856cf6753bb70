"""The licences of what is deployed, as each package's own metadata says them.

Only those listed here are allowed.

`python -m tests.dependencies.licenses FOLDER` prints docs/licenses.md from the packages installed
in FOLDER.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.metadata import Distribution

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from tests.dependencies.lock import installed, locked

ALLOWED = {
    "0BSD": "permissive, without any condition",
    "Apache-2.0": "permissive, grants patents: its notice stays in the package",
    "BSD-3-Clause": "permissive: its notice stays in the package",
    "CC0-1.0": "its rights are given up",
    "ISC": "permissive: its notice stays in the package",
    "MIT": "permissive: its notice stays in the package",
    "MIT-0": "permissive, without any condition",
    "MPL-2.0": "copyleft for its own files only, and they are used unchanged",
    "PSF-2.0": "permissive: its notice stays in the package",
    "Python-2.0": "permissive: its notice stays in the package",
    "Zlib": "permissive: who changes it says so",
}
"""SPDX identifiers, and why a closed product may use what has this licence."""
NAMES = {"3-Clause BSD License": "BSD-3-Clause"}
"""Other names that packages give for a licence with an SPDX identifier."""
CLASSIFIERS = {"License :: OSI Approved :: MIT License": "MIT"}
"""What packages without an SPDX expression say; BSD and Apache are missing: their classifiers name
no version."""

BSD_3_CLAUSES = (
    "Redistributions of source code must retain",
    "Redistributions in binary form must reproduce",
    "Neither the name of",
)
"""The beginnings of the three conditions; a licence with two of them is another one."""
APACHE_2 = re.compile(
    r"\s*Apache License\s+Version 2\.0, January 2004\s.*limitations under the License\.\s*",
    re.DOTALL,
)
"""Its whole text, from the head to the last words."""

_REASONS = "".join(f"| {one} | {why} |\n" for one, why in ALLOWED.items())
HEAD = f"""# Licences of what is deployed

Made by `make licenses` from [requirements.lock](../requirements.lock) and each package's own
metadata. `make test` and CI refuse any other licence, or none, until
`tests/dependencies/licenses.py` lists it with a reason. Of a choice of licences all must be
allowed.

| licence (SPDX) | why it is allowed |
|---|---|
{_REASONS}
"""


def licence(package: Distribution) -> str | None:
    """Return a package's licence as an SPDX expression; None when its metadata is not clear."""
    metadata = package.metadata
    for field in ("License-Expression", "License"):
        if field in metadata:
            try:
                return canonicalize_license_expression(NAMES.get(metadata[field], metadata[field]))
            except InvalidLicenseExpression:
                continue  # older metadata holds any text, down to the whole licence
    said = [one for one in metadata.get_all("Classifier") or [] if one.startswith("License ::")]
    if said and set(said) <= set(CLASSIFIERS):
        return " AND ".join(CLASSIFIERS[one] for one in said)
    return _by_its_text(package)


def _by_its_text(package: Distribution) -> str | None:
    """Return the licence whose own words stand in a package's licence file; None for others."""
    texts = [
        package.read_text(name) or package.read_text(f"licenses/{name}") or ""
        for name in package.metadata.get_all("License-File", [])
    ]
    if len(texts) != 1:
        return None
    if APACHE_2.fullmatch(texts[0]):
        return "Apache-2.0"
    return "BSD-3-Clause" if all(clause in texts[0] for clause in BSD_3_CLAUSES) else None


def reasons(expression: str | None) -> list[str]:
    """Return why a licence is allowed, once each.

    Raises:
        ValueError: when it is unknown, or one of its licences is not allowed.
    """
    identifiers = [
        one for one in re.findall(r"[^()\s]+", expression or "none") if one not in {"AND", "OR"}
    ]
    if refused := [one for one in identifiers if one not in ALLOWED]:
        raise ValueError(f"{', '.join(refused)} is not among the allowed licences")
    return list(dict.fromkeys(ALLOWED[one] for one in identifiers))


def document(packages: Mapping[str, Distribution]) -> str:
    """Return docs/licenses.md.

    Raises:
        ValueError: when a locked package is absent or of another version, or its licence is not
            allowed.
    """
    rows = []
    for name, pinned in locked().items():
        package = packages.get(name)
        if package is None or package.version != pinned.version:
            raise ValueError(f"{name} {pinned.version} is not installed")
        try:
            rows.append(row(package, name))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return HEAD + "".join(rows)


def row(package: Distribution, name: str) -> str:
    """Return a package's line of the list."""
    found = licence(package)
    reasons(found)  # raises where it is not allowed
    return f"- {name} {package.version}: {found}\n"


if __name__ == "__main__":
    try:
        sys.stdout.write(document(installed(sys.argv[1:])))
    except ValueError as error:
        sys.exit(str(error))
