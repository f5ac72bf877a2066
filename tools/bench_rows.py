"""The sections of ./dev bench that compare rates: each starts what it measures and what it is measured against."""

import contextlib
import os
import time

from bench_calls import (AT, GET_CONNECTIONS, LARGE, MESSAGE, PUT_CONNECTIONS, RANGE_FILE_BYTES, RANGE_FILES,
                         SIGNED, SMALL, TABLE, create_container, create_file, create_queue, create_share, create_table, figures,
                         put, put_file, requests, scratch, timed, write_arguments)
from bench_servers import Azurite, Beanstalkd, Kyanite, Nginx

SERVER_CORE, CLIENT_CORE = 0, 1
FIRST_ENTITY = f"{AT}(PartitionKey='b4',RowKey='b456bcfc34c2cb2c')"  # The load generator's first.
COMMITTER, THREADS = "bare committer", "RocksDB, 64 threads"


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

        for what, service, path, arguments in (("Get Blob 4 KiB", "blob", f"{AT}/small", SIGNED),
                                               ("Get File 4 KiB", "file", f"{AT}/small", SIGNED),
                                               ("Get Entity 4 KiB", "table", FIRST_ENTITY, TABLE)):
            rival, ours = bench.take_turns(
                lambda _: get(nginx, nginx.port, GET_CONNECTIONS, "/small"),
                lambda _: get(kyanite, kyanite.ports[service], GET_CONNECTIONS, path, *arguments))
            bench.rate_row(what, ours, rival, "nginx", 0.8)
        rival, ours = bench.take_turns(
            lambda _: get(nginx, nginx.port, 1, "/large"), lambda _: get(kyanite, kyanite.port, 1, f"{AT}/large", *SIGNED))
        bench.row("Get Blob 64 MiB per CPU second", "GiB/s", gib_per_cpu(ours), gib_per_cpu(rival), "nginx", 0.9,
                  costs=(ours, rival))


def gib_per_cpu(results):
    return [result["count"] * LARGE / 2**30 / result["cpu_s"] for result in results]


def writes(bench):
    """Durable, on all cores, which the clients share."""
    with Kyanite(bench.binary) as kyanite, scratch() as directory:
        create_container(kyanite.port)
        create_queue(kyanite.ports["queue"])
        create_table(bench, kyanite.ports["table"])
        create_share(kyanite.ports["file"])
        requests(kyanite.ports["file"], *(create_file(number, RANGE_FILE_BYTES) for number in range(RANGE_FILES)))

        def write(service, turn, connections=PUT_CONNECTIONS):
            return timed(bench, kyanite, kyanite.ports[service], connections, *SIGNED,
                         *write_arguments(service, turn, f"put{connections}"))

        def consume(turn):
            bench.load(kyanite.ports["queue"], PUT_CONNECTIONS, *SIGNED, *write_arguments("queue", turn))
            return timed(bench, kyanite, kyanite.ports["queue"], PUT_CONNECTIONS, *SIGNED, "--consume", f"{AT}/messages")

        def rival(against):
            database = directory / f"db{time.monotonic_ns()}"
            if against == THREADS:
                return bench.program("rocksdb_writes", database, PUT_CONNECTIONS, SMALL, bench.seconds)
            return bench.program("rocksdb_batches", database, PUT_CONNECTIONS, bench.seconds)

        for what, against, target, ours in (("Put Blob 4 KiB", THREADS, 0.6, lambda turn: write("blob", turn)),
                                            ("Put Range 4 KiB", THREADS, 0.6, lambda turn: write("file", turn)),
                                            ("Put Message", COMMITTER, 0.35, lambda turn: write("queue", turn)),
                                            ("Insert Entity", COMMITTER, 0.35, lambda turn: write("table", turn))):
            floor, results = bench.take_turns(lambda _: rival(against), ours)
            bench.rate_row(what, results, floor, against, target)
        large_writes(bench, kyanite)
        floor, results = bench.take_turns(lambda _: rival(COMMITTER), consume)
        bench.rate_row("Get and Delete Message", results, floor, COMMITTER, 0.35, requests=2)
        floor, results = bench.take_turns(lambda _: bench.program("raw_sync", directory / "raw", bench.seconds),
                                          lambda turn: write("blob", turn, 1))
        bench.row("Put Blob 4 KiB alone, p50", "us", figures(results, "p50_us"), figures(floor, "p50_us"), "raw fdatasync", 3.5,
                  at_least=False, costs=(results, floor))


