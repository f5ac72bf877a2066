"""The rows of ./dev bench, by section. Each section starts what it measures and what it is measured against."""

import asyncio
import contextlib
import os
import pathlib
import statistics
import tempfile
import time

from bench_servers import Azurite, Beanstalkd, Kyanite, Nginx
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
SERVER_CORE, CLIENT_CORE = 0, 1
GET_CONNECTIONS = 32
PUT_CONNECTIONS = 64
PAGE = 5000


# What results say.

def rates(results):
    return [result["rate"] for result in results]


def medians(results):
    return [result["p50_us"] for result in results]


def median(results, name):
    return statistics.median(result[name] for result in results)


def cpu_us(results):
    return statistics.median(result["cpu_s"] * 1e6 / result["count"] for result in results)


def gib_per_cpu(results):
    return [result["count"] * LARGE / 2**30 / result["cpu_s"] for result in results]


def tails(results):
    return f"CPU {cpu_us(results):.1f} us/req; p50 {median(results, 'p50_us'):.0f} us, p99 {median(results, 'p99_us'):.0f} us"


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="kyanite-bench-") as directory:
        yield pathlib.Path(directory)


def timed(bench, server, port, connections, *arguments, **options):
    """One run of the load generator, with the CPU time that the server took for it."""
    before = server.cpu_seconds()
    result = bench.load(port, connections, *arguments, **options)
    result["cpu_s"] = server.cpu_seconds() - before
    return result


# What has to be there before it is measured.

async def ask(port, calls):
    connection = Connection("127.0.0.1", port, ACCOUNT, KEY)
    for call in calls:
        reply = await connection.request(*call)
        if reply.status not in (201, 204, 409):
            raise RuntimeError(f"{call[:3]}: {reply.status} {reply.code}")
    connection.close()


def requests(port, *calls):
    asyncio.run(ask(port, calls))


def create_container(port):
    requests(port, ("PUT", f"/{NAME}", {"restype": "container"}))


def create_queue(port, name=NAME):
    requests(port, ("PUT", f"/{name}", {}))


def create_table(bench, port):
    bench.load(port, 1, *TABLE, "--create", f"/{ACCOUNT}/Tables", "--count", 1)


def put(port, name, content):
    create_container(port)
    requests(port, ("PUT", f"/{NAME}/{name}", {}, {"x-ms-blob-type": "BlockBlob"}, content))


def create_file(name, length):
    return "PUT", f"/{NAME}/{name}", {}, {"x-ms-type": "file", "x-ms-content-length": str(length)}


def put_file(port, name, content):
    headers = {"x-ms-write": "update", "x-ms-range": f"bytes=0-{len(content) - 1}"}
    requests(port, ("PUT", f"/{NAME}", {"restype": "share"}), create_file(name, len(content)),
             ("PUT", f"/{NAME}/{name}", {"comp": "range"}, headers, content))


# The sections.

def start(bench):
    starts, sizes = [], []
    for _ in range(bench.rounds):
        with Kyanite(bench.binary) as kyanite:
            starts.append(kyanite.start_s * 1000)
            time.sleep(0.5)  # Idle means that what starts in the background has started.
            sizes.append(kyanite.resident_mib())
    bench.row("Start on an empty location", "ms", starts, [], "", 200, at_least=False)
    bench.row("Memory when idle", "MiB", sizes, [], "", 60, at_least=False)


def reads(bench):
    """On one core each, the clients on another."""
    files = {"small": os.urandom(SMALL), "large": os.urandom(LARGE)}
    with Nginx(files, SERVER_CORE) as nginx, Kyanite(bench.binary, SERVER_CORE, ["--threads", "1"]) as kyanite:
        for name, content in files.items():
            put(kyanite.port, name, content)
        put_file(kyanite.ports["file"], "small", files["small"])
        create_table(bench, kyanite.ports["table"])
        bench.load(kyanite.ports["table"], 1, *TABLE, "--insert", AT, "--size", SMALL, "--count", 1)

        def get(server, port, connections, path, *arguments):
            return timed(bench, server, port, connections, *arguments, "--get", path, core=CLIENT_CORE)

        def against_nginx(what, port, path, *arguments):
            rival, ours = bench.take_turns(
                lambda _: get(nginx, nginx.port, GET_CONNECTIONS, "/small"),
                lambda _: get(kyanite, port, GET_CONNECTIONS, path, *arguments))
            bench.row(what, "req/s", rates(ours), rates(rival), "nginx", 0.8,
                      notes=f"CPU {cpu_us(ours):.1f} us/req, nginx {cpu_us(rival):.1f}; p99 {median(ours, 'p99_us'):.0f} us")

        against_nginx("Get Blob 4 KiB, 32 connections", kyanite.port, f"{AT}/small", *SIGNED)
        against_nginx("Get File 4 KiB, 32 connections", kyanite.ports["file"], f"{AT}/small", *SIGNED)
        # The name of the load generator's first entity.
        against_nginx("Get Entity 4 KiB, 32 connections", kyanite.ports["table"],
                      f"{AT}(PartitionKey='b4',RowKey='b456bcfc34c2cb2c')", *TABLE)
        rival, ours = bench.take_turns(
            lambda _: get(nginx, nginx.port, 1, "/large"),
            lambda _: get(kyanite, kyanite.port, 1, f"{AT}/large", *SIGNED))
        bench.row("Get Blob 64 MiB, per CPU second", "GiB/s", gib_per_cpu(ours), gib_per_cpu(rival), "nginx", 0.9,
                  notes=f"wall {median(ours, 'rate') / 16:.2f} GiB/s, nginx {median(rival, 'rate') / 16:.2f}")


