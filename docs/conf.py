# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of Sphinx. docs/build.sh makes the tree that it reads."""

import re
import sys
from pathlib import Path

_here = Path(__file__).resolve().parent
sys.path[:0] = [str(_here / "site"), str(_here.parent / "packaging/python")]
import python_api  # noqa: E402

python_api.replace_compiled_module()

_version_header = (_here.parent / "device_runtime/ramify/version.hpp").read_text()
project = "Ramify"
release = ".".join(re.findall(r"#define RAMIFY_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", _version_header))
version = release
copyright = "the authors of Ramify"

extensions = [
    "myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design",
    "ramify_site",
]  # fmt: skip
root_doc = "index"
templates_path = ["site/templates"]
html_static_path = ["site/static"]
html_theme = "furo"
html_title = f"Ramify {release}"
html_show_sphinx = False
html_copy_source = False
html_css_files = ["ramify.css"]
highlight_language = "none"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 6

breathe_default_project = "ramify"
breathe_default_members = ("members",)

autodoc_typehints = "none"
autodoc_default_options = {"members": True}


def setup(app):
    """Register the reader of the docstrings of the Python package."""
    app.connect("autodoc-process-docstring", python_api.format_docstring)
    app.connect("autodoc-skip-member", python_api.skip_member)
