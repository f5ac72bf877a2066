"""Descriptors run out: for a while the server may open nothing more, whether files or sockets. What was acknowledged is there, and once
it may again the server works without a restart and without anybody asking for it."""

import asyncio
import resource

from fetched import FetchedCopies
from mode import Mode

NONE_S = 1.0


class Descriptors(Mode):
    name = "descriptors"

    def __init__(self, seed):
        super().__init__(seed)
        # Without a socket a copy from another server fails, and rightly.
        members = self.run.crew.members
        members[:] = [member for member in members if not isinstance(member[2], FetchedCopies)]

    def limit(self, soft):
        process = self.run.server.process.pid
        _, hard = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (hard if soft is None else soft, hard))

    async def cycle(self):
        async with self.run.load(faulty=True) as load:
            await load.replies(self.random.randrange(1, 400))
            self.limit(self.random.choice((0, 0, self.random.randrange(1, 64))))
            await asyncio.sleep(self.random.random() * NONE_S)
            self.limit(None)
        self.report.cycles += 1
        problems = load.problems
        if self.run.server.process.poll() is not None:
            return problems + [f"the server ended without descriptors: {self.run.server.log()[-500:]}"]
        problems += await self.until_writable()
        if self.random.random() < 0.3:
            self.run.server.kill()
            self.run.start()
        return problems or await self.run.verify()

    async def self_test(self):
        """Descriptors that do not come back must be noticed."""
        problems = await self.cycle()
        self.limit(0)
        try:
            noticed = await asyncio.wait_for(self.until_writable(patience_s=2), 5)
        except asyncio.TimeoutError:
            noticed = ["nobody answers"]
        self.limit(None)
        print(f"   descriptors that stay away: {noticed[0] if noticed else 'NOT NOTICED'}", flush=True)
        return problems + ([] if noticed else ["a server without descriptors went unnoticed"]) + await self.until_writable()
