"""The section of ./dev bench that looks at Data Lake: an account with directories beside one without, in the same server."""

import asyncio
import json
import os
import statistics
import time

from bench_calls import GET_CONNECTIONS, KEY, NAME, PUT_CONNECTIONS, SMALL, figures, scratch, timed
from bench_servers import Kyanite
from client import Connection
from harness import ACCOUNT

LAKE = "lakeaccount"
SIGNED = {account: ["--account", account, "--key", KEY] for account in (ACCOUNT, LAKE)}
FEW, PAGE, CHUNK = 10, 5000, 200_000
RENAMES = 30
DEEP = "/".join(f"d{level}" for level in range(19))
SERVER_CORE, CLIENT_CORE = 0, 1


def configuration(directory):
    """A file with both accounts."""
    path = directory / "config.json"
    settings = {ACCOUNT: {}, LAKE: {"hierarchicalNamespace": True}}
    path.write_text(json.dumps({"accounts": [{"name": name, "keys": [KEY], "settings": each} for name, each in settings.items()]}))
    return ["--config", str(path)]


async def ask(port, account, calls):
    connection = Connection("127.0.0.1", port, account, KEY)
    for call in calls:
        reply = await connection.request(*call)
        if reply.status not in (200, 201):
            raise RuntimeError(f"{call[:3]}: {reply.status} {reply.code}")
    connection.close()


def at(account, path=""):
    return f"/{account}/{NAME}{path and '/' + path}"


def prepare(port):
    content = os.urandom(SMALL)
    for account in SIGNED:
        paths = ("small", f"{DEEP}/small") if account == LAKE else ("small",)
        puts = [("PUT", f"/{NAME}/{path}", {}, {"x-ms-blob-type": "BlockBlob"}, content) for path in paths]
        asyncio.run(ask(port, account, [("PUT", f"/{NAME}", {"restype": "container"}), *puts]))


def reads(bench, flags):
    """On one core, the clients on another: the same object with directories above it, without, and at the end of a deep path."""
    with Kyanite(bench.binary, SERVER_CORE, ["--threads", "1", *flags]) as kyanite:
        prepare(kyanite.port)

        def get(account, kind, path):
            return timed(bench, kyanite, kyanite.port, GET_CONNECTIONS, *SIGNED[account], kind, at(account, path), core=CLIENT_CORE)

        for what, kind, path, rival, against, limit in (
                ("Read 4 KiB", "--get", "small", (ACCOUNT, "small"), "flat blob", 1.15),
                ("Get Properties", "--head", "small", (ACCOUNT, "small"), "flat blob", 1.15),
                ("Read 4 KiB, depth 20", "--get", f"{DEEP}/small", (LAKE, "small"), "depth 1", 1.5),
                ("Get Properties, depth 20", "--head", f"{DEEP}/small", (LAKE, "small"), "depth 1", 1.5)):
            floor, ours = bench.take_turns(lambda _: get(rival[0], kind, rival[1]), lambda _: get(LAKE, kind, path))
            bench.row(what, "us", [1e6 / result["rate"] for result in ours], [1e6 / result["rate"] for result in floor], against, limit,
                      at_least=False, costs=(ours, floor))


def uploads(bench, flags):
    """Durable, on all cores, which the clients share. Three requests make one file."""
    with Kyanite(bench.binary, flags=flags) as kyanite:
        prepare(kyanite.port)

        def write(account, kind, turn):
            return timed(bench, kyanite, kyanite.port, PUT_CONNECTIONS, *SIGNED[account], kind, at(account, f"{kind[2:]}x{turn}"),
                         "--size", SMALL)

        floor, ours = bench.take_turns(lambda turn: write(ACCOUNT, "--put", turn), lambda turn: write(LAKE, "--uploads", turn))
        bench.rate_row("Create, append and flush 4 KiB", ours, floor, "Put Blob", 0.4)


async def rename_back_and_forth(port, directory):
    connection = Connection("127.0.0.1", port, LAKE, KEY)
    names, took = [directory, f"{directory}-too"], []
    for turn in range(RENAMES):
        old, new = names[turn % 2], names[1 - turn % 2]
        began = time.perf_counter()
        reply = await connection.request("PUT", f"/{NAME}/{new}", {"mode": "legacy"}, {"x-ms-rename-source": f"/{NAME}/{old}"})
        took.append((time.perf_counter() - began) * 1000)
        if reply.status != 201:
            raise RuntimeError(f"rename: {reply.status} {reply.code}")
    connection.close()
    return took


def growth(bench, flags):
    """A directory with many files: renamed beside one with few, and listed beside as many blobs."""
    most = bench.levels[-1]
    with Kyanite(bench.binary, flags=flags) as kyanite:
        prepare(kyanite.port)
        for account, path, count in ((LAKE, "few", FEW), (LAKE, "many", most), (ACCOUNT, "many", most)):
            for first in range(0, count, CHUNK):
                bench.load(kyanite.port, PUT_CONNECTIONS, *SIGNED[account], "--put", at(account, path), "--size", 1, "--first", first,
                           "--count", min(CHUNK, count - first), seconds=3600)

        def page(account):
            query = f"restype=container&comp=list&maxresults={PAGE}&prefix=many%2F"
            return bench.load(kyanite.port, 1, *SIGNED[account], "--get", f"{at(account)}?{query}", seconds=bench.size_seconds)

        floor, ours = bench.take_turns(lambda _: page(ACCOUNT), lambda _: page(LAKE))
        bench.row(f"List {PAGE:,} of {most:,}, p50", "us", figures(ours, "p50_us"), figures(floor, "p50_us"), "flat list", 1.3,
                  at_least=False)
        took = [(statistics.median(asyncio.run(rename_back_and_forth(kyanite.port, "few"))),
                 statistics.median(asyncio.run(rename_back_and_forth(kyanite.port, "many")))) for _ in range(bench.rounds)]
        bench.row(f"Rename a directory of {most:,}, p50", "ms", [many for _, many in took], [few for few, _ in took], f"of {FEW}", 3,
                  at_least=False)


def lake(bench):
    with scratch() as directory:
        flags = configuration(directory)
        reads(bench, flags)
        uploads(bench, flags)
        growth(bench, flags)
