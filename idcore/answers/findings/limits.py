"""The numbers that decide a finding, each with its reason. Reads no table."""

from __future__ import annotations

from idcore.ids import rules

# ---- how much is listed

# So many subjects of one code are listed; the rest is one row that counts them. Nobody reads more, and a scan may hold
# millions of processes.
MOST_SUBJECTS = 200
# Ids that one finding shows as proof.
MOST_IDS = 10
# Ids are looked for in inputs up to so many bytes, and as many ids as keep bytes times ids below this: a tenth of a
# second to a second, at 0.2 to 4 GB a second and id.
MOST_PLACED, MOST_SEARCHED = 64 << 20, 256 << 20
MOST_BORN_HOSTS = 5
# In front of an id a failed send is looked for in so many bytes, and so much of its line is shown.
MOST_IN_FRONT, MOST_QUOTED = 1 << 16, 160
# So many times an address is looked at for a send that succeeded, in each piece of text.
MOST_SENDS = 10_000
# One sentence contains so many moments.
MOST_MOMENTS = 5
# Gaps of a counter that are named, the widest first.
MOST_GAPS = 5
# So many processes with several chains are looked at point by point (1,500 each), the largest first.
MOST_EXAMINED = 2_000
# Of a scan that is too large for the driver so many processes have their points in memory, and so many points, 60 bytes
# each: those whose clock is in doubt first, then those with the widest gaps.
MOST_SUSPECTS = 50_000
MOST_POINTS = 4_000_000

# ---- counters

# Ids of this layout are from the C++ clients 1.2.0 to 1.2.3, which cut the counter to eight bits: what they generated,
# and what is missing of it, is not known, and no sum counts it.
CUT_COUNTER = "uniq_v4_le"
# "Where more is missing than a tenth, the input is a sample". Holes are judged before and do not count here.
SAMPLE_SHARE = 0.1
# A gap is a hole when chance makes one so wide in fewer than one of a million processes. Real shares are not drawn at
# random for each id: topics come in runs. A thousandth would take such a run as a hole; this bound is twice as wide.
HOLE_CHANCE = 1e-6
# Ids of the chain on either side of a hole. Fewer are an excerpt that somebody pasted, or a stray id, not traffic.
HOLE_SIDE_IDS = 10
# Where at most one id in so many has a gap below it, gaps are not a habit of the input: runs of 20 ids without a gap
# are longer than a share of 90 % makes (10 on average). Fewer gaps in all do not make a habit to compare with.
RARE_GAPS = 1 / 20
FEW_GAPS = 5
# The records of a batch are one behind the other. Two of one batch are at most so far apart: a batch is at most 4 MiB
# (maxMessageSize), and items of more than 64 KiB are sent alone.
BATCH_STEP_BYTES = 1 << 16
# Of a process with more gaps than are listed, the others are batches too when so many of the listed ones are.
BATCH_SHARE = 0.95

# A step of the clock: ntpd slews below 128 ms and steps above. A thread that was stopped between its clock and its
# counter looks the same for one id, and for longer than 128 ms now and then: half a second and three ids in a row rule
# that out.
CLOCK_STEP_MS = 500
# The Go family counts whole seconds, so the least step that it can show is one of them; two are proof.
CLOCK_STEP_WHOLE_SECONDS_MS = 2_000
CLOCK_STEP_IDS = 3
# Elapsed that falls by more is a new month, not a clock: the last ids of a month are 28 to 31 days ahead of the first
# ones of the next, less what the log leaves out on both sides.
MONTH_FALL_MS = 20 * 86_400_000
# Sharp falls of the clock beyond one in so many ids are not a clock but a counter that was unrolled the wrong way.
IDS_PER_CLOCK_STEP = 20
# A chain goes on where another ended when it begins at most this many counters later: 8 in 65,536 by chance.
CONTINUES = 8
# So many ids at exactly elapsed 0 are a clock that was before the month (clients from 4.9.3 on write 0 for it). A
# timer at midnight may send a few within the first millisecond.
ZERO_RUN = 10
# Ids of a clock before the month, in a row, that prove it: one alone may be any 32 digits (the real log has one).
BEFORE_MONTH_IDS = 2

# So many starts within so long are not a deployment: Kubernetes starts a process that dies again after 0, 10 and 20 s.
LOOP_STARTS, LOOP_MS = 3, 60_000

# ---- addresses

# Docker's default bridge; the processes of a container have small pids.
DOCKER_BRIDGE = "172.17."
DOCKER_GATEWAY = "172.17.0.1"
CONTAINER_PIDS = 20
# What Debian and its children write into /etc/hosts for the host's own name.
OWN_NAME = "127.0.1.1"

