"""What was read at once, in sentences: how many of which kind, why others were rejected, what dates them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from idcore.base.catalogue import Words
from idcore.base.layout import ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids.assumptions import assumed, assumed_of_many
from idcore.ids.clock import Clock
from idcore.ids.describe import made_by, month_source, when
from idcore.ids.identify import Verdict
from idcore.ids.model import ClientId, OffsetId
from idcore.ids.origins import Fingerprint
from idcore.ids.other_forms import LOOKED_AT, other_forms
from idcore.intake.intake import PASTED, FoundId, Intake, Source, zones_of
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.times import offset_text

NAMED = 5  # files of a sentence
MOST = 0.8  # of the ids of a list: a share that is named
WRONG_SHAPE = ("empty", "odd", "length", "digit")  # errors that only say that an id looks different
LEAST_RUN = 8  # digits: every "bad" and "fade" is a shorter run, and proves nothing
RUN = lazy_pattern(r"[0-9A-Fa-f]+")


def intake_sentence(intake: Intake, where: str, words: Words, summary: Mapping[str, Any] | None = None) -> str:
    """`2,000 ids in 1,000 lines: 1,000 msgIds and 1,000 offsetMsgIds.`

    An input that was cut has the scan's own figures once these are there, and is called the first ids until then.
    """
    kinds, total = intake.kinds, len(intake.found)
    different = len({item.token.text.upper() for item in intake.found})
    if intake.cut and summary is None:
        key = "decode.said_first" if total else "decode.said_none_yet"
    else:
        if intake.cut and summary is not None:
            kinds = {kind: summary[kind] for kind in ("uniq", "offset", "client") if summary[kind]}
            total, different = summary["ids"], summary["distinct"]
        key = "decode.said_repeated" if different != total else "decode.said"
        key = key if total else "decode.said_none"
    ordered = sorted(kinds.items(), key=lambda item: -item[1])
    return words(
        key,
        ids=words.count("occurrence" if key == "decode.said_repeated" else "id", total),
        different=words.count("distinct", different),
        lines=where,
        kinds=words.listed([words.count(f"kind_{kind}", n) for kind, n in ordered]),
    )


def common_sentences(
    intake: Intake, clock: Clock, reader: Reader, summary: Mapping[str, Any] | None = None
) -> list[str]:
    """What ids have in common, how they differ, what most are of; of a list or table also which come again.

    Of a log its messages are compared, and its records. `summary`: of the scan of all, where not all was read here.
    """
    words = reader.words
    distinct = {item.token.text.upper(): item for item in intake.found}
    if len(intake.found) < 2 or (intake.cut and summary is None):
        return []
    if intake.cut or not intake.is_list:
        aspects = _of_log(distinct.values(), clock, reader)
        if intake.cut:
            return _of_scan(aspects.values, summary or {}, words)
        alike, said = _compared(aspects, words)
        if not intake.is_table:
            return said
    else:
        said = [text for text in (other_lines(intake, words),) if text]
        alike, compared = _compared(_aspects(distinct.values() if len(distinct) > 1 else (), clock, reader), words)
        said += compared
    if again := repeated(intake):
        some = [f"{text} ({len(items):,})" for text, items in again.items()]
        said.append(words("list.again", n=words.count("id", len(again)), ids=words.first(some, NAMED)))
        theirs = _aspects([distinct[text] for text in again] if len(again) > 1 else (), clock, reader)
        if only := [text for text in _compared(theirs, words)[0] if text not in alike]:
            said.append(words("list.again_common", what=words.listed(only)))
    return said


class _Aspects(NamedTuple):
    """What ids share: each aspect that all have, with its values and how many have them; what of times is assumed."""

    values: dict[str, Counter[str]]
    mark: str = ""


def _compared(aspects: _Aspects, words: Words) -> tuple[list[str], list[str]]:
    """What all have in common, and the sentences of that, of what differs and of what most are of."""
    alike, apart, times = [], [], []
    for name, values in aspects.values.items():
        mark = aspects.mark if name == "minute" else ""
        if len(values) == 1:
            alike.append(_aspect(name, values, words) + mark)
        elif name == "minute":
            times.append(words("list.between", first=min(values), last=max(values), mark=mark))
        else:
            apart.append(words.count(name, len(values)))
    said = [words("list.common", what=words.listed(alike))] if alike else []
    said += [words("list.apart", what=words.listed(apart))] if apart else []
    return alike, [*said, *times, *_most_sentences(aspects.values, words)]


def _of_log(items: Iterable[FoundId], clock: Clock, reader: Reader) -> _Aspects:
    """The aspects of several messages, and those of several records: of one the sentence of a message says all."""
    by_kind: dict[bool, list[FoundId]] = {False: [], True: []}
    for item in items:
        best = item.verdict.best
        by_kind[best is not None and isinstance(best.id, OffsetId)].append(item)
    messages, records = (_aspects(own if len(own) > 1 else (), clock, reader) for own in by_kind.values())
    return messages._replace(values=messages.values | records.values)


def _of_scan(aspects: Mapping[str, Counter[str]], summary: Mapping[str, Any], words: Words) -> list[str]:
    """What all ids of a scan are of, of which `aspects` has those of the first; one that all are of has its name."""
    counts = {name: summary.get(key, 0) for name, key in (("host", "hosts"), ("broker", "brokers"))}
    counts["process"] = summary.get("processes", 0) + summary.get("clients", 0)
    what = []
    for name in ("process", "broker") if counts["process"] == 1 else ("process", "host", "broker"):
        if counts[name] == 1 and len(aspects.get(name, ())) == 1:
            what.append(_aspect(name, aspects[name], words))
        elif counts[name] > 1:
            what.append(words.count(name, counts[name]))
    return [words("list.apart", what=words.listed(what))] if what else []


def repeated(intake: Intake) -> dict[str, list[FoundId]]:
    """Where each ID of a list or a table is that comes more than once."""
    places: dict[str, list[FoundId]] = {}
    for item in intake.found:
        places.setdefault(item.token.text.upper(), []).append(item)
    return {text: items for text, items in places.items() if len(items) > 1}


def _aspect(name: str, values: Iterable[str], words: Words) -> str:
    """The one value that IDs have in common."""
    return words(f"list.{name}", value=escaped(next(iter(values))))


def other_lines(intake: Intake, words: Words) -> str:
    """What the lines of pasted text are that have no ID; empty where all have one, and where not all was read."""
    with_id = {item.token.line for item in intake.found}
    refused = [item for item in intake.refused if item.token.line not in with_id]
    rejected = len({item.token.line for item in refused})
    none = intake.lines - len(with_id) - rejected
    if intake.cut or len(intake.texts) != 1 or not intake.lines:
        return ""
    what = [words("list.lines_none", n=words.count("line", none))] if none > 0 else []
    if refused:
        reasons = reasons_text(Counter(item.verdict.reason or "" for item in refused), words)
        what.append(words("list.lines_rejected", n=words.count("line", rejected), reasons=reasons))
    return words("list.lines_others", what=words("clause").join(what)) if what else ""


def _most_sentences(aspects: Mapping[str, Counter[str]], words: Words) -> list[str]:
    """What nearly all ids of a list are of; of a process that has as many as its host the process alone."""
    most: dict[tuple[int, int], list[str]] = {}
    for name in ("process", "host", "maker", "broker"):
        counts = aspects.get(name, Counter())
        total = counts.total()
        for value, n in counts.most_common(1):
            known = most.setdefault((n, total), []) if MOST <= n / total < 1 else None
            if known is not None and not (name == "host" and known):
                known.append(words(f"list.{name}", value=escaped(value)))
    return [
        words("list.most", n=f"{n:,}", of=f"{total:,}", share=words.share(n, total), what=words.listed(what))
        for (n, total), what in most.items()
    ]


def _aspects(items: Iterable[FoundId], clock: Clock, reader: Reader) -> _Aspects:
    """What several ids may share."""
    values: dict[str, Counter[str]] = {name: Counter() for name in ("host", "process", "maker", "broker", "minute")}
    shared, marks, dated = set(values), Counter[str](), 0
    for item in items:
        best = item.verdict.best
        assert best is not None
        sent, reason = when(best, item.token, clock)
        own: dict[str, str] = {"maker": reader.words.coded(made_by(best, reason))}
        if isinstance(best.id, OffsetId):
            own = {"broker": best.id.address}
        elif isinstance(best.id, ClientId):
            own |= {"host": best.id.mac_text, "process": str(Fingerprint(best.id.mac_text, best.id.pid))}
        else:
            process = Fingerprint(best.id.host, best.id.pid, best.id.loader_text)
            own |= {"host": best.id.host, "process": str(process)}
        if sent is not None:
            own["minute"] = reader.minute(sent.at)
            dated += 1
            marks.update(assumed(month_source(best, reason) != "assumed", sent.zone_source))
        shared &= own.keys()
        for name, value in own.items():
            values[name][value] += 1
    if len(values["process"]) == 1:
        shared -= {"host"}  # it is in the name of the process
    mark = reader.words.assumed(assumed_of_many(dated, marks["month"], marks["zone"]))
    return _Aspects({name: counts for name, counts in values.items() if name in shared and counts}, mark)


def reasons_text(reasons: Mapping[str, int], words: Words) -> str:
    """Reasons with their counts, the most frequent first; a single one needs no count."""
    counts: Counter[str] = Counter()
    for code, n in reasons.items():  # several codes may be one to a reader
        key = f"refusal.{code}"
        counts[words(key) if words.has(key) else code] += n  # one of a newer version is shown as it is
    if len(counts) == 1:
        return next(iter(counts))
    return words("clause").join(words("aside", text=text, note=f"{n:,}") for text, n in counts.most_common())


def why_not(verdict: Verdict, words: Words) -> str:
    """Why a text is not an id: for a wrong length the lengths that ids have, for everything else the core's reason."""
    typed = verdict.text.split() == [verdict.text]  # blanks inside are not a wrong digit: the longest run counts
    if verdict.reason == "digit" and typed and len(verdict.text) in ID_DIGITS and verdict.error is not None:
        return words.error(verdict.error)  # a zero typed as the letter O: the place helps, a length does not
    if verdict.reason in WRONG_SHAPE:
        return no_run(max(map(len, RUN.findall(verdict.text)), default=0), words)
    return words.error(verdict.error) if verdict.error is not None else words("decode.no_id")


