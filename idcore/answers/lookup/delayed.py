"""A message that waits for its time: what its broker is asked about the delay. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence

from idcore.answers.fate import Observation
from idcore.answers.fate.delayed import DelayedMessage, decide, is_off_the_wheel
from idcore.answers.fate.sentences import utc
from idcore.answers.lookup.copies import TIMER_TOPIC
from idcore.answers.lookup.group_evidence import is_past
from idcore.answers.lookup.model import Copy
from idcore.answers.lookup.notes import Notes
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.remoting.consumers import AllDelayOffsets, TimerRead
from idcore.rocketmq.remoting.requests import QueueSlice

# A broker delivers what is due in steps, and notes its place once a second.
SLACK_MS = 3_000


def look(copies: Sequence[Copy], notes: Notes, now_ms: int) -> None:
    """Adds when consumers get the message, or that they never do."""
    waiting = [copy for copy in copies if copy.relation in ("timer", "delayed")]
    newest = max(waiting, key=lambda copy: copy.record.store_timestamp)
    later_copy = _timer(newest, notes) if newest.record.topic == TIMER_TOPIC else _level(newest, notes)
    recalled = any(copy.relation == "recall" for copy in copies)
    topic = newest.record.properties.get(names.REAL_TOPIC, "")
    reason = decide(DelayedMessage(topic, later_copy[0], recalled, later_copy[1]), now_ms - SLACK_MS)
    if reason is not None:
        shown = {name: utc(value) if name == "due" else value for name, value in reason.values.items()}
        notes.add(reason.code, **shown)


def _timer(copy: Copy, notes: Notes) -> tuple[int | None, Observation[bool]]:
    due = names.number(copy.record.properties.get(names.TIMER_OUT))
    (read,) = notes.heard(copy.broker, [TimerRead()])
    done = is_off_the_wheel(due, read.value)
    return due, Observation() if done is None else Observation(done, read.at_ms)


def _level(copy: Copy, notes: Notes) -> tuple[int | None, Observation[bool]]:
    record = copy.record
    (part,) = notes.heard(copy.broker, [QueueSlice(record.topic, record.queue_id, record.queue_offset, 1)])
    (levels,) = notes.heard(copy.broker, [AllDelayOffsets()])
    passed: Observation[bool] = Observation()
    if levels.value is not None:  # a level that is not listed has delivered nothing yet
        passed = Observation(is_past(levels.value.get(record.queue_id + 1, 0), record.queue_offset), levels.at_ms)
    return (part.value.units[0].tags_code if part.value is not None and part.value.units else None), passed
