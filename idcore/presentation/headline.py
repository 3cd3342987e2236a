"""Who is in trouble with a message and why, in one sentence: the same words at every door. Judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from idcore.answers.fate import Verdict
from idcore.answers.fate.levels import UNDELIVERED, order_of
from idcore.answers.fate.rule import CONSUMED
from idcore.answers.fate.sentences import Time, reason_text, trouble_text, utc
from idcore.answers.journey.events import HELD
from idcore.answers.journey.model import Journey
from idcore.answers.journey.sentences import said
from idcore.answers.lookup.model import Answer
from idcore.base.catalogue import Words, upper
from idcore.rocketmq.message.model import LIGHT_PREFIX

Asked = Literal["cluster", "store", ""]
_SURE = ("proved", "inferred", "uncertain", "none")  # certainties of a verdict, the best first
_MOST_REASONS, _MOST_NAMED = 3, 3
# Of a verdict's reasons, what somebody can act on.
TELLING = ("unfinished", "blocker", "not_subscribed", "offline", "disabled", "unreadable_queue", "filtered_ahead")
# Verdicts of a message that its group needs nothing more of; a filter that excludes it is not a fault.
HEALTHY = CONSUMED | {"filtered", "filtered_ahead"}


def of_groups(answer: Answer) -> list[Verdict]:
    """One verdict for each group and topic, the worst first.

    A producer's retry stores a message twice: a group that consumed one of the records has the message.
    """
    topics = _topics(answer)
    every: dict[tuple[str, str | None], list[Verdict]] = {}
    for verdict in answer.fate or ():
        every.setdefault((verdict.group, _topic(verdict, topics)), []).append(verdict)
    chosen = [_chosen(verdicts) for verdicts in every.values()]
    return sorted(chosen, key=lambda verdict: (order_of(verdict.code), verdict.group))


def _topics(answer: Answer) -> dict[str, str]:
    return {str(copy.record.offset_id): copy.record.topic for copy in answer.copies}


def _topic(verdict: Verdict, topics: Mapping[str, str]) -> str | None:
    """Of the record, or of the light topic in whose queue it was judged."""
    queue = next((str(fact.value) for fact in verdict.facts if fact.name == "queue"), "")
    names = [name for name in queue.split(" ") if name.startswith(LIGHT_PREFIX)]
    return names[0] if names else topics.get(verdict.record)


def _chosen(verdicts: Sequence[Verdict]) -> Verdict:
    done = [verdict for verdict in verdicts if verdict.code in CONSUMED]
    if done:
        return min(done, key=lambda verdict: _SURE.index(verdict.certainty))
    return min(verdicts, key=lambda verdict: order_of(verdict.code))


def headline(answer: Answer, words: Words, time: Time = utc) -> str:
    """Who has not consumed a message and why; how many groups have it, and of how many that is not known."""
    kinds = {copy.relation for copy in answer.copies} - {"trace"}
    verdicts = of_groups(answer)
    if not verdicts:
        return words("message.not_found" if not kinds else "message.held" if kinds <= HELD else "message.no_groups")
    troubled = [verdict for verdict in verdicts if verdict.code in UNDELIVERED]
    topics = _topics(answer)
    several = len({_topic(verdict, topics) for verdict in verdicts}) > 1
    named = {id(each): each.group + (f" ({_topic(each, topics) or '?'})" if several else "") for each in troubled}
    in_trouble = {verdict.group for verdict in troubled}
    others = [verdict for verdict in verdicts if verdict.group not in in_trouble]
    parts = [*_troubles(troubled, named, words, time), *_rest(others, bool(troubled), words)]
    return upper(words("headline.join").join(parts)) + words("stop")


def others_text(verdicts: Sequence[Verdict], words: Words) -> str:
    """What a table folds: how many groups need nothing more of the message."""
    return words("headline.join").join(_rest(verdicts, True, words))


def to_read_and_folded(verdicts: Iterable[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """The verdicts that somebody has to read, the worst first, and those that may be folded below them."""
    ordered = sorted(verdicts, key=lambda verdict: (order_of(verdict.code), verdict.group))
    open_ones = [verdict for verdict in ordered if verdict.code not in HEALTHY]
    healthy = [verdict for verdict in ordered if verdict.code in HEALTHY]
    return (open_ones, healthy) if open_ones else (healthy, [])


def _troubles(verdicts: Sequence[Verdict], name_of: Mapping[int, str], words: Words, time: Time) -> list[str]:
    """Groups with their reason, the worst first; a reason that several have is said once."""
    shared: dict[tuple[str, str], list[str]] = {}
    for verdict in verdicts:
        key = "headline.maybe" if verdict.certainty == "uncertain" else "headline.trouble"
        names = shared.setdefault((key, _verdict_words(verdict, words, time)), [])
        names.append(name_of[id(verdict)])
    parts = []
    for (key, reason), groups in list(shared.items())[:_MOST_REASONS]:
        named = [f"**{group}**" for group in groups[:_MOST_NAMED]]
        more = len(groups) - len(named)
        named += [words.count("more_group", more)] if more else []
        parts.append(words(key, count=len(groups), groups=words.listed(named), reason=reason))
    left = {group for groups in list(shared.values())[_MOST_REASONS:] for group in groups}
    return parts + ([words("headline.more", groups=words.count("more_group", len(left)))] if left else [])


def _verdict_words(verdict: Verdict, words: Words, time: Time) -> str:
    text = trouble_text(verdict, words, time)
    telling = {reason.code: reason for reason in verdict.why}
    code = next((code for code in TELLING if code in telling), None)
    return text if code is None else words("headline.because", what=text, why=reason_text(telling[code], words, time))


def _rest(verdicts: Sequence[Verdict], others: bool, words: Words) -> list[str]:
    """How many groups are not in trouble, by what became of the message there, and how sure that is."""
    of_kind: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.code not in UNDELIVERED:
            of_kind.setdefault("consumed" if verdict.code in CONSUMED else verdict.code, []).append(verdict)
    parts = []
    for code in sorted(of_kind, key=lambda code: code != "consumed"):
        count = len({verdict.group for verdict in of_kind[code]})
        noun = "other_group" if others and code == "consumed" else "judged_group"
        text = words(f"headline.rest.{code}", count=count, groups=words.count(noun, count))
        parts.append(text + (_how_sure(of_kind[code], words) if code == "consumed" else ""))
    return parts


def _how_sure(verdicts: Iterable[Verdict], words: Words) -> str:
    """By what it is known of the groups that consumed it; empty where all is proved."""
    counts: Counter[str] = Counter(verdict.certainty for verdict in verdicts)
    if not counts.keys() - {"proved"}:
        return ""
    known = [(f"{counts[name]:,}", words(f"fate.certainty.{name}")) for name in _SURE if name in counts]
    parts = [words("headline.sure_part", n=n, certainty=certainty) for n, certainty in known]
    if len(known) == 1:  # of all of them: their number stands before it
        parts = [certainty for _, certainty in known]
    return words("headline.sure", parts=words("comma").join(parts))


def answers_text(
    known: Sequence[Answer],
    whom: Asked,
    words: Words,
    journey: Journey | None = None,
    time: Time = utc,
) -> str:
    """Whether the message was consumed, as far as somebody was asked. `whom`: who can be asked next."""
    answer = next((each for each in known if each.fate is not None), None)
    if answer is None and journey is not None and said(journey, words):
        return words("message.lines_say")
    if answer is None:
        return words(f"message.ask_{whom}_next" if whom else "message.no_cluster")
    return headline(answer, words, time)
