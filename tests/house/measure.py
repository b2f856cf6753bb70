"""The size of the project: code lines of each room, and what else should not grow by itself.

Run `python -m tests.house.measure` for a table beside the numbers of budget.json, with `--json` for
those of today alone, as `make budget` writes them. A code line holds a token that is neither a
comment nor a docstring. Only files that git tracks count.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

from drift.local.infra.package import deployed_files

ROOT = Path(__file__).resolve().parents[2]
BUDGET = Path(__file__).with_name("budget.json")

SLACK = 0.03
"""How far a figure may be below its number: more was won, and a lower number keeps it."""
LONG_FILE = 300
MANY_ARGUMENTS = 5

_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.DEDENT, tokenize.ENDMARKER}
_GENERATED = {"openapi.yaml", "faults.md", "infra-rules.md", "licenses.md"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def measure(root: Path = ROOT) -> dict[str, int]:
    """Return every figure by its name."""
    files = _tracked(root)
    texts = {name: _read(root, name) for name in files if _is_product(name) or _is_test(name)}
    code = {name: count_code(text) for name, text in texts.items()}
    rooms: Counter[str] = Counter()
    for name, lines in code.items():
        rooms[room(name)] += lines

    deployed = [name for name in deployed_files(root) if name in texts]
    product = sum(lines for name, lines in code.items() if _is_product(name))
    on_board = sum(code[name] for name in deployed)
    trees = {name: ast.parse(text) for name, text in texts.items() if _is_product(name)}

    return {
        **rooms,
        "deployed code": on_board,
        "never deployed code": product - on_board,
        "bench code": rooms["tests/bench"],
        "test code": sum(code.values()) - product - rooms["tests/bench"],
        "page lines (js)": sum(_count_lines(root, name) for name in files if _is_of_page(name)),
        "generated lines": sum(_count_lines(root, name) for name in files if _is_generated(name)),
        "class names that mean two things": _ambiguous_classes(trees.values()),
        "files over 300 lines": sum(texts[n].count("\n") > LONG_FILE for n in deployed),
        **_shape(trees[name] for name in deployed),
    }


def room(name: str) -> str:
    """Return the folder by which a file is counted: the second, in `drift/local` the third."""
    *folders, file = name.split("/")
    return "/".join(folders[: 3 if folders[:2] == ["drift", "local"] else 2]) or file


def count_code(text: str) -> int:
    """Return the number of lines that hold code."""
    rows: set[int] = set()
    line: list[tokenize.TokenInfo] = []
    opener = ""
    may_document = True  # as the first line of a module may

    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if not (may_document and all(part.type == tokenize.STRING for part in line)):
                rows.update(row for part in line for row in range(part.start[0], part.end[0] + 1))
            opener, line, may_document = line[0].string, [], False
        elif token.type == tokenize.INDENT:
            may_document = opener in {"class", "def", "async"}
        elif token.type not in _NO_CODE:
            line.append(token)

    return len(rows)


def faults(budget: dict[str, int], now: dict[str, int]) -> list[str]:
    """Return a sentence for each figure that is above its number, or far below it."""
    told = []
    for name in sorted(budget.keys() | now.keys()):
        number, figure = budget.get(name, 0), now.get(name, 0)
        if figure > number:
            told.append(
                f"{name}: the number is {number}, and now it is {figure}. Delete as much, or raise "
                "the number in the same commit (`make budget`): its message, and CHANGELOG.md or "
                "docs/decisions.md, say what is deleted instead, or why nothing is."
            )
        elif figure < number * (1 - SLACK):
            told.append(
                f"{name}: the number is {number}, and now it is {figure}. Keep what was won: "
                "`make budget` writes the number of today."
            )
    return told


def _tracked(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    return [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def _read(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def _count_lines(root: Path, name: str) -> int:
    return _read(root, name).count("\n")


def _is_product(name: str) -> bool:
    return name == "function_app.py" or (name.startswith("drift/") and name.endswith(".py"))


def _is_test(name: str) -> bool:
    return name.startswith("tests/") and name.endswith(".py")


def _is_of_page(name: str) -> bool:
    return name.startswith("drift/") and name.endswith(".js") and "/vendor/" not in name


def _is_generated(name: str) -> bool:
    """Tell whether a command wrote the file. The budget does not count itself."""
    json_of_ours = name.endswith(".json") and name.startswith(("infra/", "tests/"))
    return name != "tests/house/budget.json" and (
        json_of_ours or name.rpartition("/")[2] in _GENERATED
    )


def _ambiguous_classes(trees: Iterable[ast.Module]) -> int:
    names: Counter[str] = Counter()
    for tree in trees:
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        names.update(node.name.lstrip("_") for node in classes)
    return sum(count > 1 for count in names.values())


def _shape(trees: Iterable[ast.Module]) -> dict[str, int]:
    """Return what functions and modules look like."""
    many = longest = constants = 0
    for tree in trees:
        constants += sum(isinstance(node, ast.Assign | ast.AnnAssign) for node in tree.body)

        for function in (node for node in ast.walk(tree) if isinstance(node, Function)):
            arguments = [*function.args.args, *function.args.kwonlyargs]
            taken = [one for one in arguments if one.arg not in {"self", "cls"}]
            many += len(taken) > MANY_ARGUMENTS
            longest = max(longest, (function.end_lineno or 0) - function.lineno + 1)

    return {
        "functions with more than 5 arguments": many,
        "lines of the longest function": longest,
        "module constants": constants,
    }


def main() -> None:
    """Print the figures."""
    figures = measure()
    if "--json" in sys.argv:
        print(json.dumps(figures, indent=1, sort_keys=True))
        return

    budget = json.loads(BUDGET.read_text(encoding="utf-8"))
    for name, figure in sorted(figures.items()):
        print(f"{figure:8} of {budget.get(name, 0):6}  {name}")


if __name__ == "__main__":
    main()
