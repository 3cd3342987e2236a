"""Chinese for what tables, runs and stores say in English without a code. Knows nothing but sentences."""

import re

# The first pattern that fits the whole sentence counts; its groups are said in Chinese too, where they are known.
PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(english, re.DOTALL), chinese)
    for english, chinese in (
        # files and archives
        (r"a 7z archive, which a scan cannot open: unpack it first", "7z 压缩包，扫描无法打开：请先解压"),
        (r"a RAR archive, which a scan cannot open: unpack it first", "RAR 压缩包，扫描无法打开：请先解压"),
        (
            r"packed with (?P<tool>\w+), which a scan cannot open: unpack it first",
            "用 {tool} 压缩，扫描无法打开：请先解压",
        ),
        (
            r"a binary journal of systemd: write it as text with (?P<command>.+)",
            "systemd 的二进制日志：请先用 {command} 导出为文本",
        ),
        (
            r"an Avro file, which a scan cannot open: write it as JSON Lines first",
            "Avro 文件，扫描无法打开：请先转成 JSON Lines",
        ),
        (
            r"the rest of the store does not agree with a record: (?P<records>.+)",
            "存储的其他部分与记录不一致：{records}",
        ),
        (r"no such file", "没有这个文件"),
        (r"not a regular file", "不是普通文件"),
        (r"no pattern: (?P<why>.+)", "不是有效的通配符：{why}"),
        (
            r"damaged from offset (?P<offset>\d+) on: no record begins there",
            "从偏移量 {offset} 起已损坏：那里没有记录开始",
        ),
        (
            r"body of the record at offset (?P<offset>\d+) does not agree with its CRC",
            "偏移量 {offset} 处记录的消息体与其 CRC 不一致",
        ),
        (
            r"no file holds the bytes of the log from (?P<first>\d+) up to (?P<last>\d+)",
            "没有文件保存 CommitLog 从 {first} 到 {last} 的字节",
        ),
        (r"the name is no offset: it does not fit into 64 bits", "文件名不是偏移量：超出 64 位"),
        (r"cut off in the middle of a member", "在某个成员中间被截断"),
        (r"cut off: the archive has no end mark", "被截断：压缩包没有结束标记"),
        (r"cut off: the archive has no directory", "被截断：压缩包没有目录"),
        (r"cut off: the end of what was packed is missing", "被截断：压缩数据缺少结尾"),
        (r"packed more than (?P<n>\d+) times over", "压缩嵌套超过 {n} 层"),
        (
            r"a large Parquet file in an archive cannot be read: unpack it first",
            "压缩包里的大 Parquet 文件无法读取：请先解压",
        ),
        (r"damaged at byte (?P<byte>[\d,]+) of the archive: (?P<why>.+)", "压缩包在第 {byte} 字节损坏：{why}"),
        (r"damaged at byte (?P<byte>[\d,]+) of the archive", "压缩包在第 {byte} 字节损坏"),
        (r"a header of the archive is too long", "压缩包的某个文件头过长"),
        (r"damaged: a member of the archive has a size below zero", "已损坏：压缩包中某个成员的大小小于零"),
        (r"a pax header of the archive is damaged", "压缩包的 pax 头已损坏"),
        (r"(?P<name>.+) is encrypted", "{name} 已加密"),
        (
            r"(?P<name>.+) can only be read from the directory of its archive, which is not at hand",
            "{name} 只能通过压缩包的目录读取，而目录不可用",
        ),
        (r"more than (?P<n>[\d,]+) members: unpack it first", "成员超过 {n} 个：请先解压"),
        (r"before the beginning of the file", "位于文件开头之前"),
        (r"no store is known for (?P<scheme>\S+): (?P<why>.+)", "不认识 {scheme} 存储：{why}"),
        (r"leads to another server, (?P<server>.+): name that one", "跳转到另一台服务器 {server}：请直接填写那台"),
        (r"the server says (?P<code>\d+) (?P<why>.*)", "服务器返回 {code} {why}"),
        (r"the server cannot be reached: (?P<why>.+)", "无法连接服务器：{why}"),
        (r"the server's answer makes no sense: (?P<why>.+)", "服务器的应答无法理解：{why}"),
        (r"the server broke off", "服务器中断了传输"),
        (r"changed while it was read", "读取过程中文件发生了变化"),
        (r"No such file or directory", "文件或目录不存在"),
        (r"Permission denied", "没有读取权限"),
        (r"Is a directory", "这是一个目录"),
        (r"Input/output error", "磁盘读写错误"),
        (r"No space left on device", "磁盘空间不足"),
        (r"shorter than when the scan began", "比扫描开始时短了"),
        (r"(?P<name>.+) cannot be read: (?P<why>.+)", "无法读取 {name}：{why}"),
        (
            r"(?P<folder>.+) has no commit log: a store has a folder commitlog with files of 20 digits",
            "{folder} 里没有 CommitLog：存储目录应有 commitlog 目录，文件名为 20 位数字",
        ),
        # runs
        (r"there is no run (?P<name>.+)", "没有扫描记录 {name}"),
        (r"run (?P<name>\S+) has no table (?P<table>.+)", "扫描记录 {name} 没有表 {table}"),
        (r"this run does not say what it scanned; start a new one", "这次扫描没有记下扫描了什么，请重新发起一次"),
        (r"only a run that failed or was cancelled can be started again", "只有失败或已取消的扫描才能重新开始"),
        (r"the scan was cancelled", "扫描已取消"),
        (r"(?P<path>.+) cannot be written: (?P<why>.+)", "无法写入 {path}：{why}"),
        (
            r"splits of (?P<size>[\d,]+) bytes would cut the input of (?P<total>[\d,]+) bytes into more than "
            r"(?P<most>[\d,]+); take (?P<least>[\d,]+) bytes or more",
            "每片 {size} 字节会把 {total} 字节的输入切成 {most} 片以上；请至少取 {least} 字节",
        ),
        (
            r"worker (?P<host>\S+) does not see the folder (?P<path>.+); workers write tables as large as these, so "
            r"--out must be on storage that all of them mount",
            "工作节点 {host} 看不到目录 {path}；这么大的表由各节点写出，--out 必须位于所有节点都挂载的存储上",
        ),
        # Spark
        (
            r"Spark's Java process ended in mid-scan: it was killed, or had too little memory; start the scan again",
            "Spark 的 Java 进程在扫描途中结束：被强制终止，或内存不足；请重新扫描",
        ),
        (
            r"the cluster closed the Spark session in mid-scan; start the scan again",
            "集群在扫描途中关闭了 Spark 会话；请重新扫描",
        ),
        (r"Spark Connect needs one more package: (?P<why>.+)", "Spark Connect 还缺一个包：{why}"),
        (
            r"Spark needs Java (?P<version>\d+) or later and none was found; install it with: (?P<command>.+)",
            "Spark 需要 Java {version} 或更高版本，但没有找到；安装命令：{command}",
        ),
        (r"Spark did not start: (?P<why>.+?)\. Java said: (?P<told>.*)", "Spark 未能启动：{why}。Java 输出：{told}"),
        (r"Spark did not start: (?P<why>.+)", "Spark 未能启动：{why}"),
        # records of a store
        (r"the record here says that it belongs at (?P<offset>-?\d+)", "这里的记录自称应在 {offset}"),
        (
            r"the bytes end inside (?P<name>\w+): it needs (?P<needed>\d+), (?P<remaining>\d+) are there",
            "字节在 {name} 中间就结束了：需要 {needed} 个，只有 {remaining} 个",
        ),
        (
            r"total_size is (?P<size>-?\d+); the smallest of its kind has (?P<least>\d+) bytes",
            "total_size 是 {size}；这类记录最短也有 {least} 字节",
        ),
        (
            r"magic is (?P<magic>[0-9A-F]+); a record has DAA320A7 or DAA320AB",
            "magic 是 {magic}；记录的 magic 是 DAA320A7 或 DAA320AB",
        ),
        (
            r"this is the blank record at the end of a file, (?P<size>\d+) bytes of filler",
            "这是文件末尾的空白记录，填充 {size} 字节",
        ),
        (r"(?P<name>\w+) is (?P<value>-\d+), below zero", "{name} 是 {value}，小于零"),
        (
            r"(?P<name>\w+) says (?P<value>\d+) bytes, (?P<remaining>-?\d+) are left of the record",
            "{name} 说有 {value} 字节，而记录只剩 {remaining} 字节",
        ),
        (
            r"total_size is (?P<size>\d+), but the fields add up to (?P<parts>\d+)",
            "total_size 是 {size}，各字段合计却是 {parts}",
        ),
        (r"(?P<name>\w+_port) is (?P<value>-?\d+), outside 0 to 65,535", "{name} 是 {value}，不在 0 到 65,535 之内"),
        (
            r"compression type (?P<kind>\d+) is none that is known \(0 and 3 zlib, 1 LZ4, 2 zstd\)",
            "压缩类型 {kind} 未知（0 和 3 是 zlib，1 是 LZ4，2 是 zstd）",
        ),
        (r"the body is no (?P<kind>zlib|LZ4|zstd): (?P<why>.+)", "消息体不是 {kind}：{why}"),
        (r"the body is (?P<kind>zlib|LZ4|zstd) that ends early", "消息体是没有完结的 {kind}"),
        (r"the body unpacks to more than (?P<most>\d+) bytes", "消息体解压后超过 {most} 字节"),
        (r"nothing but zeros", "全是零"),
        (r"no file holds these bytes", "没有文件包含这些字节"),
        (r"the stored body has another CRC, so it was damaged: (?P<where>.+)", "消息体与 CRC 不符，已损坏：{where}"),
        (
            r"the record has another CRC than its own, so it was damaged: (?P<where>.+)",
            "记录与自带的 CRC 不符，已损坏：{where}",
        ),
        (r"the record ends in zeros, so it was half written: (?P<where>.+)", "记录以零结尾，只写了一半：{where}"),
        (
            r"a broker from 5\.0 to 5\.3\.3 appended the batch's own id to each of its messages, and indexed that one: (?P<ids>.*)",
            "5.0 到 5.3.3 的 Broker 给批量中的每条消息附上了整批的 ID，并以它建索引：{ids}",
        ),
        (
            r"it is one message of an inner batch, of which the broker indexes the id of the whole: (?P<ids>.*)",
            "它是内部批量中的一条消息，Broker 只以整批的 ID 建索引：{ids}",
        ),
    )
)
