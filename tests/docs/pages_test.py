# SPDX-License-Identifier: BSD-3-Clause
"""Fails if a page of the site has a link to a file or to a place that does not exist.

pages_test.py SITE

Pages must also work without a network: none loads a style, a script or a picture of another site.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

site = Path(sys.argv[1]).resolve()
most_bytes = 60_000_000


class Page(HTMLParser):
    """The places of a page, and what it links or loads."""

    def __init__(self, path: Path):
        super().__init__()
        self.places = set()
        self.links = []  # pairs of a link, and whether the page loads it
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places.update(v for k, v in attributes if k in ("id", "name") and v)
        if tag == "a" and values.get("href"):
            self.links.append((values["href"], False))
        elif tag == "link" and values.get("rel") == "stylesheet":
            self.links.append((values["href"], True))
        elif tag in ("img", "script", "iframe", "source") and values.get("src"):
            self.links.append((values["src"], True))


pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
faults = []
for path, page in pages.items():
    for link, is_loaded in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if is_loaded and parts.scheme != "data":
                faults.append(f"{path.relative_to(site)} loads {link}")
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            faults.append(f"{path.relative_to(site)}: there is no file {link}")
        elif parts.fragment and target in pages:
            if unquote(parts.fragment) not in pages[target].places:
                faults.append(f"{path.relative_to(site)}: there is no place {link}")

required = ["index.html", "search.html", "searchindex.js", "docs/tutorial.html", "docs/gallery.html"]
required += ["lessons/09_recursion.html", "exercises/07_recursion.html", "ladders/quicksort.html"]
required += ["api/quicksort.html", "api/python.html", "docs/traces/index.html"]
faults += [f"there is no page {name}" for name in required if not (site / name).is_file()]
size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
if size > most_bytes:
    faults.append(f"the site has {size} bytes, more than {most_bytes}")
print("\n".join(faults[:100]))
print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links, {size} bytes")
sys.exit(1 if faults else 0)
