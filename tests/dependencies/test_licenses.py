"""docs/licenses.md tells the licence of everything that is deployed, and each is allowed."""

from __future__ import annotations

from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from tests.dependencies.licenses import BSD_3_CLAUSES, HEAD, document, licence, reasons, row
from tests.dependencies.lock import ROOT, installed, locked

FILE = (ROOT / "docs" / "licenses.md").read_text(encoding="utf-8")
ROWS = {line.split()[1]: line + "\n" for line in FILE.removeprefix(HEAD).splitlines()}
MIT = "Classifier: License :: OSI Approved :: MIT License"


def package(folder: Path, *fields: str) -> Distribution:
    """Return an installed package whose metadata has these fields."""
    info = folder / "left_pad-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "\n".join(["Metadata-Version: 2.4", "Name: left-pad", "Version: 1.0", *fields, ""])
    )
    (found,) = distributions(path=[str(folder)])
    return found


def test_the_file_lists_what_is_locked_in_its_version() -> None:
    assert FILE.startswith(HEAD)
    assert [line.split()[2].rstrip(":") for line in ROWS.values()] == [
        one.version for one in locked().values()
    ]
    assert list(ROWS) == list(locked())


def test_every_licence_of_the_file_is_allowed_for_the_reason_it_gives() -> None:
    for line in ROWS.values():
        said = line.rstrip().partition(": ")[2]
        assert all(f"{why} |\n" in HEAD for why in reasons(said))


def test_the_file_tells_what_the_packages_say() -> None:
    """Compared where the locked version is installed, which on Python 3.13 is nearly everywhere.

    Names are, above, always.
    """
    present = installed()
    agreeing = {
        name
        for name, one in locked().items()
        if name in present and present[name].version == one.version
    }
    assert len(agreeing) > len(ROWS) / 2
    assert {name: row(present[name], name) for name in agreeing} == {
        name: ROWS[name] for name in agreeing
    }


def test_a_newer_version_than_the_locked_one_has_an_allowed_licence_too() -> None:
    present = installed()
    for name in set(locked()) & set(present):
        assert reasons(licence(present[name])), name


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["License-Expression: mit or apache-2.0"], "MIT OR Apache-2.0"),
        (
            [
                "License: MPL-2.0",
                "Classifier: License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)",
            ],
            "MPL-2.0",
        ),
        (["License: MIT License", MIT], "MIT"),
        ([MIT], "MIT"),
        (["License: 3-Clause BSD License"], "BSD-3-Clause"),
    ],
    ids=["an expression", "a field", "a field that is not SPDX", "a classifier", "another name"],
)
def test_a_licence_is_read_wherever_a_package_says_it(
    tmp_path: Path, fields: list[str], expected: str
) -> None:
    found = licence(package(tmp_path, *fields))
    assert found == expected
    assert reasons(found)


APACHE = (
    "Apache License",
    "Version 2.0, January 2004",
    "...",
    "limitations under the License.",
)


@pytest.mark.parametrize("place", ["LICENSE", "licenses/LICENSE"])
@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (BSD_3_CLAUSES, "BSD-3-Clause"),
        (BSD_3_CLAUSES[:2], None),
        (APACHE, "Apache-2.0"),
        ((*APACHE, "It may not be sold."), None),
        ((), None),
    ],
    ids=["three conditions", "two", "Apache 2.0", "and a condition more", "another licence"],
)
def test_a_licence_is_known_by_its_words_where_the_metadata_is_silent(
    tmp_path: Path, conditions: tuple[str, ...], expected: str | None, place: str
) -> None:
    silent = package(tmp_path, "License-File: LICENSE")
    file = tmp_path / "left_pad-1.0.dist-info" / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(conditions))
    assert licence(silent) == expected


@pytest.mark.parametrize(
    "fields",
    [
        [],
        ["License-Expression: GPL-3.0-or-later"],
        ["License-Expression: MIT AND GPL-3.0-only"],
        ["License-Expression: MIT OR (Apache-2.0 AND LicenseRef-Ours)"],
        ["License-Expression: Apache-2.0 WITH LLVM-exception"],
        ["License: AGPL-3.0-only", MIT],
        ["License: Copyright (c) us, all rights reserved"],
        [MIT, "Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)"],
        ["Classifier: License :: OSI Approved :: BSD License"],
    ],
    ids=[
        "none",
        "GPL",
        "MIT and GPL",
        "its own",
        "with an exception",
        "two that differ",
        "a text",
        "two",
        "which BSD?",
    ],
)
def test_an_unknown_licence_or_one_that_is_not_listed_is_refused(
    tmp_path: Path, fields: list[str]
) -> None:
    found = package(tmp_path, *fields)
    with pytest.raises(ValueError, match="is not among the allowed licences"):
        reasons(licence(found))


def test_the_file_is_not_made_from_other_versions(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^annotated-doc .* is not installed$"):
        document({"left-pad": package(tmp_path, MIT)})
