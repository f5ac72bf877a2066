"""One data directory, the server on it, and the model of what is in it."""

import asyncio
import contextlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import time

import files
import harness
import smb_client
from client import Connection, Disconnected, Gate
from coverage import Coverage
from crew import LAKE, PLAIN, Crew, configuration
from owner import Wrong
from verify import Finder, verify
from workload import Client

SHUFFLERS = 4
SHARERS = 4
FINDERS = 2
COUNTER_CLIENTS = 64
COUNTER_S = 3
WRITE_BEHIND_MS = (0, 50, 1000)  # How old what is written over SMB becomes before it is durable.
LONGEST_HANG_UP_S = 20  # How soon the server must have noticed that clients of SMB are gone.
CONNECTIONS_OPEN = re.compile(r"^kyanite_smb_connections_open (\d+)$", re.MULTILINE)
SLOWEST_REPLIES_S = 20  # Replies may come slowly on a loaded machine; nobody waits for them for ever.


class Report:
    def __init__(self):
        self.acknowledged = 0
        self.refused = 0
        self.unavailable = 0  # Answered with an error because of a fault.
        self.in_flight = 0
        self.starts_s = []
        self.cycles = 0
        self.notes = {}  # What else a mode has counted.


class Load:
    """The clients at work. `problems` grows while they are."""

    def __init__(self, report, gate):
        self._report, self.gate = report, gate
        self.problems = []
        self.tasks = []

    def add(self, client):
        async def guarded():
            try:
                await client
            except Disconnected:
                pass
            except Wrong as error:
                self.problems.append(str(error))
        self.tasks.append(asyncio.create_task(guarded()))

    async def replies(self, count):
        """Waits for so many acknowledgements."""
        until = self._report.acknowledged + count
        deadline = time.monotonic() + SLOWEST_REPLIES_S
        while self._report.acknowledged < until and time.monotonic() < deadline and not self.problems and not self.over:
            await asyncio.sleep(0.001)

    @property
    def over(self):
        return all(task.done() for task in self.tasks)


