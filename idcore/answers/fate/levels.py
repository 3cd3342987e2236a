"""How bad a verdict is: one order of them, the worst first, in seven levels. Judges nothing and has no words."""

from __future__ import annotations

# Level -> its verdicts. What nothing but a person mends is worse than what the group is on its way to.
LEVELS: dict[str, tuple[str, ...]] = {
    "dead": ("dead",),
    "blocked": (
        "unreadable_queue",
        "disabled",
        "not_dispatched",
        "never_read",
        "not_subscribed",
        "offline",
        "unacknowledged",
        "stuck",
    ),
    "retry": ("retry_queued", "retry_waiting"),
    "waiting": ("behind", "handed_out"),
    "unclear": ("no_verdict", "passed_maybe_skipped", "taken", "broadcast", "running"),
    "retried": ("consumed_on_retry",),  # received, after a failure
    "done": ("filtered_ahead", "filtered", "consumed"),
}
NAMES = tuple(LEVELS)
SIGNS = {"dead": "†", "blocked": "!", "retry": "↻", "waiting": "…", "unclear": "?", "retried": "↺", "done": ""}
NOT_CONSUMED = ("dead", "blocked", "retry", "waiting")  # the group does not have the message, as far as is known
UNDELIVERED = frozenset(code for name in NOT_CONSUMED for code in LEVELS[name])
_ORDER = {code: at for at, code in enumerate(code for codes in LEVELS.values() for code in codes)}
_LEVEL = {code: at for at, codes in enumerate(LEVELS.values()) for code in codes}


def level_of(verdict: str) -> int:
    """The place of its level in NAMES. What a later version calls a verdict is unclear here."""
    return _LEVEL.get(verdict, NAMES.index("unclear"))


def order_of(verdict: str) -> tuple[int, int]:
    """What verdicts are sorted by: the worst first."""
    return level_of(verdict), _ORDER.get(verdict, _ORDER["consumed"])
