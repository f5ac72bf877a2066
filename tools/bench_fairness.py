"""The section of ./dev bench that looks at neighbours: what one client gets done with small requests beside others that ask for
all they can. The denominator is the same client alone, in turns with it.

The others run at a low priority, because elsewhere they would be other machines. What they make the server do does not."""

import asyncio
import contextlib
import os
import subprocess
import threading
import urllib.parse

from bench_calls import (AT, ENTITY, NAME, SIGNED, SMALL, TABLE, create_container, create_table, put, requests, timed)
from bench_servers import Kyanite
from client import Connection, Disconnected
from harness import ACCOUNT, KEY

CLIENTS = 16
CLAUSES = 1000
UPSERTS = 100  # in a transaction
TAGGED = 2000
STALLED = 300
STALLED_BYTES = 4 * 1024 * 1024
PUT_BYTES = 20 * 1024  # Beyond what is stored within a record.
NAMES = 8
HALF = 0.5


@contextlib.contextmanager
def asking(bench, port, *arguments):
    """Load generators of the low priority that repeat one request."""
    command = ["nice", "-n", "19", str(bench.programs / "load"), "--port", port, "--connections", CLIENTS, "--seconds", 3600,
               *arguments]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        try:
            yield
            if process.poll() is not None:
                raise RuntimeError(f"{command} ended with {process.returncode}")
        finally:
            process.kill()


@contextlib.contextmanager
def meanwhile(*coroutines):
    """Coroutines that run on a thread of their own until this is over."""
    loop = asyncio.new_event_loop()

    async def together():
        await asyncio.gather(*coroutines)

    def run():
        asyncio.set_event_loop(loop)
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()
    task = loop.create_task(together())
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


async def stall(port):
    """Sends half of a body that the server must have as a whole, and then a byte a second."""
    signer = Connection("127.0.0.1", port, ACCOUNT, KEY)
    body = bytes(STALLED_BYTES)
    while True:
        head = signer.head("POST", "", {"comp": "batch"}, {"content-type": "multipart/mixed; boundary=b"}, body)
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(head + body[:STALLED_BYTES // 2])
                while not writer.is_closing():
                    await writer.drain()
                    await asyncio.sleep(1)
                    writer.write(b"x")
            finally:
                writer.transport.abort()
        await asyncio.sleep(1)


async def ask_for_names(port, number):
    """Copies from servers whose names nobody answers for: how long that takes is up to the machine's resolver."""
    connection = Connection("127.0.0.1", port, ACCOUNT, KEY)
    while True:
        source = f"http://unanswered{number}.invalid/source"
        with contextlib.suppress(Disconnected):
            await connection.request("PUT", f"/{NAME}/named", {"comp": "block", "blockid": "AAAA"}, {"x-ms-copy-source": source})
        await asyncio.sleep(0.01)


def put_tagged(port):
    headers = {"x-ms-blob-type": "BlockBlob", "x-ms-tags": "kind=found"}
    requests(port, *(("PUT", f"/{NAME}/tagged{number}", {}, headers) for number in range(TAGGED)))


def burdens(bench, kyanite):
    """What the others do, by name."""
    ports = kyanite.ports
    quoted = urllib.parse.quote
    clauses = quoted(" or ".join(["count eq 8"] * CLAUSES))
    found = quoted("\"kind\"='found'")
    return {
        f"{CLIENTS} scans of a table": lambda: asking(bench, ports["table"], *TABLE, "--get",
                                                      f"{AT}()?$filter={quoted('count eq 8')}"),
        f"{CLIENTS} filters of {CLAUSES:,} clauses": lambda: asking(bench, ports["table"], *TABLE, "--get",
                                                                    f"{AT}()?$filter={clauses}"),
        f"{CLIENTS} lists of 5,000 blobs": lambda: asking(bench, ports["blob"], *SIGNED, "--get",
                                                          f"/{ACCOUNT}/many?restype=container&comp=list"),
        f"{CLIENTS} finds by tag": lambda: asking(bench, ports["blob"], *SIGNED, "--get",
                                                  f"/{ACCOUNT}/?comp=blobs&where={found}"),
        f"{STALLED} stalled bodies": lambda: meanwhile(*(stall(ports["blob"]) for _ in range(STALLED))),
        f"{NAMES} unanswered names": lambda: meanwhile(*(ask_for_names(ports["blob"], n) for n in range(NAMES))),
    }


def fill(bench, kyanite):
    ports = kyanite.ports
    put(ports["blob"], "small", os.urandom(SMALL))
    put_tagged(ports["blob"])
    create_container(ports["blob"], "many")
    bench.load(ports["blob"], 64, *SIGNED, "--put", f"/{ACCOUNT}/many", "--size", 1, "--count", 6000, seconds=3600)
    create_table(bench, ports["table"])
    bench.load(ports["table"], 16, *TABLE, "--upsert", AT, "--size", ENTITY, "--count", bench.levels[-1] // UPSERTS, seconds=3600)


def fairness(bench):
    with Kyanite(bench.binary) as kyanite:
        fill(bench, kyanite)
        turns = iter(range(1_000_000))

        def work(what):
            arguments = {"Get Blob 4 KiB": ["--get", f"{AT}/small"],
                         "Put Blob 20 KiB": ["--put", f"{AT}/fair{next(turns)}", "--size", PUT_BYTES]}[what]
            return timed(bench, kyanite, kyanite.port, 1, *SIGNED, *arguments)

        for burden, begin in burdens(bench, kyanite).items():
            for what in ("Get Blob 4 KiB", "Put Blob 20 KiB"):
                def beside(_):
                    with begin():
                        return work(what)
                alone, with_others = bench.take_turns(lambda _: work(what), beside)
                bench.rate_row(f"{what} beside {burden}", with_others, alone, "alone", HALF)