# A fake address of the Java client is the low 32 bits of the time in ms at which its class was loaded, moments before
# the first id. Within a minute, a public address hits that by chance once in 71,000 (a minute of 49.7 days).
FAKE_HOST_MS = 60_000
# With an assumed zone the distance is known but for half hours up to 14 h either way: only ids of the process's first
# moments count, because the window is 56 times as wide.
FAKE_HOST_ASSUMED_MS = 15_000
FAKE_HOST_FIRST_COUNTER = 1_000
ZONE_STEP_MS = 1_800_000
WIDEST_ZONE_MS = 14 * 3_600_000
# An address that no host can have (0.x, 224.x and above) needs less proof: the process began within the last 49 days.

NODE_PORTS = (rules.NODE_PORTS[0], rules.NODE_PORTS[-1])
# One id of an address among so many offsetMsgIds is an application's own text, or a forged id, not a broker.
BROKER_SHARE = 1_000

# A broker that came back under another address goes on where it stopped: within this many bytes, or within this many
# times what it grew by in the meantime.
MOVED_SLACK_BYTES = 16 << 20
MOVED_RATE = 4
# Without times only a hair's breadth counts: so many mean distances between its neighbouring offsets.
MOVED_NEIGHBOURS = 4
MOVED_IDS = 10
# A pause before the new address is reported when it is so long, and so many times the longest usual pause there.
SILENT_MINUTES, SILENT_TIMES = 5, 4
# So many addresses are compared with their neighbours, those with the most ids first, and so many minutes of theirs.
MOST_BROKERS = 2_000
MOST_MINUTES = 4_000_000

# ---- time

LONGEST_ELAPSED_MS = rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS

# Born and store times that differ by clocks, which NTP keeps within some ms. Stored before born is impossible. Stored
# later is usual for some ms, and for seconds where a send was tried again (3 s) or a disk was busy, now and then.
CLOCK_BEFORE_MS, CLOCK_BEHIND_MS = 1_000, 2_000
CLOCK_RECORDS = 3  # the fewest that show a level
# Nearly all records of one clock are so near to its level: sends wait for some ms, a wrong crystal drifts.
CLOCK_ALIKE_SHARE, CLOCK_JITTER_MS, CLOCK_JITTER_SHARE = 0.9, 1_000, 0.02
CLOCK_SOON_MS = 5 * 60_000  # a consumer that keeps up begins so soon
CLOCK_ZONE_MS = 5 * 60_000  # a clock that was set by hand to another zone's time
# Consumers are some seconds late, and not all by as much.
LINE_JITTER_MS, LINE_JITTER_SHARE = 5_000, 0.05

# ---- copies

# A thread that sends again waits for the time-out first (3 s by default): what was born later than that, under the
# same id, is another message.
BORN_SLACK_MS = 1_000
# So many ids with copies are looked at one by one (some 30 us each); the rest is counted as stored copies.
MOST_COPIES = 50_000
# Copies born so long apart are of different months, whose ids repeat: an id contains only its place in the month.
MONTH_APART_MS = 20 * 86_400_000
# The records of one batch are stored by one append: in the same millisecond, or across the next.
BATCH_MS = 10

# ---- clients

# The C++ client seeds rand() with the second it starts in. Seeds of so many days before the first id are tried: a
# loader hits one of 2.7 million seeds by chance once in 800.
SEED_DAYS = 31
MOST_SEED_LOADERS = 1_000

# ---- consumer groups of a store

# A group that runs reports its offset every 5 s, and the broker writes it every 5 s. A deployment, a rebalance or a
# consumer that hangs until its 15 minutes (consumeTimeout) are over explains no more than a quarter of an hour.
STILL_MS = 15 * 60_000
# Fewer messages are a topic of which hardly anything is known.
STILL_MESSAGES = 10
# Offsets are copied later than the log: they may be ahead of it by what a queue gets within so long. A copy of 100 GB
# takes a quarter of an hour at 100 MB/s.
COPY_SKEW_MS = 3_600_000
COPY_SKEW_MESSAGES = 100
# Failures of a group are a rise if there are so many, and so many times as many as elsewhere; once in a million windows
# chance makes one. Less than half an hour of log, or a rise that fills two thirds of it, shows no "elsewhere".
STORM_TRIES, DEAD_LETTERS = 100, 10
RISE_TIMES = 5
RISE_CHANCE = 1e-6
RISE_MINUTES, RISE_SHARE = 30, 2 / 3
# Of a longer log the week with the most failures: one record with a wrong clock makes a log of years.
RISE_MOST_MINUTES, RISE_LENGTHS = 7 * 24 * 60, 64
# The tenth retry is 37 minutes behind the first attempt, with the default delays: longer than most outages. Where more
# messages than one in a hundred have so many, what fails is not the messages.
POISON_RETRIES = 10
POISON_MESSAGES, POISON_SHARE = 10, 0.01

# ---- message keys

# A key names one message where at most so many keys, or this share of them, have several msgIds. One that stands on
# more messages than so many, or on messages that are days apart, is the name of something else.
SAME_KEYS, SAME_KEY_SHARE = 3, 0.2
SAME_KEY_IDS, SAME_KEY_APART_MS = 4, 86_400_000
