"""Words by which a line says how a delivery ended: those of RocketMQ's own classes, and those of applications."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from idcore.base.lazy_pattern import lazy_pattern

# What the classes of RocketMQ print, by what it says; the first that fits. Behind the colon is a detail.
_PHRASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("skipped:dropped", ("BROADCASTING, the message consume failed",)),
    ("skipped:given_up", ("Consume too many times, ack message", "Reconsume times has reached")),
    ("failed:expired", ("send expire msg back",)),
    ("failed:given_up", ("Failed to consume message finally", "Failed to consume fifo message finally")),
    ("received:result_lost", ("dropped without process consume result", "processQueue invalid or popTimeout")),
    ("failed", ("consume message failed", "consumeMessage exception", "consumeMessageDirectly exception")),
    ("failed", ("consumeMessage return null", "consumeMessage Orderly return not OK", "Prepare to redeliver")),
    ("failed", ("Message listener raised an exception", "sendMessageBack exception", "to send message back")),
    ("failed", ("failedMessage=GenericMessage",)),  # of Spring's MessagingException, with the headers of the message
    ("failed", ("ConsumeResult.FAILURE",)),
    ("failed", ("RECONSUME_LATER", "SUSPEND_CURRENT_QUEUE_A_MOMENT", "ConsumeRetryLater", "ReconsumeLater")),
    ("unacked", ("Failed to ack message", "bad receipt handle on ack", "ackMessage fail")),
    ("acked", ("ack message successfully", "Ack message successfully", "CONSUME_SUCCESS", "ConsumeSuccess")),
    ("acked", ("ConsumeOrderlyStatus.SUCCESS", "ConsumeResult.SUCCESS", "Action.CommitMessage")),
)
# `failed=0` counts something, and so does 失败次数：0. A name that ends in a count says how often, not that it did not.
# `"consumed":false` says that it was not.
# Behind a colon at a line's end the reason follows in the next line; behind = there is none.
_NO_COUNT = (
    r"(?!(?:ed)?(?: ?(?:count|num(?:ber)?|total|rate)\b)?[\"']?\s?"
    r"(?:[=:]\s?[\"']?(?:\d+\b|false|null|none)|=\s?(?:[,;]|$)|0\b))"
)
_NOT_DONE = r"(?![\"']?\s?[=:：]\s?[\"']?(?:(?:false|null|none|no|n)\b|否|无))"
_NOT_ZERO = r"(?!:? 0\b)"
_NOT_NONE = (
    r"(?!(?:次数|[条个]?数|数量|总数|信息|原因|码)?\s?(?:[=:：]\s?(?:0(?!\d)|null|none|false|[无否])|=\s?(?:[,，;；]|$)))"
    r"(?!\s?0\s?[次条个])(?!率)"
)
_FAILED = (
    r"(?<!without )(?<!no )(?<![-_])(?:fail|failed|failure|fails|exception|error)\b(?![-_]| (?:handler|code))"
    r"(?! to (?:start|connect|reconnect|subscribe|register|init|join|rebalance|shut|pull|fetch|poll|send)\w{0,12}\b)"
)
_IS = r"""["']?\s?[=:：]\s?["']?"""
_CELL = r"(?:[,\t|]|(?:status|state|状态)[\"']?[=:：])[ \"']{0,2}"
_FAR = 200  # characters between a consumer's word and its result
_MESSAGE = r"(?:(?:the|this|an?|mq|rocketmq) ){0,2}(?:messages?|msgs?)\b"
_WELL = r"(?<!not )(?<!\b0 )\b(?:success(?:ful(?:ly)?)?|succeeded|ok)\b"  # what failed behind it is something else
_ENDED_WELL = r"(?:success(?:ful(?:ly)?)?|succeeded|completed|ok)\b"
_LABEL = r"[^\w\n]{0,3}(?:msg|message|消息)[ _]?id\W{0,4}#"  # an ID behind its name
# From the word of a consumption to a field about it: what is sent on the way has its own end.
_CONSUMING = rf"\bconsum(?:e|ed|ing|ption)\b(?:(?!sen[dt]|call|publish)[^\n]){{0,{_FAR}}}"
# What a consumer's line says of a send, it does not say of a consumption.
_SEND = (
    r"\b(?:(?:re)?sen(?:d|ds|t|ding)|forward(?:s|ed|ing)?|publish(?:es|ed|ing)?|produc(?:e|es|ed|ing)|repl(?:y|ied))\b"
)
_FAILURES, _SUCCESSES = "fail|exception|error", "success|succeeded|completed|ok"
_NOT_YET = r"(?<!not )(?<!n't )(?<!never )(?<!not yet )(?<!cannot )(?<!not been )(?<!\bbe )(?<!\bwill )(?<!waiting to )"
_NO_ANSWER = r"(?! yet)(?! (?:an? |the )?(?:ack|check|response|reply|result|send)\b)"  # a producer's
_UNDONE = "".join(
    f"(?<!{word})"
    for word in (
        "未",
        "未被",
        "未能",
        "没",
        "没有",
        "没有被",
        "不",
        "不能",
        "待",
        "无法",
        "未成功",
        "未能成功",
        "没有成功",
        "没成功",
    )
)
# Of consumers, groups, places and amounts it is no delivery that is spoken of.
_CONSUME = (
    f"{_UNDONE}消费(?!者|组|端|方|体|验证|详情|轨迹|进度|位点|堆积|延迟|线程|队列|点位|能力|速度|不[到了上]"
    "|超时[时阈配设参])"
)
_ASKED = "(?:吗|(?<![什怎])么|了没有?)"  # how a question ends without its sign
# What would be, and what is asked, is not said: these clauses count for nothing. A blank parts Chinese fields of a log.
_NOT_SAID = lazy_pattern(
    r"\b(?:if|whether|unless) [a-z#][^,;.\n]*|(?:如果|假如|倘若|一旦|若(?=消费|处理|发送))[^,，。;；\n]*"
    r"|[^,，。;；\s]{0,20}(?:是否|有没有|会不会)[^,，。;；\s]*"
    rf"|(?<![^,，。.;；!\n])[^,，。.;；!\n]*(?:？|\?(?=\s|\Z)|{_ASKED}(?=[\s,，。.;；!]|\Z))"
)
# A failure that is denied: 未发生消费失败, no consume failure. What else the clause says stays.
# So is one whose alarm or setting was changed: 消费失败告警已关闭. An alarm alone tells of a failure.
# So is one that was before an end: consumed after 2 failed attempts.
_ERROR = r"(?:fail(?:ed|ures?)?|errors?|exceptions?)"
_ALARM, _CHANGED = "alerts?|alarms?|warnings?|notifications?", "closed?|resolved?|cleared?|disabled?|muted?|silenced?"
_DENIED = lazy_pattern(
    r"(?:未|没有?|无|不|并非|不是|避免|防止|排除|杜绝|(?<!\w)不存在)"
    "(?:再次?|曾|会|有|任何|发生|出现|发现|产生|过|了|见|触发|收到|检测到){0,3}"
    "(?:(?:消费|发送|投递)(?:[或、和/](?:消费|发送|投递))?)?(?:失败|异常|出错|报错|错误|超时)(?:告警|报警)?"
    "|(?:消费|发送|投递|处理)?(?:失败|异常|超时)(?:的)?(?:告警|报警|预警|监控|重试)(?:通知|规则|策略|机制|开关|功能){0,2}"
    "(?:测试|演练|(?:已经?|被|现已)?(?:关闭|恢复|解除|取消|停用|禁用|消除|清除|屏蔽|静默|开启|启用|打开|配置))"
    "|(?:关闭|解除|取消|停用|禁用|屏蔽|测试)了?(?:消费|发送|投递|处理)?(?:失败|异常|超时)(?:的)?(?:告警|报警|预警|监控)"
    r"|\b(?:no|not|without|zero|0)(?: an?| any)?(?:(?: or| and)? (?:messages?|msgs?|consum\w{1,6}|send(?:ing|s)?)){0,3}"
    r" (?:fail(?:ed|ures?|s)?|errors?|exceptions?)\b(?![\"']?\s?[=:]| \d)"  # `success=0 failed=1` has a name behind
    r"|\bafter (?:\d{1,4}|an?|one|two|three|some|several|a few) (?:failed|failures?|errors?)\b"
    r"|\b(?:none|nothing)(?: of (?:the |these |them )?(?:messages?|msgs?)?)? ?failed\b"
    rf"|\b(?:ruled? out|excluded?|excluding)(?: an?| any)?(?: consum\w{{1,6}})? {_ERROR}\b"
    rf"|\b(?:consum\w{{1,6}} )?{_ERROR} (?:{_ALARM}) (?:test\b|(?:(?:is|was|has been|were) )?"
    rf"(?:{_CHANGED}|enabled?|recovered|removed|turned o\w{{1,2}})\b)"
    rf"|\b(?:{_CHANGED}) (?:the |an? )?(?:consum\w{{1,6}} )?{_ERROR} (?:{_ALARM})\b"
    r"|(?:\bnot|n't|\bnever) (?:ever |once )?fail(?:ed|s)?\b"
)
_DENYING = (
    *("未", "没", "无", "不", "非", "止", "免", "排除", "杜绝", "no", "0 ", "n't", "never", "without", "zero"),
    *("警", "监控", "重试", "clu", "rule", "alert", "alarm", "warning", "after "),
)
_FAILING = ("fail", "error", "exception", "失败", "异常", "错", "超时")
# The body of a message says nothing of its delivery, whichever words are in it.
_BODY = lazy_pattern(r"(?:body|payload|消息体|消息内容)[\"']{0,2}\s?[=:：]\s?[\"']?(?=\{)")
_OF_BODY = lazy_pattern(r"[{}]|#|[0-9a-f]{32}")
_LAST_ASKED = lazy_pattern(rf"(?<![^,，。.;；!\n])[^,，。.;；!\n]*(?:[?？]|{_ASKED})\s*\Z")
# One of these is in each of them: most texts are told apart by them, too.
_ASKING = (
    "if ",
    "whether ",
    "unless ",
    "如果",
    "假如",
    "倘若",
    "一旦",
    "若",
    "是否",
    "有没有",
    "会不会",
    "吗",
    "么",
    "了没",
    "?",
    "？",
)
# What applications say, in the text around the id; the first that fits. The words in front are in every such text: most
# texts are told apart by them.
_WORDS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (code, tuple(words.split("|")), lazy_pattern(pattern))
    for code, words, pattern in (
        (
            "skipped",
            "skip|already",
            rf"\b(?:skip(?:s|ped|ping)?|already (?:been )?(?:consumed|processed|handled))\b{_NO_COUNT}",
        ),
        (
            "skipped",
            "before|already",
            r"(?<!not )(?<!never )(?<!n't )\b(?:been|was|were) (?:consumed|processed|handled) (?:before|already)\b",
        ),
        (
            "skipped",
            "ignor|discard|dropp",
            r"\bduplicated?\b[^=:\n]{0,30}\b(?:ignor|discard|dropp)\w+|\bignor\w+ (?:\w+ )?(?:duplicat|repeat)"
            rf"|\b{_NOT_YET}(?:ignor|discard)(?:e|ed|ing|s)? {_MESSAGE}",
        ),
        ("skipped", "幂等", "幂等(?:校验|检查|判断)?(?:命中|拦截|返回)|命中幂等"),
        ("skipped", "重复", "(?<!防止)(?<!避免)(?<!无)(?:重复消费|重复的?消息|消息重复)(?!校验|检查|次数)"),
        (
            "skipped",
            "过|忽略|丢弃|放弃|无需|返回",
            f"已(?:经)?(?:被)?(?:成功)?(?:消费|处理)(?:过|[,，、 ]{{1,2}}(?:直接|立即)?返回)|{_UNDONE}(?<!会)跳过"
            f"|{_UNDONE}(?<!不要)(?:忽略|丢弃)(?:该|此|本|这)?(?:条)?(?:重复)?(?:的)?消息|{_UNDONE}放弃消费"
            "|无需(?:再次|重复|再)(?:消费|处理)",
        ),
        (
            "failed",
            _FAILURES,
            rf"\bconsum\w{{0,4}}\b(?:(?!{_WELL}|{_SEND})[^=:\n]){{0,40}}\b(?<!not ){_FAILED}{_NO_COUNT}",
        ),
        (
            "failed",
            "result|status",
            rf"\bconsum\w{{0,10}}[ _]?(?:result|status){_IS}(?:fail|error|exception|later|retry|reconsume|false\b)",
        ),
        ("failed", "success", rf"{_CONSUMING}[\"',;\s]success{_IS}false\b"),
        (
            "failed",
            "consum",
            rf"\bconsum\w{{0,6}}[\"']?\s?[=:]\s?\{{[^\n{{}}]{{0,80}}?(?:status|result){_IS}(?:fail|error)",
        ),
        ("failed", "later", rf"\b{_NOT_YET}(?:re)?consume(?: \w{{1,20}}){{0,2}} later\b"),
        (
            "failed",
            "timeout|timed out",
            rf"\b{_NOT_YET}consum(?:e|ing|ption) (?:timeout|timed out)\b(?![\"']?\s?[=:]?\s?[\"']?\d){_NO_COUNT}",
        ),
        (
            "failed",
            "action",
            rf"\bconsum[^\n]{{0,{_FAR}}}\baction{_IS}fail(?:ed|ure)?\b|\baction{_IS}(?:action\.)?reconsumelater",
        ),
        ("failed", "consume_", rf"{_CELL}consume_fail(?:ed|ure)?\s?(?:[,;\t|]|\Z)"),
        ("failed", "onmessage", rf"\bonmessage\b[^=:\n]{{0,20}}\b{_FAILED}{_NO_COUNT}"),
        (
            "failed",
            f"{_FAILURES}|unable|could not|cannot",
            r"\b(?<!without )(?<!no )(?:fail(?:ed|s|ure)?|error|exception|unable|could not|cannot)\b"
            r"(?: (?:to|while|when|in|during|on))? (?:consum\w{1,3}"
            rf"|(?:process|handl)\w{{1,3}} {_MESSAGE}){_NOT_ZERO}",
        ),
        (
            "failed",
            "fail|nack",
            rf"\bfail(?:ed|s)? to (?:consume|process|handle)\b{_NOT_ZERO}|\bnack(?:s|ed)?\b{_NO_COUNT}",
        ),
        (
            "failed",
            _FAILURES,
            rf"\b(?:process|handl)\w{{0,3}} {_MESSAGE}[^=:\n]{{0,20}}\b(?<!not ){_FAILED}{_NO_COUNT}",
        ),
        (
            "failed",
            "失败|异常|出错|报错|不成功|错误|超时",
            f"(?:{_CONSUME}[^\n成功，。,;；]{{0,10}}|(?:处理消息|消息处理)[^\n成功，。,;；]{{0,8}})"
            f"(?:失败|异常|出错|报错|不成功|错误|超时(?![时阈配设参])){_NOT_NONE}"
            f"|(?<!事务)(?<!发送)处理(?:失败|异常|出错|报错){_LABEL}",
        ),
        ("failed", "稍后", f"{_CONSUME}[^\n。;；]{{0,60}}稍后(?:再|重)试|稍后(?:再|重新)(?:次)?消费"),
        ("failed", "消费", f"消费(?:结果|状态)(?:为|是)?{_IS}(?:false|fail|error)"),
        (
            "unacked",
            "ack",
            rf"(?<![\w-])ack(?: {_MESSAGE})? {_FAILED}{_NO_COUNT}|\b(?:failed|unable) to ack\b|(?<![a-z])ack失败",
        ),
        (
            "acked",
            _SUCCESSES,
            rf"\b(?<!to ){_NOT_YET}consum\w{{0,4}}\b(?:(?!{_SEND})[^=:\n]){{0,20}}"
            rf"\b(?<!not )(?<!un)(?<!\b0 ){_ENDED_WELL}{_NO_COUNT}",
        ),
        ("acked", "result|status", rf"\bconsum\w{{0,10}}[ _]?(?:result|status){_IS}(?:success|ok\b|true\b)"),
        ("acked", "success", rf"{_CONSUMING}[\"',;\s]success{_IS}true\b"),
        ("acked", "消费", f"消费(?:结果|状态)(?:为|是)?{_IS}(?:true|success|ok\\b)"),
        (
            "acked",
            "action",
            rf"\bconsum[^\n]{{0,{_FAR}}}\baction{_IS}success\b|\baction{_IS}(?:action\.)?commitmessage",
        ),
        ("acked", "consume_", rf"{_CELL}consume_(?:ok|success)\s?(?:[,;\t|]|\Z)"),
        (
            "acked",
            "ack",
            rf"(?<![\w-])(?:ack|acked|acknowledged)(?: {_MESSAGE})? {_ENDED_WELL}{_NO_COUNT}|(?<![a-z])ack成功",
        ),
        # rocketmq-spring prints it when a listener has returned, and answers with success
        ("acked", "listenercontainer", r"listenercontainer\b[^\n]{0,40}\bconsume\s{1,4}#\s{1,4}cost: \d"),
        ("acked", "success", rf"\b{_NOT_YET}success(?:ful|fully)? (?:consum|(?:process|handl)\w{{0,3}} {_MESSAGE})"),
        ("acked", "processed|handled", rf"{_MESSAGE}[^=:\n]{{0,60}}\b(?:processed|handled) {_ENDED_WELL}"),
        ("acked", _SUCCESSES, rf"\b(?<!to )(?:process|handle) {_MESSAGE} {_ENDED_WELL}{_NO_COUNT}"),
        (
            "acked",
            "成功|完成|完毕",
            f"(?:{_CONSUME}[^\n失败不未没，。,;；]{{0,8}}|处理消息|消息处理)(?:成功|完成|完毕){_NOT_NONE}",
        ),
        (
            "received",
            "receiv|consum|recv|subscribe callback",
            rf"\b{_NOT_YET}(?:(?:receiv|consum)(?:e|ed|es|ing)|recv(?:ed)?)\b{_NO_ANSWER}{_NOT_DONE}"
            "|subscribe callback",
        ),
        (
            "received",
            "pulled|polled|fetched|got|get|onmessage",
            rf"\b{_NOT_YET}(?:pulled|polled|fetched|got|get(?= \d))(?: \d{{1,4}})?(?: new)? {_MESSAGE}(?! ?id| ?queue)"
            r"|\bonmessage\b",
        ),
        (
            "received",
            "消费|收到|接收",
            f"{_CONSUME}(?!失败|异常|时间|状态|结果|次数){_NOT_DONE}|{_UNDONE}(?:收到|接收)(?!者|组|端|方)"
            r"(?! ?\w{0,10} ?的?(?:响应|回复|应答|回执))",
        ),
        (
            "received",
            "到|处理",
            f"{_UNDONE}(?:监听|获取|拉取|接)到(?:一条|新|新的|mq|rocketmq){{0,2}}\\s?消息(?!\\s?id|编号)|(?:开始|正在)处理(?:该|此|这条)?消息",
        ),
    )
)
# That an attempt which failed was not the last: the next one went well.
_IN_THE_END = lazy_pattern(
    r"(?:重新|再次|现已|现在|最终|终于|本条|本次|重试)(?:再次|重新)?(?:被)?消费(?:已经?)?成功|消费重试(?:已经?)?成功"
    r"|(?:重试|重新消费|再次消费)(?:了?\s?\d{1,4}\s?次)?(?:以?后|之后)?(?:消费)?成功"
    r"|\d{1,4}\s?次(?:以?后|之后|才)(?:消费)?成功"
    r"|\b(?:now|then|finally|later|eventually) (?:re)?consum\w{0,4} (?:success(?:ful(?:ly)?)?|ok)\b"
    r"|\b(?:retry|retried|reconsumed?|again)[ ,:]{1,3}(?:success(?:ful(?:ly)?)?|succeeded|ok)\b"
    r"|\bsucceeded (?:on|after|at) (?:the )?(?:\w{1,10} )?(?:retry|attempt|try|\d)"
)
# Of so many messages a part failed: that the work was completed says nothing of each.
_SOME_FAILED = lazy_pattern(
    r"失败(?:[条个]?数|数量|总数|次数)?\s?[=:：]?\s?[1-9]|\b(?:fail(?:ed|ures?)?|errors?)"
    r"(?:[ _]?(?:count|num|number|size|total))?[\"']?\s?[=:]\s?[\"']?[1-9]"
    r"|(?<![\w.,])[1-9]\d{0,8} (?:failed|failures?|errors?)\b"
)
# That a message is a dead letter, or becomes one: not that it would.
_DEAD_TOPIC = r"(?:the |a |its |our )?(?:dlq|dead[ -]?letter)"
_DEAD_LETTER = lazy_pattern(
    rf"{_NOT_YET}(?<!would be )(?<!to be )\b(?:moved|sent|routed|put|published|delivered|forwarded|transferred|went)"
    rf"(?: \w{{1,20}})? (?:in)?to {_DEAD_TOPIC}"
    rf"|{_NOT_YET}\b(?:send|sending|move|moving)(?: (?:it|msg|message|back)){{0,2}} to {_DEAD_TOPIC}"
    r"|\b(?:received|consumed|handling|processing|got) (?:a |the )?(?:dlq|dead[ -]?letter)\b"
    r"|\b(?:dlq|dead[ -]?letter) (?:message |msg )?(?:received|consumed)\b"
    f"|{_UNDONE}(?<!后)(?<!则)(?<!将)(?<!会)(?<!可能)(?<!将被)(?<!会被)"
    "(?:进入|转入|移入|移至|放入|写入|成为|变成|(?:投递|发送|转移?|移动?)[到至入])了?死信"
    f"|{_UNDONE}(?:收到|处理|消费)(?:到|了)?(?:一?条)?死信"
)
# An ID, which words may stand on both sides of, with the sign behind its name; and every other name with its value.
_ID = lazy_pattern(r"[0-9a-f]{32,}")
_SIGNS = lazy_pattern(r"[\"']?\s?[=:：]?\s?[\"'\[【(]{0,2}#[\"'\]】)]{0,2}")
_ESCAPED = lazy_pattern(r"\\{1,8}u([4-9][0-9A-Fa-f]{3}|ff[0-9A-Fa-f]{2})")
_ESCAPED_QUOTES = lazy_pattern(r'\\{1,16}(?=")')
_ENDS = (*_FAILURES.split("|"), "success", "失败", "异常", "成功")
_PAIRS = lazy_pattern(
    r"\b(?!consum|fail|error|exception|success|result|status)[\w.-]{1,40}\s?[=:：]\s?[^\s,，;；]{1,255}[,，;；]?"
)
# How often it was tried before, as applications say it in Chinese: the number, or which of all it is.
_TRIES = lazy_pattern(
    r"(?:重试|重新消费|重复消费)(?:的)?次数(?:为|是)?\s{0,8}[=:：]?\s{0,8}\[?(\d{1,4})(?!\d)|第\s?(\d{1,4})\s?次重试"
    r"|[Rr]etry (?:times|count)\s{0,8}[=:]\s{0,8}(\d{1,4})(?!\d)"
)
_WHICH = lazy_pattern(r"第\s?(\d{1,4})\s?次(?:消费|投递|收到|接收)")
# What brokers and producers print of a half message: the state that a request carries, else constants and sentences.
_TRANSACTIONS = (
    "ransaction",
    "COMMIT_MESSAGE",
    "ROLLBACK_MESSAGE",
    "TRANS_CHECK",
    "alf message",
    "checked too many",
    "半消息",
    "回查",
)
_CARRIED = lazy_pattern(r"commitOrRollback[\"']?\s?[=:]\s?[\"']?(\d{1,2})\b")
_ACROSS = 300  # characters: no pattern of transactions is as long
_CARRIED_STATES = {"0": "undecided", "8": "committed", "12": "rolled_back"}
_STATE = r"(?:LocalTransaction|TransactionResolution|TransactionState|transaction state)\w{0,20}[^\n]{0,200}?"
_GIVEN_UP = lazy_pattern(
    r"checked too many times|checked-too-many-time|TRANS_CHECK_MAX_?TIME_TOPIC|alf message exceed file reserved time"
    r"|半消息[^\n,，。;；]{0,20}丢弃"
)
_DECIDED = (
    (
        "unended",
        lazy_pattern(r"end broker transaction failed|endTransaction(?:Oneway)?[^\n]{0,40}\b(?:exception|failed)\b"),
    ),
    (
        "rolled_back",
        lazy_pattern(
            rf"\bROLLBACK_MESSAGE\b|RollbackMessageState|{_STATE}\bROLLBACK\b|rollback (?:the message|this transaction)"
        ),
    ),
    (
        "committed",
        lazy_pattern(rf"\bCOMMIT_MESSAGE\b|CommitMessageState|{_STATE}\bCOMMIT\b|producer commit the message"),
    ),
    (
        "undecided",
        lazy_pattern(rf"{_STATE}\bUNKNOWN?\b|UnknowState|and it's pending status|does not know this transaction state"),
    ),
)
_CHECKED = lazy_pattern(
    r"Check transaction\.|checkLocalTransaction|checkTransactionState|[Oo]rphaned ?[Tt]ransaction"
    r"|事务回查|回查(?:本地)?事务"
)
# Without one of these in it a line says nothing of a delivery.
COMMON = ("onsume", "sendStatus", "eceive", "djEg")  # marks of most lines that have one
MARKS = lazy_pattern(
    r"(?i)consum|receiv|\brecv|\\u6d88\\u8d39|retrytimes\[|delivery_?attempt|sendstatus|ackmessage|ack message"
    r"|messagetrack|%dlq%|%retry%|sub(?:after|before)\b|failedmessage=|recall_?\s?handle"
    r"|pop_ck|receipt_?\s?handle|expire msg back|redeliver|message back|\bskip|already (?:processed|handled)"
    r"|essagethread_|messagelistener|消费|收到|接收|跳过|重试|重复|忽略|处理|幂等"
    r"|duplicate|\bn?ack(?:s|ed)?\b|ack(?:成功|失败)|\b(?:process|handl)\w{0,3} |onmessage|\baction\W|commitmessage"
    r"|(?:been|was) (?:consum|process|handl)|(?:ignor|discard)\w* |丢弃|监听到|获取到|拉取到|接到"
    r"|(?:pulled|polled|fetched|got|get \d+)(?: new)? m|transaction|commit_message|rollback_message|trans_check"
    r"|half message|checked too many|事务|半消息|回查|死信|dlq|dead[ -]?letter|suspend_current_queue"
)
# Some logs cut ConsumeMessageThread_1 in front. SendMessageThread_1 and PullMessageThread_1 are threads of brokers.
_LISTENS = lazy_pattern(
    r"ConsumeMessage(?:Pop)?Thread|(?<![A-Za-z])(?:onsume|nsume|sume|ume|me|e)?M?essageThread_|MessageListener"
)
_SENDS = lazy_pattern(rf"(?i){_SEND}|发送|投递|转发")


