"""Kills the server with -9 at random moments under load, starts it again, and checks that it kept every promise.

A promise is a reply: each acknowledged write must be there, byte for byte and with its ETag; a write whose reply never came
must have happened wholly or not at all. The seed decides who does what, in which order, and after how many replies the kill
comes; the interleaving of the clients and the exact instant of the kill are the machine's.
"""

import argparse
import asyncio
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "py"))

import harness
import files
import sabotage
from client import Connection, Disconnected
from containers import ContainerClient
from model import Blob
from queues import QueueClient
from shared import Counter, Log
from tables import TableClient
from verify import verify
from workload import CONTAINER, KINDS, Client, Wrong

CLIENTS = 32
BLOBS_EACH = 6
CONTAINER_CLIENTS = 4
TABLE_CLIENTS = 6
QUEUE_CLIENTS = 6
FILE_CLIENTS = 8
SHUFFLERS = 4
COUNTER_CLIENTS = 64
COUNTER_S = 3
SLOWEST_KILL_S = 20  # Replies may come slowly on a loaded machine; the kill does not wait for ever.


class Report:
    def __init__(self):
        self.acknowledged = 0
        self.refused = 0
        self.in_flight = 0
        self.starts_s = []
        self.cycles = 0


class Run:
    """One location and the model of what is in it."""

    def __init__(self, seed, location):
        self.seed, self.location = seed, location
        self.random = random.Random(seed)
        self.report = Report()
        self.owned = [[Blob(f"client{c:02}-{KINDS[b % len(KINDS)]}-{b}", KINDS[b % len(KINDS)]) for b in range(BLOBS_EACH)]
                      for c in range(CLIENTS)]
        self.counter, self.log = Counter(), Log()
        self.containers = [ContainerClient(number, self.report) for number in range(CONTAINER_CLIENTS)]
        self.tables = [TableClient(number, self.report) for number in range(TABLE_CLIENTS)]
        self.queues = [QueueClient(number, self.report) for number in range(QUEUE_CLIENTS)]
        self.files = [files.FileClient(number, self.report) for number in range(FILE_CLIENTS)]
        self.shuffle = files.Shuffle(self.report)
        self.server = None

    @property
    def blobs(self):
        return [blob for owned in self.owned for blob in owned]

    def start(self):
        began = time.monotonic()
        self.server = harness.Server("--setting", "blobImmutability=true", location=self.location)
        self.report.starts_s.append(time.monotonic() - began)

    def connect(self, service="Blob"):
        where = urllib.parse.urlsplit(self.server.url(service))
        return Connection(where.hostname, where.port, harness.ACCOUNT, harness.KEY, table=service == "Table")

    async def prepare(self):
        connection = self.connect()
        reply = await connection.request("PUT", f"/{CONTAINER}", {"restype": "container"},
                                         {"x-ms-blob-public-access": "blob"})
        if reply.status != 201:
            raise Wrong(f"creating the container: {reply.status} {reply.code}")
        await self.counter.create(connection)
        await self.log.create(connection)
        await TableClient.create(self.connect("Table"))
        connection = self.connect("Queue")
        for queue in self.queues:
            await queue.create(connection)
        connection = self.connect("File")
        await files.create_share(connection)
        for client in [*self.files, self.shuffle]:
            await client.create(connection)

    async def load_and_kill(self):
        """All clients at once, until the server is killed in their midst."""
        replies = self.random.randrange(1, 1500)
        jitter_s = self.random.random() * 0.01
        until = self.report.acknowledged + replies
        problems = []

        async def guarded(task):
            try:
                await task
            except Disconnected:
                pass
            except Wrong as error:
                problems.append(str(error))

        clients = []
        for number, owned in enumerate(self.owned):
            clients.append(Client(self.connect(), owned, self.seeded("blob", number), self.report).run())
        for service, members in self.members():
            for number, client in enumerate(members):
                clients.append(client.run(self.connect(service), self.seeded(service, number)))
        for number in range(SHUFFLERS):
            clients.append(self.shuffle.run(self.connect("File"), self.seeded("shuffle", number)))
        for _ in range(4):
            clients += [self._repeat(self.counter.increment), self._repeat(self.log.append)]
        tasks = [asyncio.create_task(guarded(client)) for client in clients]
        deadline = time.monotonic() + SLOWEST_KILL_S
        while self.report.acknowledged < until and time.monotonic() < deadline and not problems:
            await asyncio.sleep(0.001)
        await asyncio.sleep(jitter_s)
        self.server.kill()
        await asyncio.gather(*tasks)
        self.report.in_flight += sum(blob.pending is not None for blob in self.blobs)
        return problems

    def members(self):
        """Clients that own one thing each and check it themselves."""
        return ("Blob", self.containers), ("Table", self.tables), ("Queue", self.queues), ("File", self.files)

    def seeded(self, *what):
        return random.Random(f"{self.seed}/{self.report.cycles}/{what}")

    async def _repeat(self, operation):
        connection = self.connect()
        while True:
            await operation(connection)

    async def cycle(self):
        """One kill and what is wrong after it."""
        problems = await self.load_and_kill()
        self.report.cycles += 1
        if self.random.random() < 0.2:
            await self.kill_while_starting()
        self.start()
        problems += await self.verify()
        if self.log.full:
            await self.log.renew(self.connect())
        return problems

    async def verify(self):
        problems = await verify(self.connect, self.blobs, [self.counter, self.log])
        checks = [(service, client.check) for service, members in self.members() for client in members]
        checks += [("File", self.shuffle.check), ("File", files.check_share)]
        connections = {service: self.connect(service) for service, _ in self.members()}
        for service, check in checks:
            try:
                complaint = await check(connections[service])
            except (Wrong, Disconnected) as error:
                complaint = str(error)
            problems += [complaint] if complaint else []
        for connection in connections.values():
            connection.close()
        return problems

    async def kill_while_starting(self):
        process = subprocess.Popen([harness.BINARY, *harness.FREE_PORTS, "--location", self.location],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await asyncio.sleep(self.random.random() * 0.1)
        process.kill()
        process.wait()

    async def count_together(self):
        """Many clients at one counter, no kill: every success counts once."""
        until = time.monotonic() + COUNTER_S

        async def work():
            connection = self.connect()
            while time.monotonic() < until:
                await self.counter.increment(connection)
            connection.close()

        conflicts = self.counter.conflicts
        await asyncio.gather(*(work() for _ in range(COUNTER_CLIENTS)))
        conflicts = self.counter.conflicts - conflicts
        print(f"   {COUNTER_CLIENTS} clients counted to {self.counter.acknowledged}, {conflicts} tries refused", flush=True)
        complaint = await self.counter.check(self.connect())
        return [complaint] if complaint else []


async def torture(run, cycles, seconds):
    run.start()
    await run.prepare()
    problems = await run.count_together()
    began = time.monotonic()
    while not problems and run.report.cycles < cycles and time.monotonic() - began < seconds:
        problems = await run.cycle()
        if run.report.cycles % 10 == 0:
            print(f"   cycle {run.report.cycles}: {run.report.acknowledged} writes acknowledged", flush=True)
    return problems


def summary(report, seconds):
    starts = sorted(report.starts_s[1:]) or [0]
    return {
        "cycles": report.cycles,
        "seconds": round(seconds, 1),
        "acknowledged": report.acknowledged,
        "rightly_refused": report.refused,
        "without_reply": report.in_flight,
        "restart_s": {"median": round(statistics.median(starts), 3), "slowest": round(starts[-1], 3)},
    }


async def main():
    parser = argparse.ArgumentParser(prog="./dev torture", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cycles", type=int, default=200, help="kills (default 200)")
    parser.add_argument("--seconds", type=float, default=600, help="begin no cycle after so many seconds (default 600)")
    parser.add_argument("--seed", type=int, default=None, help="as printed by an earlier run")
    parser.add_argument("--self-test", action="store_true", help="damage the data on purpose and see that it is noticed")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"-- torture, seed {seed}", flush=True)

    location = tempfile.mkdtemp(prefix="kyanite-torture-")
    run = Run(seed, location)
    began = time.monotonic()
    try:
        if arguments.self_test:
            problems = await sabotage.self_test(run)
        else:
            problems = await torture(run, arguments.cycles, arguments.seconds)
    except (Wrong, Disconnected, RuntimeError) as error:
        problems = [str(error)]
    if run.server is not None and run.server.process.poll() is None:
        run.server.stop()
    figures = summary(run.report, time.monotonic() - began)
    print(f"   {figures}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"seed": seed, "failures": problems, **figures}, indent=2) + "\n")
    for problem in problems:
        print(f"FAILED {problem}")
    if problems:
        print(f"The data is left in {location}; --seed {seed} repeats the choices of this run.")
        return 1
    shutil.rmtree(location)
    print("all damage was noticed" if arguments.self_test else "every promise was kept")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
