"""What became of a long list of messages in a live cluster: one look-up for each ID, and the tables of a scan."""

from idcore.fate_list.asking import MOST_IDS, Asking, Wanted, ask
from idcore.fate_list.tally import Tally, write

__all__ = ["MOST_IDS", "Asking", "Tally", "Wanted", "ask", "write"]