def writes(bench):
    """Durable, on all cores, which the clients share."""
    with Kyanite(bench.binary) as kyanite, scratch() as directory:
        create_container(kyanite.port)
        create_queue(kyanite.ports["queue"])
        create_table(bench, kyanite.ports["table"])
        requests(kyanite.ports["file"], ("PUT", f"/{NAME}", {"restype": "share"}),
                 *(create_file(number, RANGE_FILE_BYTES) for number in range(RANGE_FILES)))
        kinds = {"blob": lambda turn, n: ["--put", f"{AT}/put{n}x{turn}", "--size", SMALL],
                 "file": lambda turn, n: ["--range", AT, "--size", SMALL],
                 "queue": lambda turn, n: ["--messages", f"{AT}/messages", "--size", MESSAGE],
                 "table": lambda turn, n: ["--service", "table", "--insert", AT, "--size", ENTITY,
                                           "--first", (turn + 1) * 1_000_000]}

        def write(service, turn, connections=PUT_CONNECTIONS):
            return timed(bench, kyanite, kyanite.ports[service], connections, *SIGNED, *kinds[service](turn, connections))

        def threads(turn):
            return bench.program("rocksdb_writes", directory / f"db{time.monotonic_ns()}", PUT_CONNECTIONS, SMALL, bench.seconds)

        def committer(turn):
            return bench.program("rocksdb_batches", directory / f"db{time.monotonic_ns()}", PUT_CONNECTIONS, bench.seconds)

        for what, service, rival, against, target in (
                ("Put Blob 4 KiB, 64 connections", "blob", threads, "RocksDB, 64 threads", 0.6),
                ("Put Range 4 KiB, 64 connections", "file", threads, "RocksDB, 64 threads", 0.6),
                ("Put Message, 64 connections", "queue", committer, "bare committer", 0.35),
                ("Insert Entity, 64 connections", "table", committer, "bare committer", 0.35)):
            floor, ours = bench.take_turns(rival, lambda turn: write(service, turn))
            bench.row(what, "req/s", rates(ours), rates(floor), against, target, notes=tails(ours))

        def consume(turn):
            bench.load(kyanite.ports["queue"], PUT_CONNECTIONS, *SIGNED, *kinds["queue"](turn, 0))
            return timed(bench, kyanite, kyanite.ports["queue"], PUT_CONNECTIONS, *SIGNED, "--consume", f"{AT}/messages")

        floor, ours = bench.take_turns(committer, consume)
        bench.row("Get and Delete Message, 64 connections", "req/s", [2 * rate for rate in rates(ours)], rates(floor),
                  "bare committer", 0.35, notes="two requests a message; " + tails(ours))

        floor, ours = bench.take_turns(lambda _: bench.program("raw_sync", directory / "raw", bench.seconds),
                                       lambda turn: write("blob", turn, 1))
        bench.row("Put Blob 4 KiB, 1 connection, p50", "us", medians(ours), medians(floor), "raw fdatasync", 3.5, at_least=False)


