"""What a broker takes as the name of a topic or a group, and how many groups a topic may have. Reads no file.

Each message that is looked up has a row for each group of its topic, so a small folder could ask for a large answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from idcore.base.safe_text import encodable

MOST_GROUPS = 5_000  # of one topic
LONGEST_NAME = 1_000  # characters; a broker takes 255
Groups = dict[str, set[str]]  # of each topic


def name_of(text: str) -> str:
    """That of a topic or a group; ValueError of one that no broker takes."""
    if len(text) > LONGEST_NAME:
        raise ValueError(f"a name of {len(text):,} characters")
    return encodable(text)


def few(pairs: Iterable[tuple[str, str]], known: Groups) -> None:
    """Adds topics and groups to those of other files; ValueError where a topic then has too many, and adds none."""
    groups: Groups = {}
    for topic, group in pairs:
        groups.setdefault(topic, set()).add(group)
    for topic, names in groups.items():
        if (most := len(names | known.get(topic, set()))) > MOST_GROUPS:
            raise ValueError(f"{most:,} groups of one topic")
    for topic, names in groups.items():
        known.setdefault(topic, set()).update(names)