def phrase_of(text: str) -> str:
    """What a class of RocketMQ says in a line: an event, with a detail behind a colon; empty where none does.

    People name its constants too, and may ask.

    >>> phrase_of("0A00 CONSUME_SUCCESS"), phrase_of("0A00 CONSUME_SUCCESS ?")
    ('acked', '')
    """
    return next(_phrases_in(text), "")


def says_two(text: str) -> bool:
    """Whether classes of RocketMQ say that deliveries of a line ended in different ways."""
    return len({code.partition(":")[0] for code in _phrases_in(text)}) > 1


def _phrases_in(text: str) -> Iterator[str]:
    if text.rstrip()[-1:] in tuple("?？吗么没有"):
        text = _LAST_ASKED.sub("", text)
    found = [code for code, phrases in _PHRASES if any(phrase in text for phrase in phrases)]
    if any("failed" in code for code in found) and (denied := _DENIED.sub(" ", text)) != text:
        return iter([code for code, phrases in _PHRASES if any(phrase in denied for phrase in phrases)])
    return iter(found)


def transaction_of(text: str, head: str = "") -> str:
    """What a line says of a half message; empty where nothing, or where it names both ends.

    `head` is what is in front of the text, for all messages of a line: it is looked through once.

    >>> [transaction_of(f"checkLocalTransaction 0A00 {end}") for end in ("", "UNKNOW", "COMMIT_MESSAGE")]
    ['checked', 'undecided', 'committed']
    """
    texts = (head, head[-_ACROSS:] + text) if len(head) > _ACROSS else (head + text,)
    if not any(word in each for each in texts for word in _TRANSACTIONS):
        return ""
    found = [_transactions_in(each) for each in texts]
    if any(each.is_given_up for each in found):
        return "given_up"
    if carried := next((each.carried for each in found if each.carried), ""):
        return _CARRIED_STATES.get(carried, "")
    said = [event for event, _ in _DECIDED if any(event in each.said for each in found)]
    if said:
        return said[0] if len(said) == 1 or said[0] == "unended" else ""
    return "checked" if any(each.is_checked for each in found) else ""


