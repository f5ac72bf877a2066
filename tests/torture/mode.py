"""What ways of torture have in common: a run of their own, cycles, and a proof that they would notice a server that fails."""

import asyncio
import time

import harness
from client import Disconnected
from fetched import FetchedCopies
from files import SHARE
from owner import Wrong
from trial import Run

RECOVERY_S = 20  # How soon after a fault is over the server must work again.


class Mode:
    """Subclasses have cycle(), which returns what was wrong, and self_test(), which returns what went unnoticed."""

    name = None
    faults = None  # Where there is one, the library that makes them.

    def __init__(self, seed):
        self.run = Run(seed)
        self.report, self.random = self.run.report, self.run.random

    async def prepare(self):
        """Starts the server and makes what the clients need; perhaps returns what is wrong already."""
        self.run.start()
        await self.run.prepare()

    async def checked_cycle(self):
        """One cycle, and whether the faults were those that were meant."""
        problems = await self.cycle()
        if self.faults is not None and self.faults["unseen"]:
            problems.append("the server writes by a way that the fault library does not see")
        return problems

    def allow_delays(self):
        """Work that the server does by itself may have failed for a while."""
        for _, _, client in self.run.crew.members:
            if isinstance(client, FetchedCopies):
                client.may_be_put_off = True

    def note(self, what, count=1):
        self.report.notes[what] = self.report.notes.get(what, 0) + count

    async def load_and_stop(self, replies, faulty=False):
        async with self.run.load(faulty) as load:
            await load.replies(replies)
        return load.problems

    def restart(self):
        """With an orderly end where the server still runs."""
        self.run.end()
        self.run.start()

    async def until_writable(self, patience_s=RECOVERY_S):
        """Waits until writes are taken again; what is wrong if they are not."""
        began = time.monotonic()
        connection = self.run.connect()
        while time.monotonic() - began < patience_s:
            try:
                reply = await connection.request("PUT", "/torture/shared-counter", {"comp": "metadata"})
                if reply.status == 200 and await self.drives_are_stored():
                    return []
            except Disconnected:
                pass
            await asyncio.sleep(0.05)
        return [f"the fault is over since {patience_s} s and the server still takes no writes"]

    async def drives_are_stored(self):
        """A snapshot of the share needs all that clients of SMB have written to be stored."""
        connection, query = self.run.connect("File"), {"restype": "share", "comp": "snapshot"}
        try:
            reply = await connection.request("PUT", f"/{SHARE}", query)
            if reply.status == 201:
                snapshot = {"restype": "share", "sharesnapshot": reply.headers["x-ms-snapshot"]}
                await connection.request("DELETE", f"/{SHARE}", snapshot)
        finally:
            connection.close()
        return reply.status < 500

    def start_or_refuse(self):
        """Starts under a fault. The server serves, or says why not; it does not crash."""
        try:
            self.run.start()
            return True
        except harness.NotStarted as error:
            if error.code < 0:
                raise Wrong(f"the server ended with {error.code} instead of saying what is wrong: {error}") from error
            self.note("starts refused")
            return False
