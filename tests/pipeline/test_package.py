"""The package that is deployed.

Exactly the locked packages, the files of .funcignore's choice, and a function that runs.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.utils import canonicalize_name

from drift.local.infra.package import PACKAGES, build, deployed_files
from tests.dependencies.lock import LOCK, ROOT, locked
from tests.pipeline.tools import TOOLS
from tests.runtime.worker_process import NEEDS_PYTHON_313, REASON

pytestmark = [
    pytest.mark.deep,
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON),
]

ALONE = """
import importlib, json, pkgutil, sys
import drift, function_app
for module in pkgutil.walk_packages(drift.__path__, "drift."):
    if module.name not in {
        "drift.llm.anthropic.chat", "drift.llm.anthropic.replies", "drift.llm.local_embedding"
    }:
        importlib.import_module(module.name)
print(json.dumps([file for m in sys.modules.values() if (file := getattr(m, "__file__", None))]))
"""
"""Imports every deployed module but those of extras, and says from which files all modules come."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of this clone, as a folder."""
    folder = tmp_path_factory.mktemp("build") / "package"
    assert build(folder, TOOLS / "uv") == folder.with_name("package.zip")
    return folder


def test_it_holds_exactly_the_locked_packages(package: Path) -> None:
    found = {
        canonicalize_name(one.name): one.version
        for one in distributions(path=[str(package / PACKAGES)])
    }
    assert found == {name: one.version for name, one in locked().items()}
    assert (package / "requirements.txt").read_bytes() == LOCK.read_bytes()


def test_it_holds_the_files_that_are_deployed_and_no_other(package: Path) -> None:
    own = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and ".python_packages" not in path.parts
    }
    assert own == set(deployed_files())
    assert {"function_app.py", "host.json", "drift/search/drift.py"} <= own
    assert {path.partition("/")[0] for path in own} == {
        "function_app.py",
        "host.json",
        "requirements.txt",
        "drift",
    }


def test_every_module_is_compiled_for_the_functions_python(package: Path) -> None:
    uncompiled = [
        path
        for path in (package / "drift").rglob("*.py")
        if not (path.parent / "__pycache__" / f"{path.stem}.cpython-313.pyc").exists()
    ]
    assert uncompiled == []


def test_the_function_runs_from_nothing_but_the_package(package: Path) -> None:
    paths = [str(package), str(package / PACKAGES)]
    code = f"import sys\nsys.path[:0] = {paths!r}\n{ALONE}"
    ran = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-I", "-S", "-c", code],
        cwd=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    files = json.loads(ran.stdout)
    assert [file for file in files if "site-packages" in file and PACKAGES not in file] == []
    assert [file for file in files if file.startswith(str(ROOT))] == []


def test_the_archive_is_the_folder_and_the_same_bytes_each_time(package: Path) -> None:
    first = hashes(package.with_name("package.zip"))
    assert set(first) - {""} == {
        path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()
    }

    again = hashes(build(package, TOOLS / "uv"))

    assert {name for name in first | again if first.get(name) != again.get(name)} == set()


def hashes(archive: Path) -> dict[str, str]:
    """Return a hash of each file of an archive with its entry, and of the archive itself under no
    name.
    """
    with zipfile.ZipFile(archive) as file:
        entries = {one.filename: repr(one).encode() + file.read(one) for one in file.infolist()}
    return {
        name: hashlib.sha256(content).hexdigest()
        for name, content in {**entries, "": archive.read_bytes()}.items()
    }


def test_a_lock_with_another_hash_is_refused(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)  # noqa: S603, S607
    lock = clone / "requirements.lock"
    text = lock.read_text(encoding="utf-8")
    digits = {one[:64] for one in text.split("--hash=sha256:")[1:]}
    for right in digits:
        text = text.replace(right, "0" * 64)
    lock.write_text(text, encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        build(tmp_path / "package", TOOLS / "uv", clone)


def test_azd_deploys_the_package_as_it_is_built() -> None:
    service = yaml.safe_load((ROOT / "azure.yaml").read_text(encoding="utf-8"))["services"]["api"]
    assert (service["dist"], service["remoteBuild"]) == ("build/package", False)
    assert service["hooks"] == {"prepackage": {"shell": "sh", "run": "make package"}}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\t@$(PYTHON) -m drift.local.infra.package $(TOOLS)/bin/uv build/package\n" in makefile
