"""A leased blob: who holds the lease writes, nobody else, until it is released, broken or its time is over. Where the server's
clock can be made to run fast, as history.py does, leases and breaks come to their ends within a history."""

import asyncio
import dataclasses

from blobs import contents, value_of
from lease_rules import INFINITE, NO_LEASE, Lease, act, after_write, decide, refusal
from record import SECOND_US

NAME = "lease"
SERVICE = "Blob"
FIRST = "before"
DURATIONS_S = (15, 15, 15, 15, 15, 20, 60, INFINITE)
BREAKS_S = (None, None, 0, 5, 10, 60)  # None: as the lease would end by itself.
LONGEST_WAIT_S = 0.3  # For the end of a lease, by the true time.
NEAR_S = 0.004  # Of a lease's end, by the true time.


@dataclasses.dataclass(frozen=True)
class State:
    value: str
    lease: Lease = NO_LEASE


class Model:
    """The state is a State: the blob is always there."""

    initial = State(FIRST)

    def prepare(self, operations):
        return

    def apply(self, state, operation):
        rule = {"get": self._get, "put": self._put}.get(operation.request["do"], self._act)
        return decide(state, state.lease, operation, lambda lease, phase: rule(State(state.value, lease), phase, operation))

    @staticmethod
    def _get(state, phase, operation):
        return (200, state.value, phase), state

    @staticmethod
    def _put(state, phase, operation):
        if refused := refusal(state.lease, phase, operation.request["id"], "Blob"):
            return refused, state
        return (201,), State(operation.request["value"], after_write(state.lease, phase))

    @staticmethod
    def _act(state, phase, operation):
        outcome, lease = act(state.lease, phase, operation)
        return outcome, State(state.value, lease)

    def changes(self, operation):
        return operation.request["do"] != "get" and (operation.outcome is None or len(operation.outcome) == 1)

    def describe(self, state):
        return f"{state.value}, {state.lease}"

    def ask(self, request):
        names = {"value": "", "id": "with ", "proposed": "for ", "period": "within ", "duration_s": "lasting "}
        words = [names[key] + str(value) for key, value in request.items() if key != "do" and value is not None]
        return " ".join([request["do"], *words])


def split(operations):
    return {"": operations}


class Client:
    def __init__(self, group, number, random, connection):
        self.path = f"/{group.place}/{group.name}"
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self.id = lease_id(number)
        self.shared = group.shared  # "end": when the lease ends that was last acquired or renewed, as far as clients know.
        self._puts = 0

    @staticmethod
    async def create(connection, group):
        await connection.request("PUT", f"/{group.place}/{group.name}", headers={"x-ms-blob-type": "BlockBlob"},
                                 body=contents(FIRST, False))

    async def finish(self):
        return

    async def step(self):
        await self.random.choice((self.hold, self.hold, self.put, self.put, self.get, self.release, self.change, self.break_,
                                  *(self.await_end,) * 6))()

    async def await_end(self):
        """Then does, a little before or after, what the end of the lease makes a difference to. Far ends are not waited for."""
        clock = self.recorder.clock
        until_s = (self.shared.get("end", 0) - clock.now_us()) / SECOND_US / clock.pace
        if until_s < LONGEST_WAIT_S:
            await asyncio.sleep(max(0, until_s + NEAR_S * self.random.uniform(-1, 1)))
        await self.random.choice((self.hold, self.hold, self.put, self.put, self.get, self.get, self.change, self.renew))()

    async def hold(self):
        """Acquires, and when that succeeds writes as the holder."""
        duration_s = self.random.choice(DURATIONS_S)
        done = await self._lease(acquiring(self.id, duration_s))
        if not done or done.outcome != (201,):
            return
        self._ends_after(done, duration_s)
        await self._put(self.id)
        if self.random.randrange(3) == 0:
            await self.renew(duration_s)

    async def renew(self, duration_s=DURATIONS_S[0]):
        done = await self._lease(renewing(self.id))
        if done and done.outcome == (200,):
            self._ends_after(done, duration_s)

    def _ends_after(self, done, duration_s):
        if duration_s != INFINITE:
            self.shared["end"] = done.end + duration_s * SECOND_US

    async def put(self):
        await self._put(any_id(self) if self.random.randrange(2) else None)

    async def _put(self, presented):
        self._puts += 1
        value = f"{self.number}.{self._puts}"
        headers = {"x-ms-blob-type": "BlockBlob", **({"x-ms-lease-id": presented} if presented else {})}
        await self.recorder.request(self, {"do": "put", "value": value, "id": presented}, understand, "PUT", self.path,
                                    headers=headers, body=contents(value, False))

    async def get(self):
        await self.recorder.request(self, {"do": "get"}, understand_get, "GET", self.path)

    async def release(self):
        await self._lease(releasing(any_id(self)))

    async def change(self):
        await self._lease(changing(any_id(self), any_id(self)))

    async def break_(self):
        done = await self._lease(breaking(self.random.choice(BREAKS_S)))
        if done and done.made:
            self.shared["end"] = done.end + done.made * SECOND_US

    async def _lease(self, what):
        request, headers = what
        return await self.recorder.request(self, request, understand, "PUT", self.path, {"comp": "lease"}, headers)


def lease_id(number):
    return f"{number:08}-0000-4000-8000-000000000000"


def any_id(client):
    """Mostly the client's own; sometimes that of somebody else."""
    return lease_id(client.number if client.random.randrange(4) else client.random.randrange(4))


# Lease operations, as histories have them and as headers.
def acquiring(name, duration_s):
    return {"do": "acquire", "id": name, "duration_s": duration_s}, {
        "x-ms-lease-action": "acquire", "x-ms-lease-duration": str(duration_s), "x-ms-proposed-lease-id": name}


def renewing(name):
    return {"do": "renew", "id": name}, {"x-ms-lease-action": "renew", "x-ms-lease-id": name}


def changing(name, proposed):
    return {"do": "change", "id": name, "proposed": proposed}, {
        "x-ms-lease-action": "change", "x-ms-lease-id": name, "x-ms-proposed-lease-id": proposed}


def releasing(name):
    return {"do": "release", "id": name}, {"x-ms-lease-action": "release", "x-ms-lease-id": name}


def breaking(period_s=None):
    period = {} if period_s is None else {"x-ms-lease-break-period": str(period_s)}
    return {"do": "break", "period": period_s}, {"x-ms-lease-action": "break", **period}


def understand(reply):
    if reply.status in (200, 201, 202):
        told_s = reply.headers.get("x-ms-lease-time")
        return (reply.status,), None if told_s is None else int(told_s)
    if reply.status not in (409, 412):
        raise ValueError("neither done nor refused")
    return (reply.status, reply.code), None


def understand_get(reply):
    if reply.status != 200:
        raise ValueError("the blob is always there")
    return (200, value_of(reply.body), reply.headers["x-ms-lease-state"]), None
