"""A journey in one language, and as a row: which messages of the catalogue its events are. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import log10
from typing import Any

from idcore.answers.fate import Verdict
from idcore.answers.fate.sentences import utc, utc_if_known, verdict_text
from idcore.answers.journey.model import Conflict, Event, Gap, Journey
from idcore.base import catalogue
from idcore.base.catalogue import Words
from idcore.ids.delivery_sentences import MOST_RETRIES, delay_of, try_text
from idcore.ids.delivery_sentences import sentences as delivery_texts

Time = Callable[[int], str]

_ENGLISH = catalogue.words()
_COUNTS = {"lines": "line", "records": "stored", "groups": "judged_group", "trace": "trace_context"}
NEXT_FOLLOWS = ("exception", "failed", "retried", "null", "time_out")  # outcomes behind which the broker tries again
_OF_TRIES = ("logged_message", "logged_received", "logged_failed")
_LONGEST = 24  # of a name in few words


def event_text(event: Event, words: Words = _ENGLISH, time: Time = utc) -> str:
    """An event as a sentence."""
    values = dict(event.values)
    if event.code == "judged":
        verdict = Verdict(event.who, event.evidence, values["verdict"], values["certainty"], values["verdict_values"])
        values["verdict"] = verdict_text(verdict, words, time)
    elif event.code == "stored":
        key = f"lookup.relation.{values['relation']}"
        relation = {"group": values.get("group"), "tries": f"{values.get('tries') or 0:,}"}
        values["what"] = _said(key if words.has(key) else "lookup.relation.message", relation, words)
    elif event.code == "attempt":
        values["ended"] = outcome_text(values["outcome"], words)
    elif event.code == "sent":
        values["ended"] = words(f"journey.sent.{values['success']}".lower())
    elif _names_try(event):
        values["try"] = try_text(event.values["tries"], words)
    text = _said(f"journey.event.{event.code}{_form(event)}", {"who": event.who or "?", **values}, words)
    if event.values.get("moved_ms"):
        text += words("journey.moved", by_seconds=abs(event.values["moved_ms"]) / 1000)
    return text


def whole_text(event: Event, words: Words = _ENGLISH, time: Time = utc) -> str:
    """The same with the number of the try and when the next one follows, as its picture has it."""
    is_numbered = event.code == "attempt" or (event.code == "logged_failed" and _names_try(event))
    return event_text(event, words, time) + (numbered_try(event, words) if is_numbered else "")


def _form(event: Event) -> str:
    if event.code == "attempt":
        tries = event.values["tries"]
        return "_unknown" if tries is None else "" if tries else "_first"
    if event.values.get("relation") == "printed":
        return "_printed_retry" if event.values.get("group") else "_printed"
    if event.code == "logged_send" and event.values.get("offset") is not None:
        return "_record"
    return "_try" if _names_try(event) else ""


def _names_try(event: Event) -> bool:
    """Whether a line of a consumer says which delivery it is of."""
    return event.code in _OF_TRIES and event.values.get("tries") is not None


def outcome_text(outcome: str | None, words: Words) -> str:
    """How an attempt of a consumer ended, or how the last one is going."""
    own = f"journey.outcome.{outcome or 'open'}"
    return words(own if words.has(own) else f"fate.name.{outcome}")


def source_of(event: Event) -> str:
    """Where an event is from, as a code of the catalogue: verdicts of a store folder have nobody who answered."""
    return "store" if event.source == "verdict" and not event.values.get("live", True) else event.source


def short_text(event: Event, words: Words = _ENGLISH) -> str:
    """The same in a few words, for a picture."""
    if event.code == "attempt":
        ended = outcome_text(event.values["outcome"], words)
        text = words("journey.short.attempt", group=_cut(event.values["group"] or "?"), ended=ended)
        return text + numbered_try(event, words)
    if event.code == "judged":
        return words("journey.short.judged" if event.values["live"] else "journey.short.copied", who=_cut(event.who))
    if _names_try(event):
        text = words(f"journey.short.{event.code}_try", **{"try": try_text(event.values["tries"], words)})
        return text + (numbered_try(event, words) if event.code == "logged_failed" else "")
    relation = "retry" if event.values.get("relation") == "printed" and event.values.get("group") else None
    own = f"journey.short.{event.code}_{relation or event.values.get('relation')}"
    if words.has(own):
        return words(own)
    key = f"journey.short.{event.code}"
    return words(key if words.has(key) else "journey.short.logged")


def numbered_try(event: Event, words: Words) -> str:
    """`, try 3 of 17, next in 8 min`: by the default levels, and the next one only where this one failed."""
    tries, outcome = event.values.get("tries"), event.values.get("outcome")
    if tries is None:
        return ""
    pace = event.values.get("pace")
    if pace == "orderly":  # by default without a last try, each after a second
        return words("journey.try_alone", n=f"{tries + 1:,}")
    text = words("journey.try", n=f"{tries + 1:,}", of=f"{MOST_RETRIES + 1:,}")
    failed = event.code == "logged_failed" or outcome in NEXT_FOLLOWS
    after = delay_of(tries + 1) if failed and not pace else None
    return text if after is None else text + words("journey.try_next", after=words.duration(after))


def distances(journey: Journey, most: int) -> list[float]:
    """Where each of the first events is along one axis, from 0: at least 1 apart, and 1 more for each tenfold wait.

    Waits up to a second and unknown ones are 1. What is longer is to the scale of its logarithm, in seconds.
    """
    places, before = list[float](), None
    for event in journey.events[:most]:
        at = None if event.is_open else event.at_ms
        wait = 0 if at is None or before is None else abs(at - before) / 1000
        places.append(places[-1] + 1 + log10(max(wait, 1)) if places else 0.0)
        before = at if at is not None else before
    return places


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def conflict_text(conflict: Conflict, journey: Journey, words: Words = _ENGLISH) -> str:
    """Which two times cannot both be right, and by how much."""
    who = {
        name: journey.events[place].who or "?"
        for name, place in (("first", conflict.first), ("second", conflict.second))
    }
    key = f"journey.conflict.{conflict.code}"
    if conflict.code == "zone_of_log":
        key += "_early" if conflict.values["early"] else "_late"
    return _said(key, {**who, **conflict.values, "by_seconds": conflict.by_ms / 1000}, words)


def gap_text(gap: Gap, journey: Journey, words: Words = _ENGLISH) -> str:
    """From when to when nothing is known."""
    values: dict[str, Any] = {"first": short_text(journey.events[gap.after], words)}
    if gap.before is not None:
        values["second"] = short_text(journey.events[gap.before], words)
    if gap.ms is not None:
        values["for_seconds"] = gap.ms / 1000
    return _said(f"journey.gap.{gap.code}", values, words)


def when_text(event: Event, words: Words, time: Time = utc) -> str:
    """An instant, or from when to when it may have been."""
    if event.at_ms is None:
        return words("message.undated")
    mark = words.assumed(event.values.get("assumed") or ())
    if event.earliest_ms is not None and event.latest_ms is not None and event.is_open:
        return words("message.between", first=time(event.earliest_ms), last=time(event.latest_ms)) + mark
    return time(event.at_ms) + mark


def steps(journey: Journey, words: Words) -> Iterator[str]:
    """How long after the event before each one was; empty where either is not dated, or open by hours."""
    before: int | None = None
    for event in journey.events:
        at = None if event.is_open else event.at_ms
        text = ""
        if at is not None and before is not None:
            text = ("−" if at < before else "+") + words.duration(abs(at - before) / 1000)
        yield text
        before = at if at is not None else before


def said(journey: Journey, words: Words = _ENGLISH, time: Time = utc) -> list[str]:
    """What log lines say of its delivery: claims of these lines, whatever a cluster would say."""
    places = {id(claim): place for place, claim in journey.claims}
    return delivery_texts([claim for _, claim in journey.claims], words, time, lambda claim: places[id(claim)])


def oddities(journey: Journey, words: Words, time: Time = utc) -> Iterator[tuple[str, list[str]]]:
    """What lines say of its delivery, contradictions and gaps, each kind with its heading; none where there is none."""
    conflicts = [
        f"{conflict_text(each, journey, words)} {_numbers(each.first, each.second)}" for each in journey.conflicts
    ]
    gaps = [f"{gap_text(each, journey, words)} {_numbers(each.after, each.before)}" for each in journey.gaps]
    delivery = said(journey, words, time)
    for key, texts in (("delivery.heading", delivery), ("message.conflicts", conflicts), ("message.gaps", gaps)):
        if texts:
            yield words(key), list(dict.fromkeys(texts))


def _numbers(*places: int | None) -> str:
    """The numbers of events, as pictures and tables have them."""
    return f"({', '.join(f'{place + 1}' for place in dict.fromkeys(places) if place is not None)})"


def found_text(journey: Journey, words: Words) -> str:
    """What each source gave, and which nobody asked."""
    parts = [
        words(f"message.none_{name}") if count is None else words.count(_COUNTS[name], count)
        for name, count in journey.found.items()
    ]
    return words("message.sources", found=words("comma").join(parts))


def _said(key: str, values: Mapping[str, Any], words: Words) -> str:
    """A message; what the values do not hold is a question mark, whole numbers have their separators."""
    shown = {name: _shown(value) for name, value in values.items() if value is not None}
    return words.fill_known(key, shown)


def _shown(value: Any) -> Any:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


def row_of(journey: Journey) -> dict[str, Any]:
    """A journey as JSON has it: codes with their English sentences, instants in UTC, events by their numbers from 1."""
    return {
        "events": [
            {
                "number": number,
                "at": utc_if_known(event.at_ms),
                "until": utc_if_known(event.until_ms),
                "earliest": utc_if_known(event.earliest_ms),
                "latest": utc_if_known(event.latest_ms),
                "code": event.code,
                "text": event_text(event),
                "source": event.source,
                "role": event.role,
                "who": event.who,
                "evidence": event.evidence,
                "values": dict(event.values),
            }
            for number, event in enumerate(journey.events, 1)
        ],
        "conflicts": [
            {
                "code": each.code,
                "first": each.first + 1,
                "second": each.second + 1,
                "by_ms": each.by_ms,
                "values": dict(each.values),
                "text": conflict_text(each, journey),
            }
            for each in journey.conflicts
        ],
        "gaps": [
            {
                "code": each.code,
                "after": each.after + 1,
                "before": None if each.before is None else each.before + 1,
                "ms": each.ms,
                "text": gap_text(each, journey),
            }
            for each in journey.gaps
        ],
        "found": dict(journey.found),
        "said": said(journey),
    }
