"""Things that one client owns: at any time it knows what was acknowledged, and what the thing is if the one change in flight has
happened. After a crash either is right, and nothing else."""

from client import Disconnected


class Wrong(Exception):
    """The server gave an answer that it must not give, crash or no crash."""


async def expect(connection, status, method, path, query=None, headers=None, body=b""):
    reply = await connection.request(method, path, query, headers, body)
    if reply.status != status:
        raise Wrong(f"{method} {path} {query}: {reply.status} {reply.code}, not {status}")
    return reply


def brief(what):
    """For people: no long bytes."""
    if isinstance(what, bytes):
        return what if len(what) < 50 else f"{len(what)} bytes {what[:20]}"
    if isinstance(what, dict):
        return {name: brief(value) for name, value in what.items()}
    return type(what)(map(brief, what)) if isinstance(what, (list, tuple)) else what


class Owner:
    """Subclasses have step(), one random change, and observe(), what a read shows in the form that shown() gives a state."""

    def __init__(self, name, report, state=None):
        self.name = name
        self.state = state
        self.pending = []  # What the state may be if the change in flight has happened.
        self._report = report
        self._version = 0  # Grows with every change, so that no two are alike.

    def next_version(self):
        self._version += 1
        return str(self._version)

    async def create(self, connection):
        """What must be there before the first step."""

    async def run(self, connection, random):
        """Until the server is gone."""
        try:
            while True:
                await self.step(connection, random)
        except Disconnected:
            pass

    async def change(self, connection, after, status, method, path, query=None, headers=None, body=b"", or_else=()):
        """Sends a change that must be accepted. `or_else`: what else the state may be if the reply does not come."""
        self.pending = [after, *or_else]
        reply = await expect(connection, status, method, path, query, headers, body)
        self.pending = []
        self.state = after
        self._report.acknowledged += 1
        return reply

    async def check(self, connection):
        """What is wrong with it, or None. After this the state is known."""
        seen = await self.observe(connection)
        for state in [self.state, *self.pending]:
            if self.shown(state) == seen:
                self.state, self.pending = state, []
                return None
        may_be = brief([self.shown(state) for state in self.pending])
        return f"{self.name} is {brief(seen)}, should be {brief(self.shown(self.state))}{f' or one of {may_be}' if may_be else ''}"

    def shown(self, state):
        """What reads can show of a state."""
        return state
