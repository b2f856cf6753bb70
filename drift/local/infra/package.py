"""The deployment package: what is deployed, and beside it exactly what requirements.lock names.

Run `python -m drift.local.infra.package UV FOLDER`, as `make package` does: FOLDER then holds
what the function app runs, and FOLDER.zip the same as one file. Nothing is built on Azure, so what
was locked, audited and tested is what runs, and an older version deployed again is what it was. It
needs Python 3.13, the function's own, and git.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from drift.http.settings import environment
from drift.local import PROJECT

PACKAGES = ".python_packages/lib/site-packages"
"""Where the platform's worker looks for packages."""
PLATFORM = ("--python-version", "3.13", "--python-platform", "x86_64-manylinux_2_28")
SITE = "/home/site/wwwroot"
"""Where the platform mounts the package: tracebacks name the files there."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


def build(folder: Path, uv: Path, root: Path = PROJECT) -> Path:
    """Write the package of a clone into a folder and into FOLDER.zip, whose path is returned."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in deployed_files(root):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, folder / name)

    # under the name that a build on the platform reads: whoever asks for one gets the same packages
    shutil.copyfile(root / "requirements.lock", folder / "requirements.txt")

    _install(root / "requirements.lock", folder / PACKAGES, uv)
    _compile(folder)
    return _zipped(folder)


def deployed_files(root: Path = PROJECT) -> list[str]:
    """Return the files that git tracks and .funcignore lets through, written as a .gitignore is."""
    tracked = _git(root)
    ignored = _git(root, "--ignored", "--exclude-from=.funcignore")
    return sorted(tracked - ignored)


def _git(root: Path, *options: str) -> set[str]:
    command = ["git", "ls-files", "--cached", "-z", *options]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    return {name for name in listed.stdout.split("\0") if name and (root / name).is_file()}


def _install(lock: Path, folder: Path, uv: Path) -> None:
    """Install the lock for the platform; a file with another hash is refused."""
    exactly = ("--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-config")
    where = ("--python", sys.executable, "--target", str(folder), "--link-mode", "copy")
    command = [str(uv), "pip", "install", "--quiet", *exactly, *PLATFORM, *where]
    subprocess.run([*command, "--requirement", str(lock)], check=True)  # noqa: S603 - our own words

    # commands of packages: nobody calls them there, and they name this machine's interpreter
    shutil.rmtree(folder / "bin", ignore_errors=True)
    (folder / ".lock").unlink(missing_ok=True)


def _compile(folder: Path) -> None:
    """Compile every module.

    The package is read-only where it runs, so each new instance would otherwise do it again.

    One new process with a fixed hash seed does all of it: the bytes of a compiled module depend on
    what its process compiled before and on the order of its sets.
    """
    compiler = [sys.executable, "-sP", "-m", "compileall", "-q", "-s", str(folder), "-p", SITE]
    command = [*compiler, "--invalidation-mode", "unchecked-hash", str(folder)]
    variables = {**environment(), "PYTHONHASHSEED": "0"}
    subprocess.run(command, check=True, env=variables)  # noqa: S603 - our own words


def _zipped(folder: Path) -> Path:
    """Write a folder into one file, the same bytes for the same content."""
    archive = folder.with_name(folder.name + ".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EPOCH)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, path.read_bytes())

    return archive


if __name__ == "__main__":
    if sys.version_info[:2] != (3, 13):
        sys.exit(
            f"The function runs on Python 3.13, and its package is built with it; this is "
            f"{sys.version.split()[0]}."
        )
    os.umask(0o022)
    sys.stdout.write(f"{build(Path(sys.argv[2]).resolve(), Path(sys.argv[1]).resolve())}\n")
