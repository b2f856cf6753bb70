"""requirements.lock is all that requirements.txt leads to, exact and hashed, and nothing else."""

from __future__ import annotations

import pytest
from packaging.utils import canonicalize_name

from tests.dependencies.lock import LOCK, direct, installed, locked, needed, unmet, unwanted

TEXT = LOCK.read_text(encoding="utf-8")


def test_every_requirement_is_met_also_those_of_what_is_locked() -> None:
    assert unmet(locked()) == set()


def test_nothing_is_locked_that_nothing_asks_for() -> None:
    assert unwanted(locked()) == set()


def test_every_package_is_hashed() -> None:
    assert [name for name, one in locked().items() if not one.hashes] == []


def test_the_lock_names_no_index_and_no_other_source() -> None:
    lines = TEXT.splitlines()
    assert [line for line in lines if "://" in line or "@" in line] == []
    assert {line.split()[0][:7] for line in lines if line.strip().startswith("-")} == {"--hash="}


def test_what_the_packages_say_is_read_here() -> None:
    """Without this the two first tests could see nothing of what is asked for."""
    lock, present = locked(), installed()
    agreeing = {
        name
        for name, one in lock.items()
        if name in present and present[name].version == one.version
    }
    assert len(agreeing) > len(lock) / 2
    assert {"msal", "starlette"} <= set(lock)
    # Which of them agree changes with every release of a package: not one name is sure.
    wanted = {canonicalize_name(one.name) for ones in needed(lock).values() for one in ones}
    assert len(wanted & set(lock)) > len(lock) / 3


@pytest.mark.parametrize("name", ["fastapi", "typing-extensions", "cryptography"])
def test_a_missing_package_is_seen(name: str) -> None:
    lock = locked()
    del lock[name]
    assert any(requirement.startswith(name) for requirement in unmet(lock))


def test_a_version_outside_its_range_is_seen() -> None:
    lock = locked(TEXT.replace(f"\nredis=={locked()['redis'].version} ", "\nredis==1.0.0 "))
    assert unmet(lock) == {str(one) for one in direct() if one.name == "redis"}


@pytest.mark.parametrize(
    "via",
    ["    # via left-pad", "    # via redis", "    # via -r requirements.txt"],
    ids=["nobody", "another", "us"],
)
def test_a_superfluous_package_is_seen(via: str) -> None:
    lock = locked(f"{TEXT.rstrip()}\nleft-pad==1.0 \\\n    --hash=sha256:{'0' * 64}\n{via}\n")
    assert unwanted(lock) == {"left-pad"}


def test_a_package_without_a_hash_is_seen() -> None:
    assert locked(f"{TEXT.rstrip()}\nleft-pad==1.0\n    # via redis\n")["left-pad"].hashes == ()