class _Transactions(NamedTuple):
    """What a text says of half messages."""

    is_given_up: bool
    carried: str
    said: frozenset[str]
    is_checked: bool


@lru_cache(maxsize=4)  # of one line
def _transactions_in(text: str) -> _Transactions:
    carried = _CARRIED.search(text)
    return _Transactions(
        _GIVEN_UP.search(text) is not None,
        "" if carried is None else carried[1],
        frozenset(event for event, pattern in _DECIDED if pattern.search(text) is not None),
        _CHECKED.search(text) is not None,
    )


def unescaped(text: str) -> str:
    """With the letters and quotes that JSON escapes, however often.

    >>> unescaped(r'\\u6d88 \\\\\\"a\\\\\\"')
    '消 "a"'
    """
    if "\\" not in text:
        return text
    return _ESCAPED_QUOTES.sub("", _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text))


def word_of(near: str) -> str:
    """The event that an application's words around an id say; empty where they say none.

    >>> [word_of(text) for text in ("消费失败", "not consumed yet", "message received")]
    ['failed', '', 'received']
    """
    near = unescaped(near)
    near = claimed_in(_SIGNS.sub(" # ", _ID.sub("#", near.lower())))
    is_mixed = any(word in near for word in _FAILING) and _SOME_FAILED.search(near) is not None
    said = _word_of(near, is_mixed)
    if said in ("", "received") and "=" in near and any(end in near for end in _ENDS):
        return _word_of(_PAIRS.sub("", near), is_mixed) or said  # `consume msgId=…, topic=t, failed: no stock`
    return said


