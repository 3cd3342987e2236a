"""The page of ID formats in Chinese: what `docs.py` says around layouts, rules and words. Decides nothing."""

from __future__ import annotations

HEAD = """\
# 消息 ID 的格式

适用于需要逐字节了解 ID 的人：各种格式，什么是 ID，每种解读的理由。[English](formats.md)

`make docs` 生成本页。格式取自 `idcore/base/layout.py`，理由取自各语言的文字表，数值取自代码。
规则的说明是 `scripts/rendered/pages.py` 中的文字（中文在其旁的文件中），由人保持正确。

一条消息有两个 ID。生产者客户端在发送前生成 *msgId*（`uniq`）；5.x gRPC 客户端生成 *5.x msgId*（`client`）。
重试时它不变。Broker 存储记录时生成 *offsetMsgId*（`offset`）：每条存储的记录各有一个。两者都写成十六进制数字，
从外表看不出是哪一种。
"""

RULE = """\
## 什么是 ID，是哪一种

一个候选串是连续的一串十六进制数字，不含紧挨在它前面的转义序列的数字（`%22`、`\\x22`、`\\u0022`）。
有 {digits} 位的才是候选。只有候选会被忽略。

1. 字母全为小写：忽略（`lower_case`）。Trace ID、MD5 和 UUID 都是这样；有的 ID 也是，
   即字母只出现在 Go 的最后 12 位或 Rust 的最后 16 位的那些。`--case any` 接受所有这类串；单独粘贴的一个，
   控制台会解码并加以说明。W3C `traceparent` 的 32 位数字，以及字段名说明是轨迹的（`traceId=`，且 loader 未知），
   是 Trace ID（`trace_id`），单独计数，不算忽略。
{own}
3. 读取 offsetMsgId 中端口所在的字节。大于 {port:,}：是 msgId。从 1 起，且偏移量不超过 2^48：是 offsetMsgId，
   除非按小端序的 msgId 解读更好（见下）。端口为 0 或偏移量不可能：是进程号为 0 的 msgId；
   loader 也为 0 时忽略（`port`）。
4. 小端序的 msgId（C++ 1.2.0 至 1.2.3，`idcore/ids/little_endian.py`）第 5、8、9、15 字节为 0。
   其 loader 为 1 至 65,534，elapsed 小于 32 天零一小时，进程号小于 64：它是进程号的高 16 位。
   - 进程号大于 0 时看起来像 msgId；除非该 msgId 的 loader 已知，否则按小端序。
   - 进程号为 0 时看起来像 offsetMsgId。大于 2^44 的按小端序；大于 2^40 的，端口不常见时按小端序；大于 2^32 的，
     还要只有反过来的地址是私有地址或以 0 开头。
   - 反过来是公网地址的私有地址，是 Broker。

   所有成立的解读都会列出。
5. elapsed 超过最长的月份时（{month:,} 毫秒，另有 {slack:,} 毫秒的余量），msgId 被忽略（`elapsed`）。
   早于月初不到一天时接受（时钟回拨）；loader 已知，或有字段名（`msgId`、`UNIQ_KEY`，等等）时也接受。
6. 字段名属于其他事物时（`sign=`、`"fileMd5": "`、`<traceId>`），msgId 被忽略（`other_name`）。loader 是固定值，
   或在序列的前{usual:,} 个之中时，仍然接受。以字段名的最后一个词为准。其前后的符号可以是转义的：`&quot;`、`%22`、
   `=3D`、反斜杠。`idcore/ids/rules.py` 的 `OTHER_THINGS` 是这份清单。
7. 一份输入可能表明其中许多 msgId 只是形似：它们被忽略。UUID 的理由为 `look_alike_uuid`，单独一个为 `look_alike`，
   其余为 `look_alike_spread`。可疑的是：loader 不属于常见的启动方式。
   带字段名的另行判断：只有八分之一以上的 elapsed 超过一个月时才忽略。
   {least} 个以上可疑的 ID 所共有的特征才算数：没有字母、前面是时间、是 UUID、elapsed 与计数器只有一个值、
   地址像随机分布。规则见[ADR 64](adr/0064-what-only-looks-like-an-id.md)（英文）。第 6、
   7 条忽略的在表 `lookalikes` 中。`--lookalikes ids`、`--case any` 和控制台中的一次点击都会接受它们。

被行尾截断的 ID，若拼接后确定无疑则拼接，否则列出（`broken`）。续行前可以有邮件引用的标记和缩进。
数字之间的零宽空格和颜色代码会跳过。不超过 4 MiB 的文本，扫描时会拼接，压缩的也一样；更大的只读取 64 KiB 的样本，
其中被换行截断的在表 `refused` 中（`broken_sample`）。在可以作证的字段名之后，多出的一位数字会去掉，
条件是 loader 已知；开头不是 {version} 时，多出的两位也一样。被掩码或省略号截去结尾或从中断开的 ID，
`decode` 和各页面会说明剩下什么（`masked`、`masked_parts`）。loader 未知时必须有字段名。超过 32 位的属于 IPv6；
不到 32 位但开头几乎不可能是 IPv4 地址的也一样。掩码之前的部分不是 ID。

各种解读按可能性排序，绝不悄悄选定：其他解读列在第一种旁边，并附理由。字段名只是提示，
因为打印的 MessageExt 把 offsetMsgId 写作 `msgId`。

## 有多确定

每条理由有权重。一种解读有 {certain} 分为*确定*，{likely} 分为*很可能*，更少为*可能*。两种解读都有 {certain} 分时，
都是*很可能*。以下是主要的权重；全部在 `idcore/ids/scoring.py` 中，含 5.x 和小端序 msgId 的权重。

| 理由 | 分数 |
|---|---|
| loader 在 HotSpot 的 {stream:,} 个主线程哈希中，或是已知的固定值 | +4 |
| loader 是 Go 客户端的零 | +3 |
| loader 未知 | -1 或 -2 |
| 字段名支持；不支持 | +2；-1 |
| 字母的大小写；Go 客户端的写法；混用；小写 | +1；+2；-1；-2 |
| elapsed 在一个月之内；超出 | +1；最低 -2 |
| 可能的主机；不可能的主机 | +1；-1 |
| 进程号的字节不可能是端口 | +1 |
| 有 UUID 的版本数字 | -3 |
| 端口常见的 offsetMsgId；端口属于该节点 | +2；+1 |
| 零在应有位置的 offsetMsgId | +2 |
| 偏移量小于 2^44 的 offsetMsgId | +1 |

## 时间

msgId 包含从生产者所在时区的月初起算的毫秒数，既不含月份，也不含时区。日志行如何证明这两者，
以及不精确的时间在什么范围内，见[explanation/dating.md](explanation/dating.md)（英文）。
"""