class Run:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="kyanite-torture-"))
        self.location = self.scratch / "data"
        self.report, self.coverage = Report(), Coverage()
        self.crew = Crew(self.report)
        self.server = None
        self.environment = {}  # Of the server.
        self._write_behind_ms = WRITE_BEHIND_MS[-1]
        self.standing_drives = 0  # Connections of SMB that are not the crew's.
        self.clock_offset_s = 0  # How far the server's clock is off, and that of its clients.
        (self.scratch / "config.json").write_text(configuration())

    def flags(self):
        return ["--config", str(self.scratch / "config.json"), "--copyFromPrivateAddresses", "--setting", "blobExpiry=true",
                "--smbWriteBehind", str(self._write_behind_ms)]

    def start(self, write_behind_ms=None):
        began = time.monotonic()
        self._write_behind_ms = self.random.choice(WRITE_BEHIND_MS) if write_behind_ms is None else write_behind_ms
        promises = self.crew.promises
        promises.every_write = self._write_behind_ms == 0
        promises.crashed |= self.server is not None and self.server.process.returncode != 0
        self.server = harness.Server(*self.flags(), location=str(self.location), env=self.environment)
        self.report.starts_s.append(time.monotonic() - began)

    def end(self):
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop()

    def abandon(self):
        """After a failure: whatever state the server is in, it ends."""
        if self.server is not None and self.server.process.poll() is None:
            self.server.kill()

    def discard(self):
        shutil.rmtree(self.scratch)

    def connect(self, service="Blob", account=PLAIN, gate=None):
        if service == "Drive":
            return smb_client.Ends(self.connect("File", account, gate), smb_client.SmbConnection(
                "127.0.0.1", smb_client.port_of(self.server), account, harness.KEY, files.SHARE, gate, gives_back=True))
        return Connection.to(self.server.url(service), account, harness.KEY, table=service == "Table",
                             gate=gate or Gate(now=self.now))

    def now(self):
        return time.time() + self.clock_offset_s

    async def prepare(self):
        await self.crew.create(self.connect)

    @contextlib.asynccontextmanager
    async def load(self, faulty=False):
        """All clients at once, until the server is gone or the block ends: then each client ends with its request answered.
        `faulty`: an error of the server's is as good as no reply."""
        gate = Gate(faulty, self.now)
        load = Load(self.report, gate)
        for number, owned in enumerate(self.crew.owned):
            load.add(Client(self.connect(gate=gate), owned, self.seeded("blob", number), self.report).run())
        for number, (service, account, client) in enumerate(self.crew.members):
            load.add(client.run(self.connect(service, account, gate), self.seeded(service, number)))
        for number in range(SHUFFLERS):
            load.add(self.crew.shuffle.run(self.connect("File", gate=gate), self.seeded("shuffle", number)))
        for work in self.crew.storm.tasks(lambda: self.connect("Blob", LAKE, gate), self.seeded):
            load.add(work)
        for _ in range(FINDERS):
            load.add(Finder.run(self.connect(gate=gate)))
        for _ in range(SHARERS):
            load.add(self._repeat(self.crew.counter.increment, gate))
            load.add(self._repeat(self.crew.log.append, gate))
        try:
            yield load
        finally:
            gate.closed = True
            await asyncio.gather(*load.tasks)
            if self.server.process.poll() is None:
                await self._until_drives_are_left(load)
            self.report.in_flight += sum(blob.pending is not None for blob in self.crew.blobs)
            self.report.unavailable += gate.unavailable

    async def _until_drives_are_left(self, load):
        """Clients of SMB have hung up. The server closes what they had open as it notices, which changes files."""
        deadline = time.monotonic() + LONGEST_HANG_UP_S
        while int(CONNECTIONS_OPEN.search(await self.coverage.metrics(self.server))[1]) > self.standing_drives:
            if time.monotonic() > deadline:
                load.problems.append("clients of SMB have hung up and the server does not notice")
                return
            await asyncio.sleep(0.01)

    def seeded(self, *what):
        return random.Random(f"{self.seed}/{self.report.cycles}/{what}")

    async def _repeat(self, operation, gate):
        connection = self.connect(gate=gate)
        while True:
            await operation(connection)

    async def load_and_kill(self):
        """All clients at once, until the server is killed in their midst."""
        replies, jitter_s = self.random.randrange(1, 1500), self.random.random() * 0.01
        async with self.load() as load:
            await load.replies(replies)
            await self.coverage.gather(self.server)
            await asyncio.sleep(jitter_s)
            if self.server.process.poll() is not None:
                load.problems.append(f"the server ended by itself: {self.server.process.poll()} {self.server.log()[-500:]}")
            self.server.kill()
        return load.problems

    async def cycle(self):
        """One kill and what is wrong after it."""
        problems = await self.load_and_kill()
        self.report.cycles += 1
        if self.random.random() < 0.2:
            await self.kill_while_starting()
        self.start()
        return problems + await self.verify()

    async def verify(self):
        problems = await verify(self.connect, self.crew.blobs, [self.crew.counter, self.crew.log])
        checks = [*self.crew.members, ("File", PLAIN, self.crew.shuffle), ("Blob", LAKE, self.crew.storm), ("File", PLAIN, files.WholeShare())]
        connections = {}
        for service, account, thing in checks:
            if (service, account) not in connections:
                connections[service, account] = self.connect(service, account)
            try:
                complaint = await thing.check(connections[service, account])
            except (Wrong, Disconnected) as error:
                complaint = str(error)
            problems += [complaint] if complaint else []
        for connection in connections.values():
            connection.close()
        self.crew.promises.crashed = False
        if self.crew.log.full:
            await self.crew.log.renew(self.connect())
        return problems

    async def kill_while_starting(self):
        process = subprocess.Popen([harness.BINARY, *harness.FREE_PORTS, "--location", str(self.location), *self.flags()],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **self.environment})
        await asyncio.sleep(self.random.random() * 0.1)
        process.kill()
        process.wait()

    async def count_together(self):
        """Many clients at one counter, no kill: every success counts once."""
        until = time.monotonic() + COUNTER_S
        counter = self.crew.counter

        async def work():
            connection = self.connect()
            while time.monotonic() < until:
                await counter.increment(connection)
            connection.close()

        conflicts = counter.conflicts
        await asyncio.gather(*(work() for _ in range(COUNTER_CLIENTS)))
        conflicts = counter.conflicts - conflicts
        print(f"   {COUNTER_CLIENTS} clients counted to {counter.acknowledged}, {conflicts} tries refused", flush=True)
        complaint = await counter.check(self.connect())
        return [complaint] if complaint else []
