"""What became of a message for a later time that is not in its topic: evidence in, one code out. Asks nobody."""

from __future__ import annotations

from dataclasses import dataclass, field

from idcore.answers.fate.model import Observation, Reason


@dataclass(frozen=True, slots=True)
class DelayedMessage:
    """A message on the timer wheel or in a delay level.

    `passed` says whether the broker has already delivered what was due then.
    """

    topic: str
    due_ms: int | None
    recalled: bool = False
    passed: Observation[bool] = field(default_factory=Observation)


def decide(message: DelayedMessage, now_ms: int) -> Reason | None:
    """Recalled, waiting, late, or passed without a message; None where nobody said when it is due."""
    if message.recalled:
        return Reason("later_recalled", {"topic": message.topic})
    if message.due_ms is None:
        return None
    values = {"topic": message.topic, "due": message.due_ms}
    if message.passed.value:
        return Reason("later_passed", values)
    if message.due_ms > now_ms:
        return Reason("later_due", values)
    return Reason("later_late", values) if message.passed.answered else None


def is_off_the_wheel(due_ms: int | None, read_ms: int | None) -> bool | None:
    """Whether the timer wheel has delivered what is due then; None where one of the two is not known.

    The broker moves on after it has delivered a slot, and due times are rounded to slots: what is due at the instant
    that it has read up to comes next (TimerMessageStore.dequeue, HookUtils.transformTimerMessage).
    """
    return None if due_ms is None or read_ms is None else due_ms < read_ms
