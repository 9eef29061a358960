# SPDX-License-Identifier: BSD-3-Clause
"""A Sphinx extension: links to files of the repository lead to pages of the site.

A link of a page, relative to the page's place in the repository, may lead to a source file or a
folder. It becomes a link to the page of the lesson or of the header, if there is one, else to a page
that shows the file. Those pages are made here.
"""

import html
import json
import posixpath
import shutil
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import guess_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound
from repository import ROOT, page_of_source, read
from sphinx import addnodes

# Files that a browser shows as they are. The page of the traces loads the scripts.
_AS_THEY_ARE = (".html", ".ipynb", ".png", ".svg")
_EXTRA = ("docs/traces/*.js", "docs/traces/*.html", "device_runtime/src/trace/page.*")
_navigation: dict[tuple, str] = {}  # of the start page, for each set of options
_LEXERS = {".cuh": "x.cu", ".in": "x.txt", ".txt": "x.txt"}


def _place(path: str, fragment: str, headers: dict[str, str]) -> tuple[str, bool] | None:
    """Return where the site shows a file, and whether that is the file or a page made for it.

    With the fragment ``?file`` it is the file in any case.
    """
    page = page_of_source(path, headers)
    if page and fragment != "?file":
        return f"{page}.html{fragment}", False
    if not (ROOT / path).exists():
        return None
    if path.endswith(_AS_THEY_ARE):
        return path + fragment.removeprefix("?file"), True
    return f"source/{path}.html", True


def resolve_links(app, doctree):
    """Replace the links of a page that lead to files which are no pages."""
    env = app.env
    docname = env.docname
    kinds = (addnodes.pending_xref, addnodes.download_reference)
    for node in [n for n in doctree.findall() if isinstance(n, kinds)]:
        if node.get("refdomain") == "doc" or node.get("reftype") != "myst":
            continue
        target, mark, rest = node["reftarget"].partition("#")
        target, query, words = target.partition("?")
        if not target:
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(docname), target))
        place = _place(path, query + words + mark + rest, app.config.ramify_headers)
        if place is None:
            continue
        uri, is_file = place
        if is_file:
            env.ramify_files.setdefault(docname, set()).add(path)
        up = posixpath.relpath(uri, posixpath.dirname(docname) or ".")
        reference = nodes.reference("", "", *node.children, internal=True, refuri=up)
        node.replace_self(reference)


def _begin(app, env, _docnames):
    if not hasattr(env, "ramify_files"):
        env.ramify_files = {}


def _purge(_app, env, docname):
    getattr(env, "ramify_files", {}).pop(docname, None)


def _merge(_app, env, docnames, other):
    env.ramify_files |= {d: f for d, f in other.ramify_files.items() if d in docnames}


def _highlighted(path: str) -> str:
    text = read(path)
    try:
        lexer = guess_lexer_for_filename(_LEXERS.get(Path(path).suffix, path), text)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(text, lexer, HtmlFormatter(linenos="inline", lineanchors="line"))


def _listing(folder: str, pages: set[str]) -> str:
    """Return the list of the files of a folder, with links to those that have a page."""
    items = []
    for file in sorted((ROOT / folder).iterdir()):
        path = file.relative_to(ROOT).as_posix()
        name = html.escape(file.name)
        if path in pages:
            name = f'<a href="{posixpath.basename(folder)}/{name}.html">{name}</a>'
        items.append(f"<li>{name}</li>")
    return "<ul>" + "".join(items) + "</ul>"


def source_pages(app):
    """Yield the pages of the files to which links lead."""
    paths = set().union(*app.env.ramify_files.values())
    for path in list(paths):
        if (ROOT / path).is_dir():
            inside = (f.relative_to(ROOT).as_posix() for f in (ROOT / path).iterdir() if f.is_file())
            paths.update(inside)
    for path in sorted(paths):
        if path.endswith(_AS_THEY_ARE):
            continue
        body = _listing(path, paths) if (ROOT / path).is_dir() else _highlighted(path)
        yield f"source/{path}", {"title": path, "body": body}, "source.html"


def copy_files(app, exception):
    """Copy the files that a browser shows as they are."""
    if exception:
        return
    extra = {p.relative_to(ROOT).as_posix() for pattern in _EXTRA for p in ROOT.glob(pattern)}
    linked = set().union(*app.env.ramify_files.values())
    for path in extra | {path for path in linked if path.endswith(_AS_THEY_ARE)}:
        target = Path(app.outdir) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)


def share_navigation(app, pagename, _template, context, _doctree):
    """Make the navigation of a page from that of the start page.

    Sphinx takes most of a second to make it anew for each page.
    """
    if "toctree" not in context:
        return

    def toctree(**options):
        key = tuple(sorted(options.items()))
        if key not in _navigation:
            _navigation[key] = app.builder._get_local_toctree(app.config.root_doc, **options)
        soup = BeautifulSoup(_navigation[key], "html.parser")
        for link in soup.find_all("a"):
            if link["href"] == f"{pagename}.html":
                link["href"] = "#"
                for element in [link, *link.find_parents(["li", "ul"])]:
                    element["class"] = [*element.get("class", []), "current"]
            elif "://" not in link["href"]:
                link["href"] = posixpath.relpath(link["href"], posixpath.dirname(pagename) or ".")
        return str(soup)

    context["toctree"] = toctree


def _read_headers(app, config):
    config.ramify_headers = json.loads((Path(app.srcdir) / "headers.json").read_text())


def setup(app):
    """Register the extension."""
    app.add_config_value("ramify_headers", {}, "")
    app.connect("config-inited", _read_headers)
    app.connect("env-before-read-docs", _begin)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("doctree-read", resolve_links)
    app.connect("html-page-context", share_navigation, priority=400)  # before the theme
    app.connect("html-collect-pages", source_pages)
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
