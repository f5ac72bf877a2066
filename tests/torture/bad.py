"""Bad disks: reads fail or deliver a wrong bit. A reader gets an error or nothing, but never wrong bytes with a success."""

import asyncio

from client import Disconnected, Gate
from faults import EXTENT, LOG, OTHER, TABLE, Faults
from mode import Mode
from model import describe_difference
from owner import Owner, Wrong
from sabotage import flip
from verify import Unreadable, list_blobs

READERS = 8
ROUNDS = 2
# RocksDB's logs: blocks of fragments of commits, none of which crosses a block.
LOG_BLOCK, FRAGMENT_HEADER = 32 * 1024, 7
NO_FRAGMENT, WHOLE, FIRST = 0, 1, 2  # Kinds of fragments. A commit is one that is whole, or begins with a first.


def how_else(seen, wanted):
    if seen is None or wanted is None:
        return "is there" if wanted is None else "is missing"
    return describe_difference(seen, wanted)


def fragments(log):
    """Of each fragment where it begins and ends, and whether a commit begins with it."""
    at = 0
    while at + FRAGMENT_HEADER <= len(log):
        left = LOG_BLOCK - at % LOG_BLOCK
        if left < FRAGMENT_HEADER:
            at += left
            continue
        length, kind = int.from_bytes(log[at + 4:at + 6], "little"), log[at + 6]
        if kind == NO_FRAGMENT:
            return
        yield at, at + FRAGMENT_HEADER + length, kind in (WHOLE, FIRST)
        at += FRAGMENT_HEADER + length


def before_last_commit(log):
    """Where fragments are that an acknowledged commit follows."""
    places = list(fragments(log))
    last = max((begin for begin, _, begins_commit in places if begins_commit), default=0)
    return [(begin, end) for begin, end, _ in places if begin < last]


class BadDisk(Mode):
    name = "bad-disk"

    def __init__(self, seed):
        super().__init__(seed)
        self.faults = Faults(self.run)
        self.allow_delays()

    def spoil(self, kinds):
        """So many reads of a million go wrong, from one in a thousand to one in five. A wrong bit in the last commit of a log
        cannot be told from a torn write, so the bits of logs are damage_log()'s business."""
        errors, flips = (self.random.choice((0, 1_000, 30_000, 200_000)) for _ in range(2))
        if kinds & LOG:
            flips = 0
        self.faults.set(read_kinds=kinds, read_error_ppm=errors or 1_000, flip_ppm=flips)

    def mend(self):
        self.faults.set(read_error_ppm=0, flip_ppm=0)

    async def cycle(self):
        """Reads of a server whose caches are cold; then writes; then a start on a disk that is still bad."""
        problems = await self.load_and_stop(self.random.randrange(100, 600))
        self.report.cycles += 1
        problems += await self.run.verify()
        if problems:
            return problems
        self.restart()
        self.spoil(self.random.choice((EXTENT, TABLE, EXTENT | TABLE)))
        problems = await self.read_all()
        async with self.run.load(faulty=True) as load:
            await asyncio.sleep(0.3)
        self.run.server.kill()
        self.mend()
        self.damage_log()
        self.spoil(self.random.choice((TABLE, LOG, OTHER, TABLE | LOG | OTHER)))
        if self.start_or_refuse():
            self.run.server.kill()
        self.mend()
        self.run.start()
        for count in ("read_errors", "flips"):
            self.report.notes[count] = self.faults[count]
        return problems + load.problems + await self.run.verify()

    def damage_log(self):
        """One bit of the newest log: acknowledged commits follow, so the server must not go on without them."""
        path = max((self.run.location / "records").glob("*.log"))
        places = before_last_commit(path.read_bytes())
        if not places:
            return
        at = self.random.randrange(*self.random.choices(places, [end - begin for begin, end in places])[0])
        flip(path, at)
        if self.start_or_refuse():
            raise Wrong(f"the server started with {path} damaged at {at}, before its last commit")
        self.note("damaged logs refused")
        flip(path, at)

    async def read_all(self):
        problems, crew = [], self.run.crew
        left = [blob for blob in crew.blobs for _ in range(ROUNDS)]

        async def read_blobs():
            connection = self.run.connect(gate=Gate(faulty=True))
            while left:
                blob = left.pop()
                try:
                    reply = await connection.request("GET", f"/torture/{blob.name}")
                except Disconnected:
                    self.note("reads refused")
                    continue
                content = reply.body if reply.status == 200 else None
                if content != blob.state.content or reply.status not in (200, 404):
                    problems.append(f"{blob.name} on a bad disk: {reply.status} {reply.code} {how_else(content, blob.state.content)}")
                self.note("reads right")
            connection.close()

        await asyncio.gather(*(read_blobs() for _ in range(READERS)), self._read_lists(problems), self._read_owned(problems))
        return problems

    async def _read_lists(self, problems):
        """A listing names everything or fails."""
        connection = self.run.connect(gate=Gate(faulty=True))
        try:
            listed = {name for name, snapshot in await list_blobs(connection) if snapshot is None}
        except (Disconnected, Unreadable):
            return
        missing = [blob.name for blob in self.run.crew.blobs if blob.state.content is not None and blob.name not in listed]
        problems += [f"a listing on a bad disk leaves out {name}" for name in missing]

    async def _read_owned(self, problems):
        for service, account, client in self.run.crew.members:
            if not isinstance(client, Owner):
                continue
            connection = self.run.connect(service, account, Gate(faulty=True))
            try:
                seen = await client.observe(connection)
                if seen != client.shown(client.state):
                    problems.append(f"{client.name} was read as {seen} on a bad disk, is {client.shown(client.state)}")
                self.note("reads right")
            except Disconnected:
                self.note("reads refused")
            except Wrong as error:
                problems.append(f"on a bad disk: {error}")
            connection.close()

    async def self_test(self):
        """Bits that go wrong where nothing looks at them any more must be noticed by the readers."""
        problems = await self.cycle()
        self.faults["spoil_sent"] = 1
        noticed = await self.read_all() + await self.read_all()
        self.faults["spoil_sent"] = 0
        print(f"   bits spoilt on their way out: {noticed[0][:150] if noticed else 'NOT NOTICED'}", flush=True)
        return problems + ([] if noticed else ["wrong bytes with a success went unnoticed"])