def claimed_in(text: str) -> str:
    """What a text in lower case claims: without bodies, what would be, what is asked, and failures that it denies.

    >>> claimed_in("no consume failure, 消费成功"), claimed_in('消费成功 body={"a": "消费失败"}')
    (' , 消费成功', '消费成功 body=')
    """
    if "{" in text and _BODY.search(text) is not None:
        text = _bodiless(text)
    if any(word in text for word in _ASKING):
        text = _NOT_SAID.sub(" ", text)
    if any(word in text for word in _FAILING) and any(word in text for word in _DENYING):
        return _DENIED.sub(" ", text)
    return text


def _bodiless(text: str) -> str:
    """Without the bodies that are printed as JSON; one with an ID in it is no body of this ID's message."""
    parts, at = [], 0
    for name in _BODY.finditer(text):
        if name.end() < at:
            continue
        depth, end = 0, len(text)
        for sign in _OF_BODY.finditer(text, name.end()):
            if sign[0] not in "{}":
                end = name.end()
                break
            depth += 1 if sign[0] == "{" else -1
            if not depth:
                end = sign.end()
                break
        parts.append(text[at : name.end()])
        at = end
    return "".join(parts) + text[at:]


def clause_of(clause: str) -> str | None:
    """The event that a clause says; empty where it speaks of an end alone, None where of nothing.

    >>> [clause_of(text) for text in ("consume failed: no stock", "failed: 2", "3")]
    ['failed', '', None]
    """
    said = word_of(clause)
    return said or ("" if any(end in clause.lower() for end in _ENDS) else None)


