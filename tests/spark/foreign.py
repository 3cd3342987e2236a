"""A process of another user of this machine, which asks Spark's ports in Spark's own words and has no secret."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

NOBODY = 65_534
RPC_ANSWER, RPC_FAILURE = 4, 5  # Message.Type of Spark's network-common

# Becomes another user once Python is loaded, whom a private home above this project would not let in to load it.
BECOME = f"import os, socket; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
# Runs with -I: it sees nothing of this project.
_ASK = """
import json, socket, sys
answers = []
for port, question in json.load(sys.stdin):
    with socket.create_connection(("127.0.0.1", port), 10) as to:
        to.settimeout(10)
        to.sendall(bytes.fromhex(question))
        try:
            answers.append(to.recv(65536).hex())
        except ConnectionResetError:
            answers.append("")
print(json.dumps(answers))
"""


def ask(*questions: tuple[int, bytes]) -> list[bytes]:
    """The first bytes of each answer to a question at a port; as `nobody` where the tests may become that user."""
    given = json.dumps([(port, question.hex()) for port, question in questions])
    done = subprocess.run(
        [sys.executable, "-I", "-c", ("import json, encodings.idna\n" + BECOME if os.getuid() == 0 else "") + _ASK],
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
        env={},
    )
    assert done.returncode == 0, done.stderr
    return [bytes.fromhex(answer) for answer in json.loads(done.stdout)]


def kind(answer: bytes) -> int:
    """The type of the message that an answer of Spark's begins with."""
    return answer[8]


def _text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()


def _frame(body: bytes) -> bytes:
    request = struct.pack(">bqi", 3, 7, len(body)) + body  # RpcRequest, its number, its length
    return struct.pack(">q", 8 + len(request)) + request


def has_endpoint(jvm: Any, port: int, name: str) -> bytes:
    """Asks a port of Spark's RPC whether it has an endpoint, as every client does first; JVM serialises it."""
    out = jvm.java.io.ByteArrayOutputStream()
    to = jvm.java.io.ObjectOutputStream(out)
    to.writeObject(getattr(jvm, "org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence")(name))
    to.close()
    receiver = b"\1" + _text("127.0.0.1") + struct.pack(">i", port) + _text("endpoint-verifier")
    return _frame(b"\0" + receiver + bytes(out.toByteArray()))


def blocks() -> bytes:
    """Asks a block manager to open a block."""
    texts = b"".join(struct.pack(">i", len(text)) + text for text in (b"app", b"driver"))
    return _frame(b"\0" + texts + struct.pack(">i", 1) + struct.pack(">i", 7) + b"rdd_0_0")


def ports_of(pid: int) -> list[int]:
    """Ports at which a process listens, by its descriptors in /proc."""
    own = {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in own:
                found.add(int(columns[1].rpartition(":")[2], 16))
    return sorted(found)