def offers(text: str, words: Words) -> Iterator[tuple[str, str]]:
    """IDs that a short text without any has in another form, each with the words of a link."""
    for one in other_forms(text[:LOOKED_AT]):
        places = words("comma").join(map(str, one.places))
        yield one.text, words(f"mended.{one.form}", id=one.text, places=places)


def no_run(longest: int, words: Words) -> str:
    """What lengths ids have, and the longest run of hex digits in the text."""
    return words("decode.no_id_run", n=f"{longest:,}") if longest >= LEAST_RUN else words("decode.no_id")


def zones_sentence(intake: Intake, clock: Clock, words: Words) -> str:
    """Which zone each source proves, where they are not of one: together they are dated as one input."""
    named = []
    for name, (zone, n) in zones_of(intake, clock).items():
        source = words("decode.pasted") if name == PASTED else escaped(name)
        at = offset_text(clock.reference.astimezone(zone))
        named.append(words("decode.zone_of", name=source, zone=at, ids=words.count("id", n)))
    return words("decode.zones", sources=words.first(named, NAMED, "clause")) if named else ""


def reading(sources: Sequence[Source], words: Words) -> str:
    """Which input is being read, and how large it is."""
    names = [words("decode.pasted") if source.name == PASTED else source.name for source in sources]
    size = words.bytes(sum(source.size for source in sources))
    return words("frame.reading", name=words.first(names, NAMED), size=size)


def unread(intake: Intake, sources: int, words: Words) -> Iterator[str]:
    """The files that could not be read at all, and those read only in part, by name and reason."""
    for key, rows in (("run.failed_files", intake.failed), ("run.part_files", intake.partly)):
        if rows:
            some = (escaped(words("aside", text=name, note=words.said(reason))) for name, reason in rows[:NAMED])
            n, of = words.count("file", len(rows)), f"{max(sources, len(rows)):,}"
            yield words(key, n=n, of=of, names=words("comma").join(some))


def dated_note(sources: Mapping[str, tuple[int, str]], words: Words) -> list[str]:
    """Where month and zone of the times shown come from, each source with its count."""
    return [words(f"dated.{name}", n=words.count("time", n), zone=zone) for name, (n, zone) in sources.items()]
