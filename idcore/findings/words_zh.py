"""发现的中文：含义、建议与反证，键与 idcore.findings.words 一一对应。Chinese of the findings; only words."""

from __future__ import annotations

from idcore.ids.words_zh import MAKERS

MEANINGS: dict[str, str] = {
    "more": "另有 {more:,} 项同类发现，合计 {count:,}；数量最大的已逐项列出",
    "shared_fingerprint.unseen": "另有 {more:,} 个进程共含 {count:,} 条并行的计数；这些只计数，未逐点检查，其中可能有时钟被拨回的情况",
    "restart.unseen": "另有 {more:,} 个进程共重启 {count:,} 次；这些只计数，未逐点检查，其中可能有时钟被拨回的情况",
    "clock_back.unseen": "另有 {count:,} 个进程的 ID 次序颠倒；这些只计数，未逐点检查，其中可能有时钟被拨回的情况",
    "stored_copies.unseen": "另有 {count:,} 条消息存了多份；这些只计数，未逐条检查，其中可能有重复发送的消息",
    "broker_moved.unseen": "另有 {count:,} 个 Broker 地址未与相邻地址比较；只比较了 ID 最多的那些",
    "foreign_maker.unseen": "另有 {more:,} 个进程（{count:,} 个 ID）可能是 C++ 客户端：只用 rand() 的种子试过最大的那些",
    "collision": "{subject} 是不同消息的 ID：它的 {messages} 条记录的 {differs} 不一致",
    "collision.another_month": "{subject} 被生成了两次，相隔 {apart_days:,.1f} 天，属于 {messages} 条不同的消息："
    "ID 里只有月内时间而没有月份，地址和进程号相同的进程会再次生成它",
    "collision.hosts": "{subject} 在不同主机（{hosts}）上生成，属于 {messages} 条不同的消息：那里的进程指纹相同，计数也相同",
    "collision.topics": "{subject} 出现在不同主题（{topics}）的 {messages} 条消息上："
    "有程序转发消息时带上了原来的属性，连同 ID 一起发了出去",
    "collision.sent_again": "{subject} 被作为 {messages} 条键和消息体都相同的消息发送，相隔 {apart_seconds}："
    "应用把同一个 Message 对象又发了一次，客户端会保留已有的 ID",
    "shared_fingerprint": "至少有 {tracks} 个同时存活的进程以 {subject} 的身份生成 ID：它们的计数器并行递增，"
    "可能生成相同的 ID",
    "clock_back": "{subject} 的时钟被拨回 {back_seconds}：计数器继续递增，时间却倒退了",
    "clock_back.held": "{subject} 的时钟被拨回 {back_seconds}或更多，到了月初之前：计数器继续递增，时间却停在 0",
    "clock_back.before_month": "{subject} 的时钟被拨回到月初之前：有 {count:,} 个 ID 的时间早于月初",
    "clock_back.zero": "{subject} 的时钟曾停在月初之前：有 {count:,} 个 ID 的时间为 0",
    "duplicate_send": "{subject} 被发送了不止一次：同一 ID 的副本存在于 {addresses} 多个 Broker，Broker 自己不会这样做",
    "duplicate_send.send_results": "{subject} 被发送了不止一次：日志中有它的 {count:,} 个成功的 SendResult，"
    "主题都是 {topic}，offsetMsgId 却不同",
    "duplicate_send.same_broker": "{subject} 被发送了不止一次：主题 {topic} 中有 {count:,} 个同 ID 的副本，"
    "都不是 Broker 的重试或延迟所致",
    "missing_ids": "{subject} 生成的 {produced:,} 个 ID 中有 {count:,} 个不在本次输入中（{share:.2%}）；仅凭这一点不能断定消息丢失",
    "missing_ids.one": "{subject} 生成的 {produced:,} 个 ID 中有 1 个不在本次输入中（{share:.2%}）；仅凭这一点不能断定消息丢失",
    "missing_ids.one_gap": "{subject} 生成的 ID 中有连续 {count:,} 个不在本次输入中（占 {produced:,} 个的 {share:.2%}）；"
    "仅凭这一点不能断定消息丢失",
    "missing_ids.gaps": "{subject} 生成的 {produced:,} 个 ID 中有 {count:,} 个不在本次输入中（{share:.2%}），"
    "共 {in_gaps:,} 处缺口，最大的缺 {widest:,} 个；仅凭这一点不能断定消息丢失",
    "missing_ids.sample": "{subject} 约生成了 {produced:,} 个 ID，本次输入只含 {distinct:,} 个：要么是抽样，要么其余在别的日志里",
    "missing_ids.hole": "{subject} 生成的 ID 中有连续 {count:,} 个不在本次输入中：这是一处明显的缺口。其余 {others:,} 个中，本次输入含 {seen_share:.0%}："
    "要么是抽样，要么其余在别的日志里。仅凭缺失不能断定消息丢失",
    "missing_ids.holes": "{subject} 生成的 ID 中有 {count:,} 个不在本次输入中，集中在 {in_gaps:,} 处明显的缺口。其余 {others:,} 个中，本次输入含 {seen_share:.0%}："
    "要么是抽样，要么其余在别的日志里。仅凭缺失不能断定消息丢失",
    "missing_ids.batch": "{subject} 有 {count:,} 个计数值没有出现在任何一行，是批量消息的各条目用掉的：一批 n 条消息占用 n 个值，"
    "所有记录的 UNIQ_KEY 都是其后的那个值。没有 ID 缺失",
    "missing_ids.unseen": "另有 {more:,} 个进程共 {count:,} 个 ID 不在本次输入中，每个进程都缺一成以上；未逐个检查它们的缺口，其中可能有明显的缺口；仅凭这一点不能断定消息丢失",
    "missing_ids.uncertain": "{subject} 至少有 {count:,} 个 ID 不在本次输入中；有两个相邻 ID 间隔太久，期间可能有未察觉的回绕，"
    "每次回绕再多缺 65,536 个。仅凭 ID 缺失不能断定消息丢失",
    "id_confusion": "{subject}：本应是 msgId 的位置打印了 {count:,} 个 offsetMsgId。通常是程序打印了错误的 ID，"
    "或者客户端不设置 UNIQ_KEY，消息没有别的 ID",
    "id_confusion.message_ext": "MessageExt 的 toString 会把偏移量 ID 打印成 msgId（这里有 {count:,} 处）：它本来就这样写，不是谁的错误",
    "broker_address_internal.loopback": "Broker 自称 {subject}：其他机器无法访问回环地址",
    "broker_address_internal.bridge": "Broker 自称 {subject}，这是 Docker 网桥的地址（172.16/12）：其他机器很难由此访问它",
    "broker_address_internal.link_local": "Broker 自称 {subject}，这是链路本地地址：本网段以外无法由此访问它",
    "broker_address_internal.nowhere": "这些 offsetMsgId 中的 Broker 地址是 {subject}，不是有效的主机地址",
    "broker_address_internal.node_port": "Broker 自称 {subject}：该端口在 Kubernetes 分配给 NodePort 的范围内",
    "broker_moved": "{subject} 从 {from_address} 停下的地方继续，相隔 {gap:,} 字节：同一个 Broker 换了地址",
    "broker_moved.both": "{subject} 与 {from_address} 交替推进同一个递增的偏移：同一个 Broker 有两个地址",
    "pid_erased": "{subject} 的进程号为 0：客户端写入的是进程号的高 16 位，同一主机的所有进程看起来是同一个",
    "pid_erased.multiple": "{subject} 的进程号为 0：进程号大概正好是 65,536 的倍数，因为它的 JVM 比客户端 4.6.0、4.6.1（多数进程写 0）新得多",
    "fake_host.unresolved": "{subject} 写入的是 0.0.0.0：主机名解析不到地址，因此从 ID 看不出是哪台主机生成的",
    "fake_host.not_ipv4": "{subject} 写入的地址不属于任何主机：主机名大概解析到了 IPv6 地址，而这个 C++ 客户端写不了",
    "fake_host": "{subject} 的地址不是真地址，而是进程启动的时间（{started_at}）：客户端读不到本机地址时会这样写",
    "fake_host.go": "{subject} 的地址不是真地址，而是时间的四位数字：Go 客户端读不到本机地址时会这样写",
    "fake_host.odd": "没有主机会有 {subject} 这样的地址；按时间解读，它在首个 ID 之前 {age_hours:,.1f} 小时，进程可能在那时启动",
    "loopback_host": "{subject} 写入的是回环地址：从 ID 看不出是哪台主机生成的",
    "loopback_host.own_name": "{subject} 写入的是 127.0.1.1，即 Debian 的 /etc/hosts 给本机名的地址：从 ID 看不出是哪台主机生成的",
    "link_local_host": "{subject} 写入的是链路本地地址，只在一个网段内唯一",
    "zone_mismatch": "{subject} 的时钟在时区 {zone}，其他多数在 {usual_zone}",
    "zone_mismatch.given": "{subject} 的时钟在时区 {zone}，而不是给定的 {usual_zone}",
    "elapsed_impossible": "{subject} 有 {count:,} 个 ID 的月内毫秒数超过一个月：已知按月计时的 RocketMQ 客户端都不会这样",
    "elapsed_impossible.one_text": "有一个字符串形似 {subject} 的 ID，共出现 {count:,} 次，月内毫秒数却超过一个月；"
    "已知按月计时的 RocketMQ 客户端都不会生成它",
    "elapsed_impossible.java": "{subject} 有 {count:,} 个 ID 的月内毫秒数超过一个月，而这种类加载器的 Java 客户端从不会这样写",
    "elapsed_impossible.clock": "{subject} 有 {count:,} 个 ID 不是从月初计时：按时钟的低 32 位解读（.NET 客户端 ErQing 的写法），"
    "生成时间为 {first_at} 至 {last_at}",
    "restart": "{subject} 重启了 {count:,} 次：计数器降到 0 附近，而按其速率还不到回绕的时候",
    "restart.loop": "{subject} 在 {loop_seconds}内重启了 {count:,} 次，像是反复崩溃：每次计数器都回落到 0 附近，而它来不及回绕",
    "restart.loop_among": "{subject} 重启了 {count:,} 次，其中 {loop:,} 次在 {loop_seconds}内，像是反复崩溃："
    "每次计数器都回落到 0 附近，而它来不及回绕",
    "counter_wrap": "{subject} 的计数器从 65,535 回绕到 0，共 {count:,} 次，属正常现象",
    "counter_wrap.uncertain": "{subject} 的计数器至少回绕了 {count:,} 次；间隔较久的 ID 之间可能还有未察觉的回绕",
    "stored_copies": "{subject} 有 {count:,} 条消息以同一 ID 存了多份",
    "stored_copies.retry": "{subject} 有 {count:,} 条消息因消费失败而被再次存储（消费重试）",
    "stored_copies.delay": "{subject} 有 {count:,} 条延迟消息存了两份：先在延迟队列等待，再存入自己的主题",
    "stored_copies.transaction": "{subject} 有 {count:,} 条事务消息存了两份：先是半消息，再是提交后的消息",
    "stored_copies.batch": "{subject} 有 {count:,} 个 ID 属于批量消息：一批中的所有消息共用一个 ID",
    "container_host": "{subject} 是 Docker 默认网桥上的容器：其他每台 Docker 主机上的容器也用同样的地址",
    "container_host.gateway": "{subject} 写入的是 Docker 网桥自身的地址，每台 Docker 主机都有",
    "foreign_maker": "{subject} 不是官方 Java 客户端：{maker}",
    "foreign_maker.seed": "{subject} 是 C++ 客户端：它的类加载器字段是 {started_at} 启动的进程的第一个 rand()",
    "foreign_maker.no_hash": "{subject} 不是官方 Java 客户端（{maker}）：类加载器字段的最高位是 1，JVM 的哈希不会这样",
    "expired": "{subject} 有 {count:,} 个 ID 早于 Broker 的默认保留时间（{cutoff} 之前生成）",
}

