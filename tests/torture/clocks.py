"""Clocks that jump: the server's clock of the day is set forward and back by minutes and hours under load. While an object exists its
ETags always change and never come twice, and its Last-Modified never goes back; nothing is lost. What is created again is dated by the
clock, and snapshots are there whatever it says. Leases, visibility and retention end by the clock of the day."""

import email.utils
import xml.etree.ElementTree

from boxes import new_lease
from fault_library import SECOND_NS
from faults import Faults
from increments import Increments
from mode import Mode
from owner import expect

HOUR_S = 3600
MOST_S = 2 * HOUR_S  # Verification takes place at this end, where everything that was ever put is visible.
JUMPS = 4
UNNOTICED_S = 200  # All jumps of a cycle together are less than what a request's date may be off, a quarter of an hour.
BLOB, AGAIN, QUEUE = "/clock/blob", "/clock/again", "/clock"


class ClockJumps(Mode):
    name = "clock"

    def __init__(self, seed):
        super().__init__(seed)
        self.faults = Faults(self.run)
        self.server_follows = True
        # Incremental copies take snapshots in the order of the clock.
        crew = self.run.crew
        crew.members = [member for member in crew.members if not isinstance(member.client, Increments)]
        self._etags = set()

    def set_clock(self, offset_s):
        """The clients' too, as their dates must be near the server's."""
        self.run.clock_offset_s = offset_s
        if self.server_follows:
            self.faults["clock_offset_ns"] = offset_s * SECOND_NS

    async def prepare(self):
        self.set_clock(MOST_S)
        await super().prepare()
        await expect(self.run.connect(), 201, "PUT", "/clock", {"restype": "container"})
        await expect(self.run.connect("Queue"), 201, "PUT", QUEUE)
        self._modified = 0

    async def cycle(self):
        async with self.run.load() as load:
            for _ in range(JUMPS):
                await load.replies(self.random.randrange(1, 200))
                await self.jump(load.gate)
                self.note("jumps")
        self.report.cycles += 1
        problems = load.problems + await self.look_at_times()
        if self.random.random() < 0.3:
            self.set_clock(self.random.randrange(-MOST_S, MOST_S))
            self.run.server.kill()
            self.run.start()
        self.set_clock(MOST_S)
        self.report.notes["clock readings"] = self.faults["clock_readings"]
        return problems + await self.run.verify()

    async def jump(self, gate):
        """A little at any moment; far only between requests, whose dates would be refused."""
        now = self.run.clock_offset_s
        if self.random.random() < 0.5:
            by = self.random.randrange(-UNNOTICED_S, UNNOTICED_S)
            self.set_clock(max(-MOST_S, min(MOST_S, now + by)))
            return
        async with gate.silence():
            self.set_clock(self.random.randrange(-MOST_S, MOST_S))

    async def look_at_times(self):
        """What is wrong with leases, messages, ETags and dates when the clock jumps."""
        problems = []
        blobs, queues = self.run.connect(), self.run.connect("Queue")
        for look in (self.look_at_dates(blobs), self.look_at_new_object(blobs), self.look_at_snapshots(blobs),
                     self.look_at_lease(blobs), self.look_at_message(queues)):
            problems += await look
        return problems

    async def look_at_dates(self, connection):
        problems = []
        for offset in (0, HOUR_S, -HOUR_S, MOST_S, 0):
            self.set_clock(offset)
            reply = await expect(connection, 201, "PUT", BLOB, headers={"x-ms-blob-type": "BlockBlob"}, body=b"x")
            modified = email.utils.parsedate_to_datetime(reply.headers["last-modified"]).timestamp()
            told = email.utils.parsedate_to_datetime(reply.headers["date"]).timestamp()
            if reply.etag in self._etags:
                problems.append(f"the ETag {reply.etag} came twice")
            if modified < self._modified:
                problems.append(f"Last-Modified went back by {self._modified - modified} s")
            if abs(told - self.run.now()) > 5:
                problems.append(f"the server's clock does not follow: it says {told}, the time is {self.run.now()}")
            self._etags.add(reply.etag)
            self._modified = modified
        return problems

    async def look_at_new_object(self, connection):
        """One that is deleted and created again, with the clock set back in between."""
        problems = []
        for offset in (HOUR_S, 0):
            self.set_clock(offset)
            reply = await expect(connection, 201, "PUT", AGAIN, headers={"x-ms-blob-type": "BlockBlob"}, body=b"x")
            modified = email.utils.parsedate_to_datetime(reply.headers["last-modified"]).timestamp()
            if abs(modified - self.run.now()) > 5:
                problems.append(f"a new object is dated {modified}, the time is {self.run.now()}")
            await expect(connection, 202, "DELETE", AGAIN)
        return problems

    async def look_at_snapshots(self, connection):
        """None takes the place of another, and later ones have later names."""
        names = []
        await expect(connection, 201, "PUT", AGAIN, headers={"x-ms-blob-type": "BlockBlob"}, body=b"x")
        for offset in (HOUR_S, 0, HOUR_S, -HOUR_S):
            self.set_clock(offset)
            reply = await expect(connection, 201, "PUT", AGAIN, {"comp": "snapshot"})
            names.append(reply.headers["x-ms-snapshot"])
        await expect(connection, 202, "DELETE", AGAIN, headers={"x-ms-delete-snapshots": "include"})
        return [] if names == sorted(set(names)) else [f"snapshots taken one after the other are called {names}"]

    async def _lease(self, connection, action, lease, wanted, problems, when):
        name = "x-ms-proposed-lease-id" if action == "acquire" else "x-ms-lease-id"
        headers = {"x-ms-lease-action": action, name: lease, **({"x-ms-lease-duration": "60"} if action == "acquire" else {})}
        reply = await connection.request("PUT", BLOB, {"comp": "lease"}, headers)
        if reply.status != wanted:
            problems.append(f"{when}: {action} is answered {reply.status} {reply.code}, not {wanted}")

    async def look_at_lease(self, connection):
        """One of a minute: it holds while the clock is before its end, however often that comes; from then on it is free."""
        problems, first, second = [], new_lease(self.random), new_lease(self.random)
        self.set_clock(0)
        await self._lease(connection, "acquire", first, 201, problems, "a blob without a lease")
        self.set_clock(-HOUR_S)
        await self._lease(connection, "acquire", second, 409, problems, "an hour before a lease began")
        await self._lease(connection, "renew", first, 200, problems, "an hour before a lease began")
        self.set_clock(-HOUR_S + 30)
        await self._lease(connection, "acquire", second, 409, problems, "30 s after a lease of 60 s was renewed")
        self.set_clock(-HOUR_S + 90)
        await self._lease(connection, "acquire", second, 201, problems, "90 s after a lease of 60 s was renewed")
        await self._lease(connection, "release", second, 200, problems, "a lease that was just acquired")
        return problems

    async def look_at_message(self, connection):
        """One that is taken stays hidden for its time by the clock, and its receipt is good whatever the clock says."""
        self.set_clock(0)
        body = b"<QueueMessage><MessageText>tick</MessageText></QueueMessage>"
        await expect(connection, 201, "POST", f"{QUEUE}/messages", body=body)
        taken = await self._take(connection, "60")
        if taken is None:
            return ["a message that was just put cannot be taken"]
        for offset in (-HOUR_S, 30):
            self.set_clock(offset)
            if await self._take(connection, "60") is not None:
                return [f"a message taken for 60 s is handed out again with the clock at {offset} s"]
        self.set_clock(90)
        again = await self._take(connection, "60")
        if again is None:
            return ["a message taken for 60 s is not there after 90 s"]
        self.set_clock(-HOUR_S)
        message, receipt = again
        reply = await connection.request("DELETE", f"{QUEUE}/messages/{message}", {"popreceipt": receipt})
        return [] if reply.status == 204 else [f"a receipt is not good with the clock set back: {reply.status} {reply.code}"]

    async def _take(self, connection, seconds):
        reply = await expect(connection, 200, "GET", f"{QUEUE}/messages", {"visibilitytimeout": seconds})
        found = xml.etree.ElementTree.fromstring(reply.body).find("QueueMessage")
        return None if found is None else (found.findtext("MessageId"), found.findtext("PopReceipt"))

    async def self_test(self):
        """A server that does not see the time pass."""
        problems = await self.cycle()
        self.server_follows = False
        self.set_clock(0)
        self.faults["clock_offset_ns"] = 0
        noticed = await self.look_at_dates_alone()
        print(f"   a clock that stands: {noticed[0][:150] if noticed else 'NOT NOTICED'}", flush=True)
        return problems + ([] if noticed else ["a server whose clock stands went unnoticed"])

    async def look_at_dates_alone(self):
        """As look_at_lease, but within what requests may be dated."""
        problems, first, second = [], new_lease(self.random), new_lease(self.random)
        connection = self.run.connect()
        await self._lease(connection, "acquire", first, 201, problems, "a blob without a lease")
        self.set_clock(90)
        await self._lease(connection, "acquire", second, 201, problems, "90 s after a lease of 60 s began")
        return problems