# Of the layouts, in their order.
TITLES = (
    "msgId，生产者客户端生成：`msgId`、`UNIQ_KEY`、`transactionId`（MessageClientIDSetter）",
    "同上，主机使用 IPv6",
    "5.x msgId，5.x gRPC 客户端生成（MessageIdCodec）",
    "offsetMsgId，Broker 存储消息时生成：`offsetMsgId`，以及打印的 MessageExt 中的 `msgId`（MessageDecoder）",
    "同上，Broker 使用 IPv6 地址",
    "C++ 客户端 1.2.0 至 1.2.3 及基于它的 Node.js 和 Python 封装的 msgId：每个字段的字节反序",
)
# Of fields, by byte order or kind and name where a name means several things.
MEANINGS = {
    "ip": "生产者客户端的地址",
    "pid": "进程号的低 16 位",
    "loader": "加载生成器的类加载器的哈希",
    "elapsed": "从生产者所在时区的当月 1 日 00:00 起的毫秒数",
    "little.elapsed": "从生产者所在时区的上月最后一日 00:00 起的毫秒数",
    "counter": "整个进程的序号，到 65,536 回绕",
    "version": "格式的版本，总是 01",
    "mac": "生产者客户端的 MAC 地址",
    "seconds": "从 2021-01-01T00:00:00Z 起的秒数",
    "sequence": "整个进程的序号",
    "offset.ip": "存储该消息的 Broker 的地址",
    "port": "该 Broker 的端口，1 至 65,535",
    "offset": "该记录在 Broker 的 CommitLog 中的物理偏移量",
}
