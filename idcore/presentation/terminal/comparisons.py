"""Two inputs compared as lines for a terminal. Compares nothing."""

from __future__ import annotations

from collections.abc import Iterator

from idcore.presentation.html import compared
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import INDENT, sentence, table
from idcore.presentation.triage.compared import GROUPS, SIDES, Compared, largest, row_of
from idcore.presentation.triage.compared_texts import alone, compared_sentence, missing_sentence

_MOST, _SAID = 40, 10  # rows of a table, and sentences of one side


def comparison(comparison: Compared, reader: Reader) -> Iterator[str]:
    """Two inputs: how many IDs only one of them has, the producers and brokers that differ most, an example of each."""
    yield sentence(compared_sentence(comparison, reader.words))
    for side in SIDES if comparison.generated else ():
        yield from (
            INDENT + sentence(missing_sentence(row, side, comparison, reader))
            for row in largest(comparison, side)[:_SAID]
        )
    for kind in GROUPS:
        differing = [row for row in comparison.of_both if row.kind == kind and (row.missing or row.new)]
        if differing:
            rows = [row_of(row) for row in differing[:_MOST]]
            made = compared.table_of(kind, (None, None), comparison, rows, reader)
            yield from ("", made.caption, *table(made))
        if len(differing) > _MOST:
            yield INDENT + reader.words("groups.cut_rows", n=f"{_MOST:,}", of=f"{len(differing):,}")
    if comparison.rows:
        yield from ("", *alone(comparison, reader.words), reader.words("compare.no_proof"))
