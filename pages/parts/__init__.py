"""What pages are made of. A part made for the pages of one folder is in the folder of that name here.

`ids`, `messages`, `runs`, `triage` are named as in pages/; `charts` are the pictures, by the page they are drawn for.
What serves all pages is right here and uses none of the folders (docs/adr/0012-parts-by-page.md). What draws nothing is
in idcore.
"""

from logging import getLogger

# The pages are imported before the server is there: that a cache is in memory then, as always, is no news.
_CACHES = getLogger("streamlit.runtime.caching.cache_data_api")
_CACHES.addFilter(lambda record: not str(record.msg).startswith("No runtime found"))
