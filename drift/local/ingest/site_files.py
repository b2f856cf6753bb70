"""What programs that make sites of documents write beside the pages, to find or to show them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

OF_SITES = "programs that make sites write them beside the pages, and they say nothing more"

_GENERATED = [
    (re.compile(mark), re.compile(made))
    for mark, made in (
        (  # Sphinx, whose `_sources` are copies of the pages, and mdBook
            r"searchindex(?:-\w+)?\.js|objects\.inv|\.buildinfo|genindex\.html",
            (
                r"_sources|searchindex(?:-\w+)?\.js|(?:search|404)\.html"
                r"|(?:genindex(?:-.+)?|\w+-modindex)(?:\.html)?"
            ),
        ),
        (r"index\.html", r"_sources"),
        (r"doctools\.js|documentation_options\.js", r".+\.js"),
        (r"elasticlunr.*\.js", r".+\.js|(?:print|toc|404)\.html"),
        (r"search_index\.json", r"search_index\.json|.+\.js"),  # MkDocs
        (r"sitemap\.xml\.gz", r"(?:search|404)\.html|js"),
        (r"stylesheets", r"javascripts"),
        (
            r"doxygen\.(?:css|svg)",
            (
                r"search|.+\.js|(?:annotated|classes|files|hierarchy|inherits|namespaces|graph_legend|"
                r"pages|modules|topics|(?:functions|globals|namespacemembers)(?:_.+)?|dir_.+|.+-members|.+_source)\.html"
            ),
        ),
        (r"compound\.xsd|doxygen\.sty", r".+"),  # the same once more, for other programs
        (  # Javadoc
            r"element-list|package-list|index-all\.html",
            (
                r"(?:element|package)-list|index-files|script-dir|jquery|legal|src-html|.+\.js|"
                r"(?:index-all|deprecated-list|all(?:classes|packages).*|overview-(?:tree|frame)|search|help-doc)\.html"
            ),
        ),
        (r"package-tree\.html", r"class-use|package-(?:tree|use|frame)\.html"),
        (  # rustdoc
            r"crates[\d.]*\.js|search\.index|static\.files",
            (
                r"search\.(?:index|desc)|static\.files|(?:trait|type)\.impl|src|.+\.js|"
                r"(?:settings|help)\.html"
            ),
        ),
        (
            r"sidebar-items.*\.js|search-index.*\.js",
            r"(?:sidebar-items|search-index).*\.js|all\.html",
        ),
    )
]
"""By a name that tells the program: the names in the same folder of what is no document."""


def generated_among(paths: Iterable[str]) -> frozenset[str]:
    """Return which of all the paths of a place are of no document."""
    every = {path: path.split("/") for path in paths}
    inside: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for parts in every.values():
        for place, name in enumerate(parts):
            inside[tuple(parts[:place])].add(name)
    made = {folder: generated_in(names) for folder, names in inside.items()}
    return frozenset(
        path
        for path, parts in every.items()
        if any(name in made[tuple(parts[:place])] for place, name in enumerate(parts))
    )


def generated_in(every: Iterable[str]) -> frozenset[str]:
    """Return which of the names in a folder are of no document; it is given all of them."""
    names = frozenset(every)
    made = [made for mark, made in _GENERATED if any(map(mark.fullmatch, names))]
    return frozenset(name for name in names if any(one.fullmatch(name) for one in made))
