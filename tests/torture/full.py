"""Full disks: from a moment on there is no room, and some time later there is again. Requests may be refused meanwhile, but what
was acknowledged is there, reads go on, and afterwards the server works again."""

import asyncio

from client import Disconnected
from faults import NO_GROWTH, NO_SYNCS, NO_WRITES, Faults
from mode import Mode

FULL_S = 0.5
READS = 60


class DiskFull(Mode):
    name = "disk-full"

    def __init__(self, seed):
        super().__init__(seed)
        self.faults = Faults(self.run)
        self.allow_delays()

    async def cycle(self):
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
        problems = await self.cycle()
        self.faults["full"] = NO_WRITES
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
