"""Two inputs compared, in the reader's words: what is in one only, and its pictures as text and as tables."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from idcore.base.catalogue import Words
from idcore.base.safe_text import printable
from idcore.ids import assumptions
from idcore.ids.clock import from_ms
from idcore.intake.intake import PASTED
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.times import between
from idcore.presentation.triage.compared import (
    GROUPS,
    KEPT,
    LINKED,
    MESSAGE,
    SIDES,
    STORED,
    Compared,
    ComparisonQuery,
    largest,
    only,
)
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.runs.runs import Run

if TYPE_CHECKING:  # pandas for pictures alone; the boxes of the page are up before the kernels are
    import pandas as pd

    from idcore.scan.compare import Difference

_FEW_TIMES = 5  # bins; of fewer it is not said that they are alike
_LEAST_EACH = 5  # IDs of a bin on average, missing and not: of fewer the test of independence is not exact
_FEW = 10  # IDs that are missing; of fewer no place is named
_MOST_OF, _NEWS = 0.8, 0.2  # the share of a place that is named, and how much less it has of all
_NO_CHANCE = 12  # powers of e (Chernoff's bound): of a thousand random inputs about one names a place or a time
SERIES = 6  # producers with a colour of their own
Group = tuple[str, int, int, int]  # a host or a broker: ids in both inputs, in the first only, in the second only


def missing_sentence(row: Difference, side: str, comparison: Compared, reader: Reader) -> str:
    """How many ids of whom are in one input only, and when they were generated."""
    words = reader.words
    ids = words.count(f"{GROUPS[row.kind]}_id", only(row, side))
    text = words(f"compare.lost_{side}", ids=ids, who=row.origin.brief)
    span = comparison.generated.get((side, row.kind, row.subject))
    if span is None:
        return text + words("stop")
    first, last = (from_ms(at, reader.zone) for at in (span.first, span.last))
    if f"{first:%Y-%m-%d %H:%M}" == f"{last:%Y-%m-%d %H:%M}":
        return text + words("compare.made_in", at=reader.minute(first)) + words.assumed(span.assumed) + words("stop")
    start, end = between(first, last, reader.zone, by_minute=True)
    return text + words("compare.made_between", first=start, last=end) + words.assumed(span.assumed) + words("stop")


def compared_sentence(comparison: Compared, words: Words, chosen: TimeRange = ALL_TIMES) -> str:
    """The answer for msgIds, then for offsetMsgIds: one message has both, and a log may name only one of them."""
    if chosen and not comparison.rows:
        return words("compare.none_range")
    parts = [words("compare.in_range")] if chosen else []
    alike = comparison.sums(MESSAGE) == comparison.sums(STORED)  # as where each line has both
    for group in (MESSAGE,) if alike else (MESSAGE, STORED):
        before, after, both = comparison.sums(group)
        first, second = words.count(f"{group}_id", before), words.count(f"{group}_id", after)
        if before and after and before == after == both:
            parts.append(words("compare.same", ids=first))
        elif before and after:
            are = {"both": both, "missing": before - both, "new": after - both}
            said = {name: words.count("compare_are", n) for name, n in are.items()}
            parts.append(words("compare.said", ids=first, **said))
        elif before or after:
            side, other = SIDES if before else SIDES[::-1]
            named = {"side": words(f"compare.the_{side}"), "other": words(f"compare.the_{other}")}
            parts.append(words("compare.one_side", ids=first if before else second, **named))
    if not comparison.rows:
        return words("compare.none")
    return words("compare.between").join([*parts, words("compare.alike")] if alike else parts)


def headline(run: Run, comparison: Compared, reader: Reader) -> str:
    """What share of one input is not in the other, by their names, and when most of it was generated.

    Of the input that has more alone; empty where both are the same, or cannot be compared.
    """
    words = reader.words
    group = comparison.group
    before, after, both = comparison.sums(group)
    if not before or not after or before == after == both:
        return ""
    side = "before" if before - both >= after - both else "after"
    whole = before if side == "before" else after
    here, there = (printable(name) for name in names_of(run, words)[:: 1 if side == "before" else -1])
    share, gone = words.share(whole - both, whole), f"{whole - both:,}"
    said = words("compare.headline", share=share, kind=words(f"compare.ids_of_{group}"), here=here, there=there)
    figures = words("compare.headline_figures", n=gone, all=f"{whole:,}")
    if group == MESSAGE and (most := densest(comparison, side)) is not None:
        first, last, number = most
        span = between(from_ms(first, reader.zone), from_ms(last, reader.zone), reader.zone)
        figures += words("compare.headline_most", n=f"{number:,}", first=span[0], last=span[1])
        figures += words.assumed(_assumed_in(comparison, side))
    elif group == MESSAGE and is_even(comparison, side):
        figures += words("compare.headline_even")
    parts = [said, figures + words("stop")]
    if (most_of := concentrated(comparison, side)) is not None:
        row, gone_there = most_of
        n, ids = f"{only(row, side):,}", words(f"compare.ids_of_{GROUPS[row.kind]}")
        parts.append(words("compare.headline_place", n=n, all=f"{gone_there:,}", kind=ids, who=row.origin.brief))
    return words("compare.between").join(parts)


def _assumed_in(comparison: Compared, side: str) -> tuple[str, ...]:
    """What is assumed of the times of the IDs that one input has alone."""
    known = [span.assumed for (of, _, _), span in comparison.generated.items() if of == side]
    of_each = (sum(any(code.startswith(name) for code in codes) for codes in known) for name in ("month", "zone"))
    return assumptions.assumed_of_many(len(known), *of_each)


def is_even(comparison: Compared, side: str) -> bool:
    """Whether a missing ID is about as likely at each time; not where too few are missing, or too few times are known.

    A test of independence: of a side that is even, the sum of squares is about as large as its degrees of freedom.
    """
    rows = [(missing, ids) for of, _, missing, ids in comparison.rates if of == side and ids]
    gone, every = (sum(column) for column in zip(*rows, strict=True)) if rows else (0, 0)
    if len(rows) < _FEW_TIMES or min(gone, every - gone) < _LEAST_EACH * len(rows):
        return False
    share = gone / every
    squares = sum((missing - ids * share) ** 2 / (ids * share * (1 - share)) for missing, ids in rows)
    return squares <= len(rows) + 3 * math.sqrt(2 * len(rows))


def concentrated(comparison: Compared, side: str) -> tuple[Difference, int] | None:
    """The broker, else the producer, that has most of what one side alone has, and how many that is of all.

    None where it is no news: the place has about as much of everything.
    """
    for group in (STORED, MESSAGE):
        rows = [row for row in comparison.rows if GROUPS[row.kind] == group and comparison.can_differ(row.kind)]
        gone = sum(only(row, side) for row in rows)
        if len(rows) < 2 or gone < _FEW:
            continue
        most = max(rows, key=lambda row: only(row, side))
        whole, here = (sum(getattr(row, side) for row in some) for some in (rows, [most]))
        share = only(most, side) / gone
        if share >= _MOST_OF and here / whole <= share - _NEWS and _is_no_chance(only(most, side), gone, here / whole):
            return most, gone
    return None


def _is_no_chance(here: int, missing: int, share: float) -> bool:
    """Whether so many of the missing IDs would hardly be, by chance, where this share of all IDs is."""
    parts = (here / missing, share), (1 - here / missing, 1 - share)
    return missing * sum(part * math.log(part / of_all) for part, of_all in parts if part) > _NO_CHANCE


def names_of(run: Run, words: Words) -> tuple[str, str]:
    """What both inputs are called: the file, or the first of several; pasted ones and equal names by their side."""
    names = [side[0] if side else "" for side in run.options["sides"]]
    rest = [len(side) - 1 for side in run.options["sides"]]
    if names[0] == names[1] or PASTED in names:
        first, second = (words(f"compare.the_{side}") for side in SIDES)
        return first, second
    pairs = zip(names, rest, strict=True)
    here, there = (words("compare.and_files", name=name, n=f"{more:,}") if more else name for name, more in pairs)
    return here, there


def densest(comparison: Compared, side: str) -> tuple[int, int, int] | None:
    """The time that stands out most above twice the share that is missing in all: first and last ms, IDs missing.

    None where it has less than half of the missing IDs, or is more than half of the time, or may be chance.
    """
    rows = [(at, missing, ids) for of, at, missing, ids in comparison.rates if of == side and ids]
    all_missing, all_ids = sum(missing for _, missing, _ in rows), sum(ids for _, _, ids in rows)
    best, sum_here, start, span = 0.0, 0.0, 0, (0, -1)
    for place, (_, missing, ids) in enumerate(rows):  # Kadane's: the span with the largest sum
        if sum_here <= 0:
            sum_here, start = 0.0, place
        sum_here += missing - 2 * ids * all_missing / all_ids
        if sum_here > best:
            best, span = sum_here, (start, place)
    first, last = span
    number, ids_there = (sum(row[column] for row in rows[first : last + 1]) for column in (1, 2))
    if not number or last - first + 1 > len(rows) // 2 or number * 2 < all_missing:
        return None
    if not _is_no_chance(number, all_missing, ids_there / all_ids):
        return None
    return rows[first][0], rows[last][0] + comparison.rate_seconds * 1000, number


def rates(comparison: Compared) -> pd.DataFrame:
    """Of each side, by the moment a bin begins, how many IDs the other one lacks, of how many."""
    import pandas as pd

    rows = pd.DataFrame(comparison.rates, columns=["side", "at", "missing", "ids"])
    rows["at"] = pd.to_datetime(rows["at"], unit="ms", utc=True)
    return rows


def alt_rates(rows: pd.DataFrame, run: Run, reader: Reader) -> str:
    """The picture in words: of each side the largest share that is missing from the other, and when."""
    words, parts = reader.words, []
    for place, side in enumerate(SIDES):
        mine = rows[(rows["side"] == side) & (rows["missing"] > 0)]
        if len(mine):
            worst = mine.loc[(mine["missing"] / mine["ids"]).idxmax()]
            here, there = names_of(run, words)[:: 1 if place == 0 else -1]
            share = words.share(int(worst["missing"]), int(worst["ids"]))
            at = reader.minute(worst["at"].to_pydatetime())
            parts.append(words("compare.alt_rate", here=here, there=there, share=share, at=at))
    return words("compare.alt_rates", rows=words("clause").join(parts))


def alt(kind: str, groups: Sequence[Group], words: Words) -> str:
    """The picture for those who do not see it: the hosts that differ most, in figures."""
    rows = [
        words("compare.alt_row", name=name, both=f"{both:,}", missing=f"{missing:,}", new=f"{new:,}")
        for name, both, missing, new in groups[:6]
    ]
    return words(f"compare.alt_{kind}", rows=words("clause").join(rows))


def data(groups: Sequence[Group]) -> pd.DataFrame:
    """The data behind the picture."""
    import pandas as pd

    return pd.DataFrame(groups, columns=["host", "both", "only_first", "only_second"])


def largest_groups(groups: Sequence[Group], most: int, words: Words) -> list[Group]:
    """The first groups, and all others as one; one more is shown rather than summed up alone."""
    cut = most if len(groups) > most + 1 else len(groups)
    rest = groups[cut:]
    if not rest:
        return list(groups)
    both, missing, new = (sum(counts) for counts in list(zip(*rest, strict=True))[1:])
    return [*groups[:cut], (words("producers.others", n=f"{len(rest):,}"), both, missing, new)]


def ticks(rows: pd.DataFrame) -> list[int]:
    """Round numbers around 0, for the ids of the first input above it and those of the second below it."""
    sums = rows.groupby(["side", "at"])["ids"].sum().groupby("side").max()
    up, down = int(sums.get("before", 0)), int(sums.get("after", 0))
    steps = (digit * 10**power for power in range(15) for digit in (1, 2, 5))
    step = next(step for step in steps if max(up, down) <= 4 * step)
    below, above = ((most + step - 1) // step for most in (down, up))
    return list(range(-below * step, above * step + 1, step))


def times(comparison: Compared) -> pd.DataFrame:
    """Ids that only one side has, by the moment a bin begins, side and producer; small producers are one."""
    import pandas as pd

    rows = pd.DataFrame(comparison.bins, columns=["side", "kind", "producer", "at", "ids"])
    rows["at"] = pd.to_datetime(rows["at"], unit="ms", utc=True)
    first = rows[rows["producer"] != ""].groupby("producer")["ids"].sum().sort_values(ascending=False, kind="stable")
    rows.loc[~rows["producer"].isin(first.index[:SERIES]), "producer"] = ""
    return rows.groupby(["side", "producer", "at"], as_index=False)["ids"].sum()


def series(rows: pd.DataFrame) -> Iterator[tuple[int, str, str, pd.DataFrame]]:
    """The rows of each producer, those with most ids first, and of its sides: its place, its name, the side."""
    order = rows.groupby("producer")["ids"].sum().sort_values(ascending=False, kind="stable").index
    names = [name for name in order if name] + ([""] if "" in order else [])
    for place, name in enumerate(names):
        for side in SIDES:
            mine = rows[(rows["producer"] == name) & (rows["side"] == side)]
            if not mine.empty:
                yield place, name, side, mine


def alt_over_time(rows: pd.DataFrame, reader: Reader) -> str:
    """The picture in words: of each side how many ids, from when to when."""
    words, parts = reader.words, []
    for side in SIDES:
        mine = rows[rows["side"] == side]
        if len(mine):
            first, last = (reader.minute(at.to_pydatetime()) for at in (mine["at"].min(), mine["at"].max()))
            ids = words.count("id", int(mine["ids"].sum()))
            parts.append(words(f"compare.alt_{side}", ids=ids, first=first, last=last))
    return words("compare.alt_times", rows=words("clause").join(parts))


def data_over_time(rows: pd.DataFrame) -> pd.DataFrame:
    """The data behind the picture."""
    return rows.replace({"side": {"before": "first", "after": "second"}})


def unread(comparison: Compared, words: Words) -> str:
    """What could not be read of the inputs."""
    names = words("comma").join(escaped(f"{name}: {words.said(why)}") for name, why in comparison.problems[:5])
    return words("compare.unread", names=names) if names else ""


def as_command(here: ComparisonQuery) -> str:
    """The command that compares inputs of any size."""
    sides = (here.before, "first-logs"), (here.after, "second-logs")
    names = (side[0].name if len(side) == 1 else other for side, other in sides)
    return f"python -m idcore compare {' '.join(map(shlex.quote, names))} --out only"


def alone(comparison: Compared, words: Words) -> list[str]:
    """Why there is no table by broker, where an input names messages by their msgId alone."""
    sides = words.listed([words(f"compare.the_{side}") for side in comparison.named_alone])
    return [words("compare.named_alone", count=len(comparison.named_alone), sides=sides)] if sides else []


def notes(run: Run, comparison: Compared, in_range: bool, asked: bool, reader: Reader) -> list[str]:
    """What was assumed, and what was cut. `asked`: for a time range, which no input may be able to show."""
    words, options = reader.words, run.options
    names = {
        side: words("comma").join(words("decode.pasted") if name == PASTED else name for name in sources)
        for side, sources in zip(SIDES, options["sides"], strict=True)
    }
    undated = sum(
        only(row, side) - (span.dated if (span := comparison.generated.get((side, row.kind, row.subject))) else 0)
        for side in SIDES
        for row in largest(comparison, side)
        if row.kind != "offset"
    )
    cut = any(len(comparison.ids[side]) == KEPT for side in SIDES)
    return [
        words("compare.inputs", **names),
        words("compare.range_note") if in_range else "",
        words("compare.range_scans") if asked and not in_range else "",
        words("compare.apart"),
        *alone(comparison, words),
        words("compare.no_proof"),
        words("compare.lines_of_many", n=f"{LINKED:,}") if any(options["of"]) else "",
        words("compare.undated", ids=words.count("id", undated)) if undated else "",
        words("compare.case_any" if options["case"] == "any" else "compare.case_strict"),
        words("compare.cut", n=f"{KEPT:,}") if cut else "",
        words("compare.kept", at=reader.minute(run.created)) if run.kept else "",
    ]
