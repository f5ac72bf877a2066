"""What the sections of ./dev bench share: names, the making of what is measured, and one measured run of the load generator."""

import asyncio
import contextlib
import pathlib
import tempfile

from client import Connection
from harness import ACCOUNT, KEY

NAME = "bench"  # of the container, share, queue and table
AT = f"/{ACCOUNT}/{NAME}"
SIGNED = ["--account", ACCOUNT, "--key", KEY]
TABLE = [*SIGNED, "--service", "table"]
RANGE_FILES, RANGE_FILE_BYTES = 256, 16 * 1024 * 1024  # As the load generator has them.
SMALL = 4 * 1024
LARGE = 64 * 1024 * 1024
MESSAGE = 256
ENTITY = 200
GET_CONNECTIONS = 32
PUT_CONNECTIONS = 64


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="kyanite-bench-") as directory:
        yield pathlib.Path(directory)


def timed(bench, server, port, connections, *arguments, **options):
    """One run of the load generator, with the CPU time that the server took for it."""
    before = server.cpu_seconds()
    result = bench.load(port, connections, *arguments, **options)
    return {**result, "cpu_s": server.cpu_seconds() - before}


def figures(results, name):
    return [result[name] for result in results]


async def ask(port, calls):
    connection = Connection("127.0.0.1", port, ACCOUNT, KEY)
    for call in calls:
        reply = await connection.request(*call)
        if reply.status not in (200, 201, 204, 409):
            raise RuntimeError(f"{call[:3]}: {reply.status} {reply.code}")
    connection.close()


def requests(port, *calls):
    asyncio.run(ask(port, calls))


def create_container(port, name=NAME):
    requests(port, ("PUT", f"/{name}", {"restype": "container"}))


def create_queue(port, name=NAME):
    requests(port, ("PUT", f"/{name}", {}))


def create_share(port, name=NAME):
    requests(port, ("PUT", f"/{name}", {"restype": "share"}))


def create_table(bench, port, name=NAME):
    bench.load(port, 1, *TABLE, "--create", f"/{ACCOUNT}/Tables", "--name", name, "--count", 1)


def put(port, name, content):
    create_container(port)
    requests(port, ("PUT", f"/{NAME}/{name}", {}, {"x-ms-blob-type": "BlockBlob"}, content))


def create_file(name, length):
    return "PUT", f"/{NAME}/{name}", {}, {"x-ms-type": "file", "x-ms-content-length": str(length)}


def put_file(port, name, content):
    headers = {"x-ms-write": "update", "x-ms-range": f"bytes=0-{len(content) - 1}"}
    create_share(port)
    requests(port, create_file(name, len(content)), ("PUT", f"/{NAME}/{name}", {"comp": "range"}, headers, content))


def write_arguments(service, turn, prefix="put"):
    """What the load generator writes to a service, in round `turn`."""
    return {"blob": ["--put", f"{AT}/{prefix}x{turn}", "--size", SMALL],
            "file": ["--range", AT, "--size", SMALL],
            "queue": ["--messages", f"{AT}/messages", "--size", MESSAGE],
            "table": ["--service", "table", "--insert", AT, "--size", ENTITY, "--first", (turn + 1) * 1_000_000]}[service]
