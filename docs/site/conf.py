# Sphinx's settings for the site. Its sources are made by stage.py; nothing of it is fetched when it is built or read.
project = "HAM"
author = "the authors of HAM"
copyright = "the authors of HAM, Boost Software License 1.0"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence", "attrs_inline"]
smartquotes = False
highlight_language = "none"
# Declarations and fragments that end in the middle are no programs: the lexer need not know them.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_title = "HAM"
html_static_path = ["_static"]
html_css_files = ["ham.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"top_of_page_buttons": [], "footer_icons": []}
pygments_style = "tango"