ADVICE: dict[str, str] = {
    "more": "请把输入缩小到一台主机，或查看本次运行的数据表。",
    "unseen": "请一次扫描较少主机的日志：这样每一个都会被检查。",
    "collision": "让各生产进程有各自的指纹；在此之前请按偏移量 ID 查询消息。",
    "collision.another_month": "请按偏移量 ID 查询，或限定时间范围；不要单独用 msgId 作为跨月的键。",
    "collision.hosts": "让这些主机有各自的地址或进程号（Pod 网络），然后重启生产者；在此之前请按偏移量 ID 查询。",
    "collision.topics": "让该程序新建不带 UNIQ_KEY 的 Message，并按偏移量 ID 查询各副本。",
    "collision.sent_again": "每次发送都新建 Message；或把该 ID 当作业务键，让消费者忽略重复。",
    "shared_fingerprint": "给每个容器各自的地址（Pod 网络）或进程号，然后重启生产者。",
    "clock_back": "让主机平滑校时（chrony，或 ntpd -x），不要把时钟往回拨；这些 ID 请按计数器排序，它们的时间有重叠。",
    "clock_back.twice_open": "让主机平滑校时（chrony，或 ntpd -x），并在重复经过的那段时间里查找重复的 ID。",
    "clock_back.twice_seen": "让主机平滑校时（chrony，或 ntpd -x）；重复的 ID 请按偏移量 ID 查询。",
    "duplicate_send": "让消费者忽略已处理过的 ID，并在生产者日志的那段时间查找发送超时（默认 3 秒）。",
    "missing_ids": "请在生产者日志中查看下列 ID（每处缺口后的第一个）之前的内容：先确认有无发送失败，再排除该进程发送的其他内容（其他主题、消息轨迹）。",
    "missing_ids.failed": "请查明这些发送为何失败（Broker 繁忙、超时、没有路由）。发送失败也会占用一个 ID；此外仍缺少的，可能属于其他主题或消息轨迹。",
    "missing_ids.batch": "无需处理：各条目的 ID 由生产者的 SendResult 打印。",
    "missing_ids.sample": "要判断是否丢失，请扫描该生产者所有主题和消费者的日志。",
    "id_confusion": "请按偏移量 ID 查询，并在日志中记录 SendResult.msgId 或消费到的消息的 getMsgId()。"
    "不设置 UNIQ_KEY 的客户端没有 msgId 可记录，请记录 KEYS：Node.js 的 ali-ons 与 rocketmq，以及 Go 客户端 2.1.2 的批量发送。",
    "id_confusion.message_ext": "msgId 请看同一行的 UNIQ_KEY。",
    "broker_address_internal": "把 brokerIP1 设为客户端能访问的地址，然后重启 Broker。",
    "broker_address_internal.send_ok": "若其他机器或网络上的客户端要用这个 Broker，请把 brokerIP1 设为它们能访问的地址并重启；否则不必改动。",
    "broker_address_internal.nowhere": "请先确认这些是否真是 offsetMsgId：旧版 C++ 客户端（1.2.0 至 1.2.3）的 msgId 看起来可能很像。"
    "若确实是，请把 brokerIP1 设为客户端能访问的地址，然后重启 Broker。",
    "broker_address_internal.node_port": "请确认客户端能从所在网络访问该地址；否则设置客户端可达的 brokerIP1 与端口（主机网络，或每个 Broker 一个 Service）。",
    "broker_moved": "旧的偏移量 ID 请到新地址查询；其中的地址是旧的。",
    "pid_erased": "把生产者的客户端从 4.6.0 或 4.6.1 升级到 4.7.0 或更高版本。",
    "pid_erased.multiple": "无需处理，除非同一主机有多个进程的进程号为 0。",
    "fake_host.unresolved": "让主机名解析到它的 IPv4 地址（/etc/hosts 或 DNS），然后重启生产者。",
    "fake_host.not_ipv4": "让主机名解析到它的 IPv4 地址（/etc/hosts 或 DNS），然后重启生产者。",
    "fake_host": "让主机名能解析到地址，或给容器配置网卡。",
    "loopback_host": "把 Java 客户端升级到 5.1.0 或更高版本，或给主机配置 127.0.0.1 以外的地址。",
    "loopback_host.not_java": "让主机名解析到真实地址（/etc/hosts 或 DNS），然后重启生产者。",
    "loopback_host.own_name": "在 /etc/hosts（或 DNS）中把本机名指向真实地址而不是 127.0.1.1，然后重启生产者。",
    "link_local_host": "不要使用 4.6.0 客户端，或给主机配置可路由的地址。",
    "zone_mismatch": "给所有生产者设置相同的 TZ（或 -Duser.timezone），并按各自的时区解读这些 ID。",
    "elapsed_impossible": "请看原文：应用自己的键、第三方客户端，或两个 ID 连在了一起。",
    "elapsed_impossible.one_text": "请看原文：应用自己的键，或两个 ID 连在了一起。",
    "elapsed_impossible.java": "请看原文：应用自己的键，只是模仿了 ID 的样子。",
    "elapsed_impossible.clock": "请把它们的时间按 1970 年以来毫秒数的低 32 位解读（每 49.7 天重复），并与日志行的时间对照。",
    "restart": "请与发布记录对照；非计划且间隔规律的重启，通常是进程崩溃后被自动拉起。",
    "restart.loop": "请查看进程在每个时刻之前为何退出：它自己的日志、退出码、内核的 OOM 记录、kubectl describe pod。",
    "counter_wrap": "无需处理：比较计数器时请计入回绕。",
    "stored_copies": "使用重试、延迟、事务或批量时属正常；请查看主题。",
    "stored_copies.retry": "请在消费者日志的这些时间查找异常；默认重试 16 次（maxReconsumeTimes），之后进入 %DLQ%。",
    "stored_copies.delay": "无需处理：生产者打印的偏移量 ID 属于等待中的那条记录。",
    "stored_copies.transaction": "无需处理：生产者打印的偏移量 ID 属于半消息。",
    "stored_copies.batch": "无需处理：同一批中的消息请用偏移量 ID 或 KEYS 区分。",
    "container_host": "在容器的日志里找主机，或给容器配置可路由的网络。",
    "foreign_maker": "请按该客户端的规则解读它的 ID；各字段含义不同。",
    "foreign_maker.go": "时间按整秒解读；没有类加载器（全为 0），计数器从 1 开始。",
    "foreign_maker.go_family": "时间按整秒解读；没有类加载器（全为 0），计数器从 1 开始。月份按 UTC 开始的是 rocketmq-rs（Rust）或 "
    "ex_rocketmq（Elixir），否则是 Go 客户端。",
    "foreign_maker.elixir": "时间按 UTC 月份的整秒解读；没有类加载器（全为 0），计数器从 1 开始。",
    "foreign_maker.cpp_old": "字节要从右向左读；进程号只剩高半部分，计数器只有 8 位；1.2.4 及以上版本写的是完整的值。",
    "foreign_maker.seed": "按 Java 的 ID 解读；只有类加载器字段含义不同，它对应进程的启动时间。",
    "foreign_maker.rust_mxsm": "按 Java 的 ID 解读；只是类加载器字段处处相同，没有含义。",
    "foreign_maker.php": "时间按当天零点起的毫秒数解读：ID 里没有日期。",
    "foreign_maker.python_tt67wq": "时间按进程启动后的秒数解读：ID 里没有日期。",
    "foreign_maker.dotnet_uuid": "不要解读它的字段：这是随机的 UUID。",
    "expired": "很可能已被清理：请查消费者日志或归档。如果 Broker 的保留时间更长（fileReservedTime，默认 72 小时），仍可在集群中查询。",
}

