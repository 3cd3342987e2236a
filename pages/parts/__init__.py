"""What pages are made of. A part made for the pages of one folder is in the folder of that name here.

`ids`, `messages`, `runs`, `triage` are named as in pages/; `charts` are the pictures, by the page they are drawn for.
What serves all pages is right here and uses none of the folders (docs/adr/0012-parts-by-page.md). What draws nothing is
in idcore.
"""
