"""The fields that a line has besides its IDs: of a SendResult, of a MessageExt, of JSON. Judges none of them."""

from __future__ import annotations

from idcore.base.lazy_pattern import lazy_pattern

# As SendResult and MessageExt print them, in the order in which a person asks for them.
NAMES = (
    *("topic", "brokerName", "queueId", "queueOffset", "sendStatus", "consumerGroup", "TAGS", "KEYS", "tags", "keys"),
    *("reconsumeTimes", "bornHost", "bornTimestamp", "storeHost", "storeTimestamp", "commitLogOffset", "storeSize"),
    *("bodyCRC", "sysFlag", "flag", "preparedTransactionOffset", "transactionId", "regionId", "recallHandle"),
)
_PAIR = lazy_pattern(rf"""(?<![A-Za-z0-9_])({"|".join(NAMES)})["'\\]*\s*[=:]\s*["'\\]*([^\s,;\]\[}}{{)("'\\]+)""")
_EMPTY = {"null", "None", "nil"}


def fields_of(line: str) -> dict[str, str]:
    """The first value of each field of a line, in their order; none without a value.

    >>> fields_of("SendResult [sendStatus=SEND_OK, messageQueue=MessageQueue [topic=Paid, brokerName=a, queueId=3]]")
    {'topic': 'Paid', 'brokerName': 'a', 'queueId': '3', 'sendStatus': 'SEND_OK'}
    """
    known: dict[str, str] = {}
    for name, value in _PAIR.findall(line):
        if value not in _EMPTY:
            known.setdefault(name, value.lstrip("/") if name.endswith("Host") else value)
    return {name: known[name] for name in NAMES if name in known}
