"""Titles and heading paths of web pages, in the structure that well-known programs give them."""

# ruff: noqa: E501 - pages as programs write them
from __future__ import annotations

import pytest

from drift.indexing.chunking import cut
from drift.local.ingest.formats.html_text import read_page

SPHINX = """<html><head><title>Fees &#8212; Harbour documentation</title></head><body>
<div class="related" role="navigation" aria-label="Related"><h3>Navigation</h3><ul><li>index</ul></div>
<div class="document"><div class="body" role="main"><section id="fees">
<h1>Fees<a class="headerlink" href="#fees" title="Link to this heading">¶</a></h1><p>399.50</p>
<h2>In winter<a class="headerlink" href="#in-winter">¶</a></h2><p>Nothing.</p>
<dl><dt>pay(x)<a class="headerlink" href="#pay">¶</a></dt><dd>Pays.</dd></dl></section></div></div>
<div class="sphinxsidebar" role="navigation"><div><h3>Table of Contents</h3></div></div>
<div class="footer" role="contentinfo"><h3>Created using Sphinx</h3></div></body></html>"""
READ_THE_DOCS = SPHINX.replace("¶", "\uf0c1")
PYDATA = SPHINX.replace("¶", "#")
MKDOCS = """<title>Fees - Harbour</title><body><div class="navbar"><ul><li>Harbour</ul></div>
<div class="bs-sidebar" role="complementary"><h2>Contents</h2></div><div role="main">
<h1 id="fees">Fees<a class="headerlink" href="#fees" title="Permanent link">&para;</a></h1><p>399.50</p>
<h2 id="w">In winter<a class="headerlink" href="#w">&para;</a></h2><p>Nothing.</p></div>
<footer><h4>MkDocs</h4></footer>"""
DOXYGEN = """<head><title>Harbour: Fees</title></head><body><div id="top"><div id="projectname">Harbour
</div></div><div class="header"><div class="headertitle"><div class="title">Fees</div></div></div>
<div class="contents"><p>399.50</p><h2 class="memtitle"><span class="permalink"><a href="#w">&#9670;&nbsp;
</a></span>In winter</h2><p>Nothing.</p></div>"""
JAVADOC = """<head><title>Fees (Harbour)</title></head><body><header role="banner"><h1>Harbour 1.0</h1>
<nav role="navigation"><div><div><h3>Packages</h3></div></div></nav></header><main role="main">
<h1 title="Class Fees" class="title">Fees</h1><p>399.50</p><section><h2>In winter</h2><p>Nothing.</p>
</section></main><footer role="contentinfo"><h2>Legal</h2></footer>"""
PANDOC = """<head><title>Fees</title></head><body><header id="title-block-header"><h1 class="title">Fees</h1>
</header><nav id="TOC" role="doc-toc"><h2 id="toc-title">Contents</h2></nav><p>399.50</p>
<h2 data-number="1"><span>In winter</span></h2><p>Nothing.</p>"""
PAGES = {
    "Sphinx": SPHINX,
    "Read the Docs": READ_THE_DOCS,
    "PyData": PYDATA,
    "MkDocs": MKDOCS,
    "Doxygen": DOXYGEN,
    "Javadoc": JAVADOC,
    "pandoc": PANDOC,
}


def _headings(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("#")]


@pytest.mark.parametrize("program", PAGES)
def test_a_page_has_the_title_and_the_headings_of_its_main_part(program: str) -> None:
    text, title, *_ = read_page(PAGES[program])
    assert title == "Fees"
    assert _headings(text) == ["# Fees", "## In winter"]
    assert "Navigation" not in text
    assert not set("¶◆\uf0c1") & set(text)


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>T</title><main><p>x</p></main><h2>Related</h2>", "T"),
        ("<title>T</title><svg><title>Menu</title></svg><p>x</p>", "T"),
        ("<svg><title>Menu</title></svg><p>x</p>", ""),
        ("<aside><h2>News</h2></aside><h2>Fees</h2>", "Fees"),
        ("<aside><h2>News</h2></aside><p>x</p>", ""),
        ("<div role='Navigation'><div><h2>Menu</h2></div></div><h2>Fees</h2>", "Fees"),
        ("<h1>Fees <a href='#w'>in winter</a></h1>", "Fees in winter"),
        ("<h1><a class='header-anchor' href='#f'>Fees</a></h1>", "Fees"),
        ("<h1>Fees<a class='anchor' href='#f'>§</a></h1>", "Fees"),
        ("<h1>Fees<a class='headerlink' href='#f'>Link</a></h1>", "Fees"),
    ],
)
def test_bars_pictures_and_permalinks_are_no_title(page: str, title: str) -> None:
    assert read_page(page).title == title


@pytest.mark.parametrize("begin", ["<nav>", "<div role='navigation'><div>", "<aside>", "<footer>"])
def test_a_bar_that_is_never_closed_takes_no_text_and_no_heading(begin: str) -> None:
    text, title, *_ = read_page(f"{begin}menu<h1>Fees</h1><p>399.50")
    assert title == "Fees"
    assert text.endswith("# Fees\n\n399.50")


def test_headings_in_markdown_keep_no_permalink_either() -> None:
    text = '# Fees[¶](#fees "Permanent link")\n\nx\n\n## In winter [#](#w)\n\n' + "word " * 300
    assert [piece.heading for piece in cut(text, "markdown")][-1] == "Fees > In winter"
