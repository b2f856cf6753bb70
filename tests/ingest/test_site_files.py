"""What is beside documents and is none, and what is one whatever its name ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from drift.local.ingest.site_files import OF_SITES, generated_among
from drift.local.ingest.sources import read_changed, read_source

SITES = {
    "sphinx": (
        (
            "searchindex.js objects.inv genindex.html genindex-A.html search.html py-modindex.html "
            "_sources/index.rst.txt _sources/a/b.md.txt _static/doctools.js _static/jquery.js"
        ),
        "index.html a/b.html search/first.html _static/manual.txt",
    ),
    "sphinx that was copied": ("_sources/index.rst.txt", "index.html"),
    "sphinx in folders": ("objects.inv genindex/index.html py-modindex/index.html", "a/index.html"),
    "mkdocs": (
        "sitemap.xml.gz 404.html search.html search/search_index.json search/worker.js",
        "index.html search/index.html",
    ),
    "mdbook": (
        "searchindex.js elasticlunr.min.js book.js print.html toc.html",
        "index.html a.html",
    ),
    "doxygen": (
        (
            "doxygen.css search/all_0.js search/nomatches.html annotated.html files.html "
            "functions_a.html a_8h_source.html class_a-members.html dir_1.html menu.js"
        ),
        "index.html class_a.html",
    ),
    "javadoc": (
        (
            "element-list index-all.html index-files/index-1.html allclasses.html search.html "
            "overview-tree.html help-doc.html a/package-tree.html a/package-use.html "
            "a/class-use/B.html type-search-index.js script-dir/jquery.js"
        ),
        "index.html a/B.html a/package-summary.html",
    ),
    "rustdoc": (
        (
            "crates.js settings.html help.html src/a/lib.rs.html static.files/main.js "
            "search-index.js a/sidebar-items.js a/all.html"
        ),
        "a/index.html a/struct.B.html",
    ),
}


@pytest.mark.parametrize("site", SITES)
def test_what_a_program_writes_to_find_pages_is_no_document(tmp_path: Path, site: str) -> None:
    made, pages = (names.split() for names in SITES[site])
    for name in (*made, *pages):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("<h1>Text</h1>")
    source = read_source(tmp_path)
    assert [one.id for one in source.documents] == sorted(pages)
    assert OF_SITES in {one.reason for one in source.ignored}

    every = [tmp_path / name for name in (*made, *pages, "gone/folder/a.md")]
    assert [one.id for one in read_changed(tmp_path, every).documents] == sorted(pages)
    assert not generated_among([*made, *pages]) & {*pages}


def test_the_same_names_without_a_site_are_documents(tmp_path: Path) -> None:
    names = {"search.html", "404.html", "_sources/a.txt", "src/a.md", "files.html", "all.html"}
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<h1>Text</h1>")
    assert {one.id for one in read_source(tmp_path).documents} == names


NAMES = {
    **dict.fromkeys(("Apache-2.0", "GPL-3.0-or-later", "v1.2", "v1.2.3rc1", "README.1"), "text"),
    **dict.fromkeys(("LICENSE.MIT", "COPYING.LESSER", "LICENSE.Apache-2.0", "ls.1"), "text"),
    **dict.fromkeys(("notes.md.1", "notes.2024.md"), "markdown"),
    **dict.fromkeys(("app.log.1", "mcp.json.1", "lib.so.6", "a.7z", "license.key", "ssl.lib"), ""),
}


def test_a_number_or_a_licence_is_no_ending(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text("Some text.")
    (tmp_path / "core.1").write_bytes(b"\0\1")
    source = read_source(tmp_path)
    read = {one.id: one.read() for one in source.documents}
    assert {name: getattr(one, "format", "") for name, one in read.items()} == {
        **{name: wanted for name, wanted in NAMES.items() if wanted},
        "core.1": "",
    }
    (single,) = read_source(tmp_path / "Apache-2.0").documents
    assert single.id == "Apache-2.0"
