"""The process that Spark forks its Python workers from: it loads the kernels once, so that no worker has to.

It is begun ahead (`--ahead SOCKET`), while Java starts. What Spark then starts is a short process that hands it the
pipes and the environment of Spark, and ends with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import sys
from contextlib import chdir

AHEAD = "IDCORE_WORKERS_AHEAD"  # in the environment of Java: the socket of the process that was begun ahead
_HEAD = 8


def _prefer_installed() -> None:
    """Spark puts its own archive of pyspark first on the path; read from there, every import compiles it again.

    Where pyspark is also installed, as for this interpreter, that one is taken: half a second less.
    """
    import importlib.machinery

    archives = [path for path in sys.path if os.path.basename(path).startswith(("pyspark", "py4j")) and ".zip" in path]
    others = [path for path in sys.path if path not in archives]
    if importlib.machinery.PathFinder.find_spec("pyspark", others) is not None:
        sys.path[:] = others


def _load(there: str | None = None) -> None:
    import gc

    _prefer_installed()
    from idcore.scan.warm import warm
    from idcore.spark.start.pyspark_private import load_worker

    load_worker()
    warm(there)
    gc.collect()
    gc.freeze()  # pyspark collects garbage between two tasks of a worker; of what is loaded here nothing is


def _end_with_pipe(ends: bool) -> None:
    """Whether the end of its pipe ends this process (SIGIO): while it loads, which may take long, it does not look."""
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    known = fcntl.fcntl(0, fcntl.F_GETFL)
    fcntl.fcntl(0, fcntl.F_SETFL, known | os.O_ASYNC if ends else known & ~os.O_ASYNC)


def _wait_for_spark(path: str) -> socket.socket | None:
    """The connection of who brings Spark's pipes and environment; None where the parent ends before."""
    listening = socket.socket(socket.AF_UNIX)
    with chdir(os.path.dirname(path)):  # the address of a socket is short, the path of a folder may be long
        listening.bind(os.path.basename(path))
    listening.listen(1)
    _end_with_pipe(True)
    if select.select([0], [], [], 0)[0]:  # it was closed before
        return None
    _load(os.path.dirname(path))  # it may be killed, and the folder is its parent's
    _end_with_pipe(False)
    ready, _, _ = select.select([0, listening.fileno()], [], [])
    if listening.fileno() not in ready:
        return None
    connection, _ = listening.accept()
    os.unlink(path)  # a second process of Spark's loads the kernels itself
    listening.close()
    head, pipes, _, _ = socket.recv_fds(connection, _HEAD, 3)
    left, data = int.from_bytes(head, "big"), b""
    while len(data) < left:
        piece = connection.recv(left - len(data))
        if not piece:
            return None
        data += piece
    os.environ.update(json.loads(data))
    for place, pipe in enumerate(pipes):
        os.dup2(pipe, place)
        os.close(pipe)
    return connection


def _hand_over(path: str) -> bool:
    """Gives Spark's pipes to the process that was begun ahead, and stays as long as it; False where it is gone."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            with chdir(os.path.dirname(path)):
                connection.connect(os.path.basename(path))
        except OSError:
            return False
        data = json.dumps(dict(os.environ)).encode()
        socket.send_fds(connection, [len(data).to_bytes(_HEAD, "big")], [0, 1, 2])
        connection.sendall(data)
        for place in (0, 1):  # its pipes are the other's alone
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, place)
            os.close(nothing)
        connection.recv(1)
    return True


def _main() -> None:
    if sys.argv[1:2] == ["--ahead"]:
        connection = _wait_for_spark(sys.argv[2])
        if connection is None:
            return
    else:
        if AHEAD in os.environ and _hand_over(os.environ[AHEAD]):
            return
        _load()
    from idcore.spark.start.pyspark_private import serve_workers

    serve_workers()


if __name__ == "__main__":
    _main()