DISPROOF: dict[str, str] = {
    "more": "见已列出的发现。",
    "unseen": "一次扫描较少的主机会逐个检查，而什么也没有发现。",
    "collision": "各副本其实是同一条消息：在存储中键、消息体和生成时间都相同。",
    "shared_fingerprint": "日志行中的主机、进程号和启动时间只指向一个进程。",
    "clock_back": "主机的校时日志没有跳变，或有两个进程共用一个指纹。",
    "duplicate_send": "副本其实是同一条记录，只是分别从 Broker 的旧地址和新地址读到。",
    "missing_ids": "这些 ID 在别的日志里，或用于消息轨迹、请求 ID（它们共用同一个计数器）。",
    "missing_ids.batch": "这些 UNIQ_KEY 相同的记录其实是同一条消息的重试；那么之前的计数值就是缺失的 ID。",
    "id_confusion": "消息没有自己的 ID，且经过 5.1.1 及以上版本的 Proxy：它会把偏移量 ID 写入 UNIQ_KEY。"
    "或者客户端不设置 UNIQ_KEY（ali-ons、npm 的 rocketmq、Go 2.1.2 的批量发送）。"
    "这时 Broker 可能为普通消息补上 UNIQ_KEY：其中的主机、进程号和 loader 通常属于 Broker 的 JVM。",
    "id_confusion.message_ext": "该行不是打印出来的 MessageExt。",
    "broker_address_internal": "客户端正是用这个地址连接：全部运行在一台主机或一个网桥上，或贵司网络就用这个网段。",
    "broker_address_internal.nowhere": "这些 ID 是旧版 C++ 客户端的 msgId：它们是小端序，看起来可能像 offsetMsgId。",
    "broker_moved": "两个地址现在都有应答，且在同一偏移处有不同的记录。",
    "pid_erased": "进程号正好是 65,536 的倍数，或客户端不是 4.6.0 或 4.6.1。",
    "pid_erased.multiple": "客户端是 4.6.0 或 4.6.1。",
    "fake_host": "确有一台这个地址的主机在运行该生产者。",
    "loopback_host": "所有生产者都运行在产生此日志的机器上。",
    "link_local_host": "所有生产者和消费者都在同一个网段。",
    "zone_mismatch": "各主机的时钟时区相同；那么日志行中的 bornTimestamp 有误。",
    "elapsed_impossible": "这段文字不是 ID：请看它前后的内容。",
    "elapsed_impossible.clock": "日志行的时间与此不符。",
    "restart": "进程一直没有中断：那么是两个进程共用一个指纹。",
    "counter_wrap": "进程恰好在那时重启。",
    "stored_copies": "副本在同一个普通主题中而生成时间不同：那就是冲突。",
    "container_host": "贵司网络中确有一台机器使用这个地址。",
    "foreign_maker": "已知该主机和进程号背后的程序，而它是另一种客户端。",
    "foreign_maker.seed": "该进程是使用了不寻常类加载器的 JVM。",
    "foreign_maker.no_hash": "该主机和进程号背后的程序运行在 HotSpot 以外的 JVM 上。",
    "expired": "Broker 的保留时间长于 72 小时（fileReservedTime），或月份解读有误。",
}

