"""What programs that make sites of documents write beside the pages, to find or to show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import PurePosixPath

from drift.indexing.documents import PAGES

OF_SITES = "programs that make sites write them beside the pages"

_GENERATED: tuple[tuple[str, str], ...] = (
    (  # Sphinx: `_sources` are copies of the pages
        r"searchindex\.js|objects\.inv|\.buildinfo|genindex\.html",
        r"_sources|_static|searchindex\.js|(?:search|genindex(?:-.+)?|.*-?modindex)(?:\.html)?",
    ),
    (r"_sources", r"_sources"),
    (r"search_index\.json", r".+"),  # MkDocs: a folder of the search alone
    (r"mkdocs\.yml|sitemap\.xml\.gz", r"404\.html|search\.html|search"),
    (
        r"doxygen\.(?:css|svg)",
        r"search|.+\.js|(?:annotated|classes|files|hierarchy|inherits|namespaces|graph_legend|"
        r"(?:functions|globals|namespacemembers)(?:_.+)?|dir_.+|.+-members|.+_source)\.html",
    ),
    (  # Javadoc
        r"element-list|package-list",
        r"element-list|package-list|index-files|class-use|script-dir|jquery|resources|legal|.+\.js|"
        r"(?:index-all|all(?:classes|packages).*|overview-(?:tree|frame)|search|help-doc)\.html",
    ),
    (r"package-(?:tree|use|frame)\.html", r"class-use|package-(?:tree|use|frame)\.html"),
    (  # rustdoc
        r"search-index.*\.js|search\.index|crates\.js",
        r"search\.(?:index|desc)|static\.files|(?:trait|type)\.impl|src|.+\.js|"
        r"(?:settings|help)\.html",
    ),
    (r"sidebar-items.*\.js", r"sidebar-items.*\.js|all\.html"),
    (r"sphinx|javadoc|typedoc|navigation\.js", r"search\.js|navigation\.js"),
)
"""The names that tell the program, of what is in one folder, and of what is no document there."""


def generated_in(names: Collection[str]) -> Callable[[str], bool]:
    """Return what tells which of the things in a folder are no documents; some pages are."""
    tells = [
        re.compile(made)
        for mark, made in _GENERATED
        if any(map(re.compile(mark).fullmatch, names))
    ]
    return lambda name: any(one.fullmatch(name) for one in tells)
