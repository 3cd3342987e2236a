"""Words by which a line says that a send failed: those of RocketMQ's own classes, and those of applications."""

from __future__ import annotations

import re
from functools import lru_cache

from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids.delivery_words import claimed_in

# What is sent that is no message of a producer: a consumer's work, or talk between clients and brokers.
_NO_MESSAGE = r"(?:sms|e-?mails?|mails?|notif|heart|response|back|ack)\b|notif"
_ZH_NO_MESSAGE = "短信|邮件|通知|验证码|心跳|回执|响应|推送"
# What denies a failure is in front of it, and a count of none, or the name of a limit, is behind it.
_NOT_DENIED = "".join(
    f"(?<!{word})"
    for word in ("无", "未", "不", "没", "没有", "无任何", "没有任何", "未发生", "没有发生", "未出现", "没有出现")
)
_NO_COUNT = r"(?!(?:次数|(?:条|个)?数|数量|总数)?\s?(?:[=:]|：)?\s?0(?!\d))"
_FAILING = r"(?:failed|failure|fails|fail|error|exception|timed[ -]out)\b"
_NOT_ZERO = r"(?!\s?[=:]\s?(?:0|null|none|false)\b)"
_IS = r"[\"']?\s?[=:]\s?[\"']?"
_GAP = rf"(?:(?!\b(?:{_NO_MESSAGE}))[^\n\[\]{{}}=]){{0,40}}?"  # between what is done and how it ends
_SAID = (
    r"send(?:Default|Kernel)Impl exception|times, still failed"
    rf"|\b(?:send(?:ing)?|(?:publish|produc)(?:e|ing)? (?:mq |rocketmq )?(?:message|msg))\b{_GAP}"
    rf"(?<!0 )(?<!no )(?<!not )(?<!never )(?<!without )(?<!n't )\b{_FAILING}(?! count){_NOT_ZERO}"
    r"|(?<!not )(?<!never )(?<!n't )\b(?:failed|unable) to (?:send|publish)\b(?!:? ?0\b)"
    rf"(?! (?:\w{{1,20}} ){{0,3}}(?:{_NO_MESSAGE}))"
    r"|\bsend_(?:message_|msg_)?fail(?:ed|ure)?\b(?![_-])"
    rf"|\bsend[ _]?(?:message |msg )?(?:result|status){_IS}(?:fail|error|exception|timeout|false\b)"
    rf"|(?:发送(?:(?!成功|{_ZH_NO_MESSAGE})[^\n]){{0,30}}?|消息投递|投递消息){_NOT_DENIED}"
    rf"(?:失败|异常|超时(?!时|阈|设|配|参)){_NO_COUNT}"
)
# What names its class alone: of a gap between two IDs it tells enough, of an ID in the same line it does not.
_CLASSES = (
    "sendDefaultImpl|Remoting(?:TooMuchRequest|Timeout|Connect|SendRequest)"
    "|MQClientException|MQBrokerException|No route info of this topic|TIMEOUT_CLEAN_QUEUE"
)
_FAILED = lazy_pattern(_SAID, re.ASCII | re.IGNORECASE)
_FAILED_OR_CLASS = lazy_pattern(f"({_CLASSES})|(?i:{_SAID})", re.ASCII)
# That it went well in the end, behind the failure: 发送失败，重试成功.
_ENDED_WELL = lazy_pattern(r"(?<![未不没])(?<!没有)成功|(?<!un)(?<!not )\bsucce(?:ss|ed)|send_ok")
_SENT = lazy_pattern(
    r"(?i)(?:(?<![未不没])(?<!没有)发送(?:[^\n失败异常，。,;；]{0,12})成功"
    r"|\b(?:send|sent|publish(?:ed)?)\b[^\n\[\]{}=]{0,30}?(?<!not )(?<!un)\b(?:success(?:ful|fully)?|succeeded|ok)\b"
    r"|\bsuccess(?:fully)? (?:send|sent|publish(?:ed)?)\b)"
)
_FAILING_WORDS = ("ail", "AIL", "rror", "RROR", "xception", "imed", "imeout", "失败", "异常", "超时", "false")
_SENDING_WORDS = ("end", "END", "ublish", "UBLISH", "roduc", "still failed", "发送", "投递")
# A client prints the message of a failed send on a line of its own, behind the stack trace.
_MESSAGE = lazy_pattern(r"Message ?[{\[(](?=topic=)")
_FIGURES = lazy_pattern(r"(?<!\w)\w*\d\w*")
_NEAR, _FAR = 200, 4_096  # characters in front in which a denial counts, and in which a message begins
MOST_BETWEEN = 200  # lines of a stack trace, and of other threads, between the two