ALSO: dict[str, str] = {
    "producer": "。该 ID 写明的生产者：{producer}",
    "producer_born": "。该 ID 写明的生产者：{producer}；日志行的 bornHost：{born_hosts}",
    "born_hosts": "。日志行的 bornHost 写明的主机：{born_hosts}",
    "statuses": "。并非每次发送都是 SEND_OK：{statuses}。这种状态下 Broker 也已存储该消息",
    "apart": "。各副本的存储时间相隔 {apart_seconds}",
    "twice_none": "。没有重复生成的 ID：计数器没有转完一圈（65,536 个值只用了 {span:,} 个）",
    "twice_open": "。计数器可能转完了一圈，因此可能有重复生成的 ID；这里没有发现",
    "twice_seen": "。其中有 {twice:,} 个 ID 属于不同的消息，各有一项发现",
    "began": "。重新启动的时间：{began_at}",
    "began_first": "。重新启动的时间：{began_at}，此后还有",
    "silent": "。其间至少 {silent_minutes:,} 分钟没有出现这两个地址的 ID（平时 {usual_minutes:,} 分钟内就会出现）；"
    "那段时间也没有出现其他 Broker",
    "silent_alone": "。其间至少 {silent_minutes:,} 分钟没有出现这两个地址的 ID（平时 {usual_minutes:,} 分钟内就会出现）；"
    "那段时间有其他 Broker 出现",
    "gap": "。缺口在 {gap_after} 之后、{gap_before} 之前：共 {widest:,} 个，计数器 {gap_from:,} 至 {gap_to:,}",
    "gap_one": "。它的计数器是 {gap_from:,}，在 {gap_after} 之后、{gap_before} 之前",
    "gap_widest": "。最大的缺口在 {gap_after} 之后、{gap_before} 之前：共 {widest:,} 个，计数器 {gap_from:,} 至 {gap_to:,}",
    "gap_lines": "。在日志中从 {gap_after_at} 之后到 {gap_before_at}",
    "narrower": "。另有 {unlisted:,} 个缺失的 ID 在每处不超过 {narrowest:,} 个的缺口中，未逐个检查",
    "batches": "。未计入：批量消息各条目用掉的 {explained:,} 个计数值",
    "failed": "。缺口之前，日志里有一次发送失败：“{failed_line}”（{failed_at}）",
    "failed_gaps": "。最大的 {looked:,} 处缺口中，有 {failed:,} 处之前出现发送失败，第一处是“{failed_line}”（{failed_at}）",
    "send_ok": "。但此日志里有发往它并成功的消息（SEND_OK）：写这份日志的客户端从它所在的位置可以访问这个 Broker，访问不到的只可能是别处的客户端",
    "group": "。要求重新消费的消费组：{group}",
    "consumer_hosts": "。按日志行所写，读取它们的主机：{consumer_hosts}",
}

UNITS = {"d": "天", "h": "小时", "min": "分", "s": "秒"}

PARTS = {
    "meaning": MEANINGS, "advice": ADVICE, "disproof": DISPROOF, "also": ALSO, "units": UNITS, "makers": MAKERS
}  # fmt: skip
