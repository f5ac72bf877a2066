"""Full disks: from a moment on there is no room, and some time later there is again. Requests may be refused meanwhile, but what
was acknowledged is there, reads go on, and afterwards the server works again."""

import asyncio
import time

from client import Disconnected, Gate
from faults import LIMITED, NO_GROWTH, NO_SYNCS, NO_WRITES, Faults
from mode import RECOVERY_S, Mode

FULL_S = 0.5
READS = 60
MIB = 1 << 20
DOOMED, DOOMED_BYTES = 120, MIB  # Blobs whose deletion makes room for the others.


class DiskFull(Mode):
    name = "disk-full"

    def __init__(self, seed):
        super().__init__(seed)
        self.faults = Faults(self.run)
        self.allow_delays()

    async def cycle(self):
        if self.random.random() < 0.3:
            return await self.delete_while_full()
        how = self.random.choice((NO_GROWTH, NO_WRITES, NO_SYNCS))
        async with self.run.load(faulty=True) as load:
            await load.replies(self.random.randrange(1, 600))
            self.faults["full"] = how
            await asyncio.sleep(self.random.random() * FULL_S)
        self.report.cycles += 1
        problems = load.problems + await self.read_while_full()
        problems += await self.random.choice((self.make_room, self.make_room, self.restart_after, self.restart_full))()
        self.report.notes["refused writes of the disk"] = self.faults["refused_writes"]
        return problems or await self.run.verify()

    async def read_while_full(self):
        """Blobs of which no change is in flight are as they were."""
        problems, connection = [], self.run.connect()
        settled = [blob for blob in self.run.crew.blobs if blob.pending is None]
        for blob in self.random.sample(settled, min(READS, len(settled))):
            reply = await connection.request("GET", f"/torture/{blob.name}")
            body = reply.body if reply.status == 200 else None
            if reply.status not in (200, 404) or body != blob.state.content:
                problems.append(f"{blob.name} cannot be read while the disk is full: {reply.status} {reply.code}")
            self.note("reads while full")
        connection.close()
        return problems

    async def delete_while_full(self):
        """The disk has next to nothing left, whoever took it. Deletions are taken, also after a restart, and make the room with
        which everything goes on."""
        connection = self.run.connect()
        await connection.request("PUT", "/doomed", {"restype": "container"})
        content = self.random.randbytes(DOOMED_BYTES)
        for number in range(DOOMED):
            reply = await connection.request("PUT", f"/doomed/{number}", headers={"x-ms-blob-type": "BlockBlob"}, body=content)
            if reply.status != 201:
                return [f"a blob on a disk with room: {reply.status} {reply.code}"]
        connection.close()
        self.faults.set(room=self.random.choice((0, MIB, 6 * MIB)), full=LIMITED)
        async with self.run.load(faulty=True) as load:
            await asyncio.sleep(self.random.random() * FULL_S)
        self.report.cycles += 1
        problems = load.problems + await self.read_while_full()
        if self.random.random() < 0.5:
            self.run.server.kill()
            self.run.start()
        problems += await self.delete_doomed()
        problems += await self.until_blobs_are_taken(content)
        self.faults["full"] = 0
        return problems or await self.run.verify()

    async def delete_doomed(self, patience_s=RECOVERY_S):
        """Each is taken in the end: one write may find the disk full before the reserve is given up."""
        until = time.monotonic() + patience_s
        connection = self.run.connect(gate=Gate(faulty=True))
        for number in range(DOOMED):
            while True:
                try:
                    reply = await connection.request("DELETE", f"/doomed/{number}")
                    break
                except Disconnected:
                    if time.monotonic() > until:
                        return ["a deletion was refused because the disk is full"]
                    await asyncio.sleep(0.05)
            if reply.status not in (202, 404):
                return [f"a deletion on a full disk: {reply.status} {reply.code}"]
            self.note("deleted while full")
        connection.close()
        return []

    async def until_blobs_are_taken(self, content):
        """Nobody makes room but by what was deleted."""
        until = time.monotonic() + RECOVERY_S
        connection = self.run.connect(gate=Gate(faulty=True))
        while time.monotonic() < until:
            try:
                reply = await connection.request("PUT", "/doomed/0", headers={"x-ms-blob-type": "BlockBlob"}, body=content)
                connection.close()
                return [] if reply.status == 201 else [f"a blob after deletions on a full disk: {reply.status} {reply.code}"]
            except Disconnected:
                self.note("blobs refused while full")
                await asyncio.sleep(0.1)
        return ["deletions on a full disk have made no room"]

    async def make_room(self):
        """The server goes on by itself."""
        self.faults["full"] = 0
        return await self.until_writable()

    async def restart_after(self):
        self.run.server.kill()
        self.faults["full"] = 0
        self.run.start()
        return []

    async def restart_full(self):
        """Starting on a full disk may be refused, but harms nothing."""
        self.run.server.kill()
        started = self.start_or_refuse()
        self.faults["full"] = 0
        if not started:
            self.run.start()
        return await self.until_writable()

    async def self_test(self):
        """A server that acknowledges what the disk refused: the tool takes errors for successes."""
        problems = await self.cycle() + await self.delete_while_full()
        connection = self.run.connect()
        await connection.request("PUT", "/doomed/0", headers={"x-ms-blob-type": "BlockBlob"}, body=b"0")
        connection.close()
        self.faults["full"] = NO_WRITES
        refused = await self.delete_doomed(patience_s=1)
        print(f"   deletions that are refused: {refused[0] if refused else 'NOT NOTICED'}", flush=True)
        problems += [] if refused else ["deletions that a full disk refused went unnoticed"]
        blob = next(blob for blob in self.run.crew.blobs if blob.kind == "block" and blob.state.lease is None
                    and not blob.state.marks.get("held") and not blob.state.marks.get("kept"))
        content, connection = blob.next_content(4096), self.run.connect()
        try:
            reply = await connection.request("PUT", f"/torture/{blob.name}", headers={"x-ms-blob-type": "BlockBlob"}, body=content)
        except Disconnected as error:
            return problems + [str(error)]
        if reply.status < 500:
            return problems + [f"a write to a full disk was answered {reply.status} {reply.code}"]
        blob.state = blob.state.but(content=content)
        self.faults["full"] = 0
        problems += await self.until_writable()
        noticed = [complaint for complaint in await self.run.verify() if blob.name in complaint]
        print(f"   a false acknowledgement: {noticed[0][:150] if noticed else 'NOT NOTICED'}", flush=True)
        return problems + ([] if noticed else ["a write that the disk refused counted as done and nobody noticed"])