@lru_cache(maxsize=2)  # of one line, and of what is near an ID in it
def may_fail(text: str) -> bool:
    """Whether it has words of which each failed send has one: most texts are told apart by them."""
    return any(word in text for word in _FAILING_WORDS) and any(word in text for word in _SENDING_WORDS)


def failed_send(text: str) -> bool:
    """Whether a text says that a send failed, and nothing of an end that went well.

    >>> [failed_send(text) for text in ("send failed, msgId=0A", "发送失败", "发送失败，重试成功", "no send failed")]
    [True, True, False, False]
    """
    if not may_fail(text):
        return False
    claimed = claimed_in(text.lower())
    match = _FAILED.search(claimed)
    return match is not None and _ENDED_WELL.search(claimed, match.end()) is None


def without_failed_send(text: str) -> str:
    """What else a text says: that of a consumer whose own send failed."""
    return _FAILED.sub(" ", text)


def last_failed_send(text: str) -> re.Match[str] | None:
    """The last place of several lines that tells of a failed send, be it by the name of an exception."""
    hits = list(_FAILED_OR_CLASS.finditer(text))
    return next((hit for hit in reversed(hits) if hit[1] or _is_claimed(text, hit)), None)


def _is_claimed(text: str, hit: re.Match[str]) -> bool:
    begin = max(text.rfind("\n", 0, hit.start()) + 1, hit.start() - _NEAR)
    line = text[begin : hit.end()]
    return _FAILED.search(claimed_in(line.lower())) is not None


def says_sent(text: str) -> bool:
    """Whether an application says that a send went well."""
    return _SENT.search(text) is not None and not failed_send(text)


class FailedSend:
    """The last line that says that a send failed and names no message: the client prints it on a later line."""

    def __init__(self) -> None:
        self._head, self._line = "", 0

    def see(self, number: int, text: str) -> None:
        """Takes in a line without an ID."""
        if not text[:1].isspace() and failed_send(text) and (match := _FAILED.search(text)) is not None:
            self._head, self._line = _head_of(text, match.start()), number

    def may_be_of(self, text: str) -> bool:
        """Whether a line may print the message of the last failure."""
        return self._line > 0 and "Message" in text

    def of(self, number: int, text: str) -> int:
        """The line that says that the message which this line prints was not sent; 0 where none does.

        One class prints both, and what is in front of the message is no more than in front of the failure.
        """
        match = _MESSAGE.search(text) if self._line and number - self._line <= MOST_BETWEEN else None
        if match is None or _head_of(text, match.start()) != self._head:
            return 0
        line, self._line = self._line, 0
        return line


def _head_of(text: str, stop: int) -> str:
    """What stands in front of a place, without times, threads and numbers."""
    return _FIGURES.sub("", text[:stop])


def prints_message(text: str) -> bool:
    """Whether a line prints a message as producers do."""
    return "Message" in text and _MESSAGE.search(text) is not None


def before_message(text: str, at: int) -> str | None:
    """What is in front of a message that a producer printed around a place; None where none is."""
    starts = [match.start() for match in _MESSAGE.finditer(text, max(0, at - _FAR), at)]
    return text[: starts[-1]] if starts else None
