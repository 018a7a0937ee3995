"""Sphinx's settings for the course as an EPUB; course_lib/tools/book.py puts the chapters beside this file."""

from course_lib import __version__
from course_lib.tools import book, cards, site

project = epub_title = cards.COURSE
author = epub_author = "The Attention, Measured authors"
copyright = epub_copyright = "The Attention, Measured authors; text and figures CC BY 4.0, code MIT"
version = release = __version__
language = "en"

extensions = ["myst_nb"]
exclude_patterns = ["_static"]

nb_execution_mode = "off"
nb_render_markdown_format = "myst"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
myst_heading_slug_func = "course_lib.tools.book.slug"

html_math_renderer = "mathml"
epub_basename = book.NAME
epub_css_files = ["book.css"]
html_static_path = ["_static"]
epub_description = site.SENTENCE
epub_uid = epub_identifier = epub_scheme = book.NAME
epub_tocdepth = 2
epub_show_urls = "no"
epub_use_index = False
epub_exclude_files = [".buildinfo", "_static/documentation_options.js", "_static/doctools.js"]


def setup(app):
    """Called by Sphinx."""
    app.add_builder(book.Epub, override=True)
    app.add_html_math_renderer("mathml", (book.formula, None), (book.formula, None))
    app.connect("env-updated", lambda app, env: book.typeset(env))
    app.connect("html-page-context", lambda app, page, template, context, doctree: book.mend(context))
