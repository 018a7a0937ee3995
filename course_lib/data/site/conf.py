"""Sphinx's settings for the course's site; course_lib/tools/site.py puts pages and packages beside this file."""

from course_lib.tools import site

project = "Attention, Measured"
copyright = "The Attention, Measured authors; text and figures CC BY 4.0, code MIT"
html_title = project
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["_static", "_templates"]
templates_path = ["_templates"]

# ---- lessons and pages ----
nb_execution_mode = "off"
nb_render_markdown_format = "myst"  # as the text of a lesson: CommonMark has no tables
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
nb_ipywidgets_js = {"widgets.js": {}}  # without a kernel the widgets live by this
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_dmath_double_inline = True
myst_heading_anchors = 3

myst_heading_slug_func = "course_lib.tools.site.slug"

# ---- the library ----
default_role = "py:obj"
add_module_names = False
autodoc_default_options = {"members": True, "undoc-members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88

# ---- the pages' looks ----
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js", "reading.js", "figures.js", "terms.js"]
html_favicon = "_static/mark.svg"
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_show_sphinx = False
mathjax_path = "mathjax/tex-mml-chtml.js"
html_logo = "_static/mark.svg"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0067a3",
        "color-brand-content": "#0067a3",
        "arc": "#0072b2",
        "right": "#00795a",
        "wrong": "#b3261e",
    },
    "dark_css_variables": {
        "color-brand-primary": "#74bbee",
        "color-brand-content": "#74bbee",
        "arc": "#56b4e9",
        "right": "#3fc79a",
        "wrong": "#ff8a73",
        # What the colours of figures become: paper, ink, the blue, which is too dark, words, greys, and tints.
        "drawn-ffffff": "var(--color-background-primary)",
        "drawn-000000": "var(--color-foreground-primary)",
        "drawn-0072b2": "#2e95dd",
        "drawn-b34f00": "#d55e00",
        "drawn-007d5b": "#009e73",
        "drawn-a84f80": "#cc79a7",
        "drawn-8a6000": "#e69f00",
        "drawn-1f729f": "#56b4e9",
        "drawn-333333": "#c4c5c6",
        "drawn-555555": "#a4a6a8",
        "drawn-777777": "#8a8c8f",
        "drawn-999999": "#75777a",
        "drawn-bbbbbb": "#65676b",
        "drawn-cccccc": "#606266",
        "drawn-d3d3d3": "#4b4d51",
        "drawn-dddddd": "#3d4044",
        "drawn-e4e4e4": "#34373b",
        "drawn-f2dcea": "#4a2c40",
        "drawn-cfe6f5": "#16384d",
        "drawn-fbd9bd": "#54310f",
        "drawn-cfeadf": "#173f31",
    },
}


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", lambda app, page, template, context, doctree: site.mend(context))