def is_dead_letter(near: str) -> bool:
    """Whether an application's words around an id say that its message is a dead letter, of whatever group.

    >>> [is_dead_letter(text) for text in ("消息已进入死信队列", "moved to the DLQ", "will be sent to the DLQ")]
    [True, True, False]
    """
    near = near.lower()
    return any(word in near for word in ("死信", "dlq", "dead")) and _DEAD_LETTER.search(claimed_in(near)) is not None


def _word_of(near: str, is_mixed: bool) -> str:
    """The first of the words that fit. Where a part of several failed, no success is that of each."""
    for event, words, pattern in _WORDS:
        if any(word in near for word in words) and (match := pattern.search(near)) is not None:
            if event == "failed" and _IN_THE_END.search(near, match.end()) is not None:
                return "acked"
            if event != "acked" or not is_mixed:
                return event
    return ""


def tries_of(near: str) -> int | None:
    """How often a message was delivered before, where words of an application say it."""
    if "次" not in near and "etry " not in near:
        return None
    if (match := _TRIES.search(near)) is not None:
        return int(match[1] or match[2] or match[3])
    match = _WHICH.search(near)
    return None if match is None else max(int(match[1]) - 1, 0)


def is_listener(head: str, near: str) -> bool:
    """Whether a thread or class that takes messages printed a line, and not of a message that it sends on."""
    return _LISTENS.search(head) is not None and _SENDS.search(near) is None
