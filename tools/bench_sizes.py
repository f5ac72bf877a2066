"""The sections of ./dev bench that look at growth: the same request among few and among many. What it costs must not follow
what else is there."""

import asyncio
import statistics
import time

from bench_calls import (ENTITY, MESSAGE, PUT_CONNECTIONS, SIGNED, SMALL, TABLE, create_container, create_queue, create_share,
                         create_table, figures, requests, scratch)
from bench_servers import Kyanite
from client import Connection
from harness import ACCOUNT, KEY

PAGE = 5000
CHUNK = 200_000  # The load generator makes all requests of a run before it.
TAKEN = 100  # Messages a round; the shallowest queue must not run dry.
UPSERTS = 100  # in a transaction
RENAMES = 20
SETTLE_S = 60


def path(level):
    """Of the container, queue, table and share with that many things in it."""
    return f"/{ACCOUNT}/n{level}"


def fill(bench, kyanite, level):
    ports, name = kyanite.ports, f"n{level}"
    create_container(ports["blob"], name)
    create_queue(ports["queue"], name)
    create_table(bench, ports["table"], name)
    create_share(ports["file"], name)
    requests(ports["file"], ("PUT", f"/{name}/d", {"restype": "directory"}))
    for first in range(0, level, CHUNK):
        some = ["--first", first, "--count", min(CHUNK, level - first)]
        bench.load(ports["blob"], PUT_CONNECTIONS, *SIGNED, "--put", path(level), "--size", 1, *some, seconds=3600)
        bench.load(ports["file"], PUT_CONNECTIONS, *SIGNED, "--files", f"{path(level)}/d", *some, seconds=3600)
    bench.load(ports["queue"], PUT_CONNECTIONS, *SIGNED, "--messages", f"{path(level)}/messages", "--size", MESSAGE,
               "--count", level, seconds=3600)
    bench.load(ports["table"], 16, *TABLE, "--upsert", path(level), "--size", ENTITY, "--count", level // UPSERTS, seconds=3600)


def settle(kyanite):
    """Waits until what filling has left to do in the background is done."""
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        before = kyanite.cpu_seconds()
        time.sleep(1)
        if kyanite.cpu_seconds() - before < 0.05:
            return


def operations(levels):
    """What, service, the load generator's arguments by level and turn, the level it is compared with, the limit of growth."""
    few, small = levels[0], levels[1]
    return (
        ("Get Blob", "blob", lambda n, _: [*SIGNED, "--get-each", path(n), "--among", n], small, 1.3),
        ("Put Blob 4 KiB", "blob", lambda n, turn: [*SIGNED, "--put", f"{path(n)}/new{turn}", "--size", SMALL], small, 1.3),
        (f"List {PAGE:,} blobs", "blob",
         lambda n, _: [*SIGNED, "--get", f"{path(n)}?restype=container&comp=list&maxresults={PAGE}"], small, 1.3),
        ("Get Entity", "table", lambda n, _: [*TABLE, "--get-each", path(n), "--among", n], small, 1.3),
        ("Query 1,000 entities", "table", lambda n, _: [*TABLE, "--get", f"{path(n)}()"], small, 1.3),
        ("Insert Entity", "table",
         lambda n, turn: [*TABLE, "--insert", path(n), "--size", ENTITY, "--first", (turn + 2) * 1_000_000], small, 1.3),
        ("Get and Delete Message", "queue",
         lambda n, _: [*SIGNED, "--consume", f"{path(n)}/messages", "--count", TAKEN], few, 1.2),
        ("Put Message", "queue", lambda n, _: [*SIGNED, "--messages", f"{path(n)}/messages", "--size", MESSAGE], few, 1.2),
        ("Get File", "file", lambda n, _: [*SIGNED, "--get-each", f"{path(n)}/d", "--among", n], small, 1.3),
        (f"List {PAGE:,} files", "file",
         lambda n, _: [*SIGNED, "--get", f"{path(n)}/d?restype=directory&comp=list&maxresults={PAGE}"], small, 1.3),
    )


def measure(bench, kyanite, levels, what, service, arguments, base, limit, rival):
    """The latency at one connection, level by level in turns, with its rival in each; the first turn is not measured.
    Returns the medians of the rounds among most, and those of the rival."""
    rivals = []
    by_level = {level: [] for level in levels if not what.startswith("List") or level >= PAGE}
    for turn in range(bench.size_rounds + 1):
        for level, results in by_level.items():
            result = bench.load(kyanite.ports[service], 1, *arguments(level, turn), seconds=bench.size_seconds)
            if turn > 0:
                results.append(result)
        if rival and turn > 0:
            rivals.append(rival()["p50_us"])
    medians = {level: figures(results, "p50_us") for level, results in by_level.items()}
    most = levels[-1]
    bench.row(f"{what} among {most:,}, p50", "us", medians[most], medians[base], f"among {base:,}", limit, at_least=False,
              sizes={level: statistics.median(values) for level, values in medians.items()})
    return medians[most], rivals


async def rename_back_and_forth(port, share):
    connection = Connection("127.0.0.1", port, ACCOUNT, KEY)
    names, took = ["d", "e"], []
    for turn in range(RENAMES):
        old, new = names[turn % 2], names[1 - turn % 2]
        began = time.perf_counter()
        reply = await connection.request("PUT", f"/{share}/{new}", {"restype": "directory", "comp": "rename"},
                                         {"x-ms-file-rename-source": connection.url(f"/{share}/{old}")})
        took.append((time.perf_counter() - began) * 1000)
        if reply.status != 200:
            raise RuntimeError(f"rename: {reply.status} {reply.code}")
    connection.close()
    return took


def sizes(bench):
    levels = bench.levels
    with Kyanite(bench.binary) as kyanite, scratch() as directory:
        for level in levels:
            fill(bench, kyanite, level)
        settle(kyanite)
        scan = lambda: bench.program("rocksdb_scan", directory / "scan", levels[-1], PAGE, bench.size_seconds)
        for operation in operations(levels):
            is_scan = operation[0] == f"List {PAGE:,} blobs"
            medians, scans = measure(bench, kyanite, levels, *operation, scan if is_scan else None)
            if is_scan:
                bench.row(f"{operation[0]} among {levels[-1]:,}, p50", "us", medians, scans, "bare scan", 4, at_least=False)
        took = {level: asyncio.run(rename_back_and_forth(kyanite.ports["file"], f"n{level}")) for level in levels}
        bench.row(f"Rename a directory of {levels[-1]:,}, p50", "ms", took[levels[-1]], [], "", 20, at_least=False,
                  sizes={level: statistics.median(values) * 1000 for level, values in took.items()})


def tables(bench):
    with Kyanite(bench.binary) as kyanite:
        port = kyanite.ports["table"]
        create_table(bench, port)
        took = [bench.load(port, 16, *TABLE, "--upsert", f"/{ACCOUNT}/bench", "--size", ENTITY, "--count", 100_000 // UPSERTS,
                           "--first", turn * 1_000_000, seconds=3600)["seconds"] for turn in range(bench.size_rounds)]
        bench.row("100,000 upserts in transactions", "s", took, [], "", 30, at_least=False)