def large_writes(bench, kyanite):
    """The service has to know the MD5 of a blob that is put as a whole, so no client alone gets more than its rate."""
    def put_large(clients):
        names = f"{AT}/large{time.monotonic_ns()}"
        return timed(bench, kyanite, kyanite.port, clients, *SIGNED, "--put", names, "--size", LARGE)

    for what, clients, target in (("Put Blob 64 MiB", 1, 0.75), ("Put Blob 64 MiB, four clients", 4, 1.2)):
        floor, results = bench.take_turns(lambda _: bench.program("md5_rate", bench.seconds), lambda _: put_large(clients))
        bench.row(what, "MiB/s", [result["rate"] * LARGE / 2**20 for result in results],
                  [result["rate"] * LARGE / 2**20 for result in floor], "MD5", target, costs=(results, floor))


def start_azurite(bench, running):
    """None where it is not installed, or lacks something that it needs to start: that is said, and its rows are left out."""
    if not bench.azurite.exists():
        print("-- Azurite is not installed: the comparison with it is left out")
        return None
    try:
        return running.enter_context(Azurite(bench.azurite))
    except RuntimeError as error:
        print(f"-- Azurite does not start ({error}): the comparison with it is left out")
        return None


def peers(bench):
    """Side by side, for comparison: Azurite and, for queues, beanstalkd. All acknowledge writes; only beanstalkd and
    Kyanite sync them before."""
    with contextlib.ExitStack() as running:
        kyanite, beanstalkd = running.enter_context(Kyanite(bench.binary)), running.enter_context(Beanstalkd())
        azurite = start_azurite(bench, running)
        for server in (kyanite, azurite) if azurite else (kyanite,):
            put(server.port, "small", os.urandom(SMALL))
            create_queue(server.ports["queue"])
            create_table(bench, server.ports["table"])

        def ours(server, service, arguments):
            return lambda turn: timed(bench, server, server.ports[service], PUT_CONNECTIONS, *SIGNED, *arguments(turn))

        get, take = (lambda _: ["--get", f"{AT}/small"]), (lambda _: ["--consume", f"{AT}/messages"])
        write = {service: lambda turn, service=service: write_arguments(service, turn) for service in ("blob", "queue", "table")}
        for what, service, arguments, count in (
                ("Get Blob 4 KiB", "blob", get, 1), ("Put Blob 4 KiB", "blob", write["blob"], 1),
                ("Put Message", "queue", write["queue"], 1), ("Get and Delete Message", "queue", take, 2),
                ("Insert Entity", "table", write["table"], 1)) if azurite else ():
            rival, results = bench.take_turns(*(ours(server, service, arguments) for server in (azurite, kyanite)))
            bench.rate_row(what, results, rival, "Azurite", requests=count, rival_requests=count)

        def job(*arguments):
            before = beanstalkd.cpu_seconds()
            result = bench.program("beanstalk", beanstalkd.port, PUT_CONNECTIONS, bench.seconds, *arguments)
            return {**result, "cpu_s": beanstalkd.cpu_seconds() - before}

        for what, arguments, own, count in (("Put Message", ["put", MESSAGE], write["queue"], 1),
                                            ("Get and Delete Message", ["take"], take, 2)):
            rival, results = bench.take_turns(lambda _: job(*arguments), ours(kyanite, "queue", own))
            bench.rate_row(what, results, rival, "beanstalkd", requests=count, rival_requests=count)
