"""Histories: what clients asked for, when, and what they were told."""

import asyncio
import dataclasses
import json
import time

from client import Disconnected

SECOND_US = 1_000_000
FOREVER_US = 1 << 60
SLACK_US = 20_000  # By so much the server's clock may go wrong during a history.


class Unexpected(Exception):
    """A reply that no state of any object explains."""


@dataclasses.dataclass
class Operation:
    """Times are microseconds of the server's clock, whose beginning is anywhere. An operation takes effect at one instant between
    `call` and `end`; one without an end, whose reply never came, at any instant after `call` or never."""

    client: int
    call: int
    end: int | None
    request: dict
    outcome: tuple | None = None  # What the reply says, in the words of the model; None: no reply.
    made: object = None  # What the server was free to choose: ETags, receipts.

    def as_json(self, kind, name):
        return json.dumps({"kind": kind, "object": name, **dataclasses.asdict(self)})

    @staticmethod
    def from_json(line):
        """Kind, name of the object, operation."""
        fields = json.loads(line)
        kind, name = fields.pop("kind"), fields.pop("object")
        fields["outcome"] = frozen(fields["outcome"])
        return kind, name, Operation(**fields)


def frozen(value):
    """Lists, as JSON has them, as tuples, as outcomes have them."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value


@dataclasses.dataclass(frozen=True)
class Clock:
    """The server's clock of the day, which makes `pace` seconds in one since the instant `since_ns`."""

    pace: int = 1
    since_ns: int = 0

    def now_us(self):
        return time.monotonic_ns() * self.pace // 1000

    def date_s(self):
        return (self.since_ns + (time.time_ns() - self.since_ns) * self.pace) / 1_000_000_000

    async def sleep(self, seconds):
        await asyncio.sleep(seconds / self.pace)


class Recorder:
    """Sends requests and writes down what becomes of them."""

    BUSY = ("INSUFFICIENT_RESOURCES",)  # Statuses of SMB after which nothing has changed,
    UNKNOWN = ("IO_TIMEOUT",)  # and those after which nobody knows.

    LONGEST_WAIT_S = 0.004  # Of a client that hangs up, by the true time.

    def __init__(self, clock, hang_ups):
        self.clock = clock
        self.operations = []
        self._hang_ups = hang_ups  # How many of a hundred requests are abandoned by their client.

    def begin(self, client, request):
        operation = Operation(client.number, self.clock.now_us(), None, request)
        self.operations.append(operation)
        return operation

    def end(self, operation, outcome):
        operation.end, operation.outcome = self.clock.now_us(), outcome

    async def exchange(self, client, request, sending, understand):
        """A request of SMB, whose reply is waited for: `sending` is the coroutine of it, `understand(reply)` gives the outcome. The
        reply."""
        operation = self.begin(client, request)
        try:
            reply = await sending
        except Disconnected as error:
            raise Unexpected(f"{request}: {error}") from error
        if reply.status in self.BUSY:
            self.operations.remove(operation)
        elif reply.status not in self.UNKNOWN:
            self.end(operation, understand(reply))
        return reply

    async def request(self, client, request, understand, method, path, query=None, headers=None, body=b""):
        """`understand(reply)` gives outcome and made. The operation as it was written down; None when nobody knows what became
        of it, or when the server was too busy, which changes nothing."""
        operation = Operation(client.number, 0, None, request)
        wait_s = client.random.random() * self.LONGEST_WAIT_S if client.random.randrange(100) < self._hang_ups else None
        self.operations.append(operation)
        operation.call = self.clock.now_us()
        try:
            async with asyncio.timeout(wait_s):
                reply = await client.connection.request(method, path, query, headers, body)
        except Disconnected:
            return None
        except TimeoutError:
            client.connection.close()
            return None
        end = self.clock.now_us()
        if reply.status == 503:
            self.operations.remove(operation)
            return None
        if reply.code == "OperationTimedOut":  # Where the clock runs fast. Whether it was done, nobody says.
            return None
        try:
            operation.outcome, operation.made = understand(reply)
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise Unexpected(f"{method} {path} {query or ''} {headers or ''}: {reply.status} {reply.headers} "
                             f"{reply.body[:500]} ({error!r})") from error
        operation.end = end
        return operation