def sizes(bench):
    """The same request among few and among many: what it costs must not follow what else is there."""
    few, many = 10_000, 100_000 if bench.quick else 1_000_000
    with Kyanite(bench.binary) as kyanite, scratch() as directory:
        create_table(bench, kyanite.ports["table"])
        containers = {few: "few", many: "many"}
        for count, name in containers.items():
            requests(kyanite.port, ("PUT", f"/{name}", {"restype": "container"}))
            bench.load(kyanite.port, PUT_CONNECTIONS, *SIGNED, "--put", f"/{ACCOUNT}/{name}", "--size", 1, "--count", count,
                       seconds=3600 if count == many else 600)
            create_queue(kyanite.ports["queue"], name)
            depth = count if count == many else 1000
            bench.load(kyanite.ports["queue"], PUT_CONNECTIONS, *SIGNED, "--messages", f"/{ACCOUNT}/{name}/messages",
                       "--size", MESSAGE, "--count", depth, seconds=3600)

        def grown(what, port, path, target, *arguments):
            smaller, larger = bench.take_turns(
                lambda _: bench.load(port, 1, *arguments, "--get", path("few")),
                lambda _: bench.load(port, 1, *arguments, "--get", path("many")))
            bench.row(what, "us", medians(larger), medians(smaller), f"among {few:,}", target, at_least=False)
            return larger

        listed = grown(f"List {PAGE:,} blobs among {many:,}, p50", kyanite.port,
                       lambda name: f"/{ACCOUNT}/{name}?restype=container&comp=list&maxresults={PAGE}", 1.3, *SIGNED)
        scans = [bench.program("rocksdb_scan", directory / "scan", many, PAGE, bench.seconds)] * len(listed)
        bench.row(f"List {PAGE:,} blobs among {many:,}, p50", "us", medians(listed), medians(scans), "bare scan", 4, at_least=False)

        def consume(name):
            return bench.load(kyanite.ports["queue"], 1, *SIGNED, "--consume", f"/{ACCOUNT}/{name}/messages", "--count", 200)
        shallow, deep = [consume("few")], [consume("many")]
        for _ in range(min(3, bench.rounds)):
            shallow.append(consume("few")), deep.append(consume("many"))
        bench.row(f"Get and Delete Message at {many:,}, p50", "us", medians(deep[1:]), medians(shallow[1:]), "at 1,000", 1.2,
                  at_least=False)


def tables(bench):
    few, many = 10_000, 100_000 if bench.quick else 1_000_000
    with Kyanite(bench.binary) as kyanite:
        port = kyanite.ports["table"]
        for name in ("few", "many"):
            bench.load(port, 1, *TABLE, "--create", f"/{ACCOUNT}/Tables", "--name", name, "--count", 1)

        def fill(name, count):
            return bench.load(port, 16, *TABLE, "--upsert", f"/{ACCOUNT}/{name}", "--size", ENTITY, "--count", count // 100,
                              seconds=3600)
        fill("few", few)
        took = fill("many", many)["seconds"] * 100_000 / many
        bench.row("100,000 upserts in transactions", "s", [took], [], "", 30, at_least=False)
        smaller, larger = bench.take_turns(
            lambda _: bench.load(port, 1, *TABLE, "--get", f"/{ACCOUNT}/few()"),
            lambda _: bench.load(port, 1, *TABLE, "--get", f"/{ACCOUNT}/many()"))
        bench.row(f"Query 1,000 entities of {many:,}, p50", "us", medians(larger), medians(smaller), f"of {few:,}", 1.3,
                  at_least=False)


def peers(bench):
    """Side by side, for comparison: Azurite and, for queues, beanstalkd. All acknowledge writes; only beanstalkd and
    Kyanite sync them before."""
    with Kyanite(bench.binary) as kyanite, Azurite(bench.azurite) as azurite, Beanstalkd() as beanstalkd:
        for server in (kyanite, azurite):
            put(server.port, "small", os.urandom(SMALL))
            create_queue(server.ports["queue"])
            create_table(bench, server.ports["table"])
        for what, service, arguments in (
                ("Get Blob 4 KiB", "blob", lambda _: ["--get", f"{AT}/small"]),
                ("Put Blob 4 KiB", "blob", lambda turn: ["--put", f"{AT}/{turn}", "--size", SMALL]),
                ("Put Message", "queue", lambda _: ["--messages", f"{AT}/messages", "--size", MESSAGE]),
                ("Get and Delete Message", "queue", lambda _: ["--consume", f"{AT}/messages"]),
                ("Insert Entity", "table",
                 lambda turn: ["--service", "table", "--insert", AT, "--size", ENTITY, "--first", (turn + 1) * 1_000_000])):
            rival, ours = bench.take_turns(*(
                lambda turn, server=server: bench.load(server.ports[service], PUT_CONNECTIONS, *SIGNED, *arguments(turn))
                for server in (azurite, kyanite)))
            bench.row(f"{what}, 64 connections", "req/s", rates(ours), rates(rival), "Azurite")
        jobs = ["put", MESSAGE], ["take"]
        for what, job, arguments in (("Put Message", jobs[0], ["--messages", f"{AT}/messages", "--size", MESSAGE]),
                                     ("Get and Delete Message", jobs[1], ["--consume", f"{AT}/messages"])):
            rival, ours = bench.take_turns(
                lambda _: bench.program("beanstalk", beanstalkd.port, PUT_CONNECTIONS, bench.seconds, *job),
                lambda _: bench.load(kyanite.ports["queue"], PUT_CONNECTIONS, *SIGNED, *arguments))
            bench.row(f"{what}, 64 connections", "req/s", rates(ours), rates(rival), "beanstalkd")


SECTIONS = {"start": start, "reads": reads, "writes": writes, "sizes": sizes, "tables": tables, "peers": peers}
