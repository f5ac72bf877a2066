"""A leased blob: who holds the lease writes, nobody else. No lease runs out and no break comes to its end by itself, so time has
no part in the model; a history that took too long for that says nothing."""

from blobs import contents, value_of

NAME = "lease"
SERVICE = "Blob"
FIXED_S = 60  # The longest lease and the longest break there is.
LONGEST_HISTORY_US = 50_000_000
FIRST = "before"

LOCKED = ("leased", "breaking")


class Model:
    """The state is (value, lease state, lease id, whether it is infinite)."""

    initial = (FIRST, "available", "", False)

    def prepare(self, operations):
        return

    def apply(self, state, operation):
        request = operation.request
        return getattr(self, "_" + request["do"])(state, request)

    def _get(self, state, request):
        return (200, state[0], state[1]), state

    def _put(self, state, request):
        value, lease, holder, infinite = state
        presented = request["id"]
        if presented:
            if lease == "available":
                return (412, "LeaseNotPresentWithBlobOperation"), state
            if lease not in LOCKED:
                return (412, "LeaseLost"), state
            if presented != holder:
                return (412, "LeaseIdMismatchWithBlobOperation"), state
        elif lease in LOCKED:
            return (412, "LeaseIdMissing"), state
        if lease not in LOCKED:
            lease, holder, infinite = "available", "", False
        return (201,), (request["value"], lease, holder, infinite)

    def _acquire(self, state, request):
        value, lease, holder, _ = state
        if lease in LOCKED and request["id"] != holder:
            return (409, "LeaseAlreadyPresent"), state
        if lease == "breaking":
            return (409, "LeaseIsBreakingAndCannotBeAcquired"), state
        return (201,), (value, "leased", request["id"], request["infinite"])

    def _renew(self, state, request):
        value, lease, holder, infinite = state
        if request["id"] != holder:
            return (409, "LeaseIdMismatchWithLeaseOperation"), state
        if lease != "leased":
            return (409, "LeaseIsBrokenAndCannotBeRenewed"), state
        return (200,), state

    def _change(self, state, request):
        value, lease, holder, infinite = state
        if lease not in LOCKED:
            return (409, "LeaseNotPresentWithLeaseOperation"), state
        if lease == "breaking":
            return (409, "LeaseIsBreakingAndCannotBeChanged" if request["id"] == holder
                    else "LeaseIdMismatchWithLeaseOperation"), state
        if holder not in (request["id"], request["proposed"]):
            return (409, "LeaseIdMismatchWithLeaseOperation"), state
        return (200,), (value, lease, request["proposed"], infinite)

    def _release(self, state, request):
        if request["id"] != state[2]:
            return (409, "LeaseIdMismatchWithLeaseOperation"), state
        return (200,), (state[0], "available", "", False)

    def _break(self, state, request):
        value, lease, holder, infinite = state
        if lease == "available":
            return (409, "LeaseNotPresentWithLeaseOperation"), state
        endless = lease == "leased" and infinite
        at_once = lease == "broken" or request["period"] == 0 or (request["period"] is None and endless)
        return (202,), (value, "broken" if at_once else "breaking", holder, infinite)

    def changes(self, operation):
        return operation.request["do"] not in ("get", "renew") and (operation.outcome is None or len(operation.outcome) == 1)

    def describe(self, state):
        value, lease, holder, _ = state
        return f"{value}, {lease}{' by ' + holder if holder else ''}"

    def ask(self, request):
        names = {"value": "", "id": "with ", "proposed": "for ", "period": "within ", "infinite": "infinite "}
        words = [names[key] + str(value) for key, value in request.items() if key != "do" and value is not None]
        return " ".join([request["do"], *words])


def split(operations):
    took_us = max((operation.end or operation.call) for operation in operations) - operations[0].call
    return {"": operations} if took_us < LONGEST_HISTORY_US else {}


class Client:
    def __init__(self, group, number, random, connection):
        self.path = f"/{group.place}/{group.name}"
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self.id = lease_id(number)
        self._puts = 0

    @staticmethod
    async def create(connection, group):
        await connection.request("PUT", f"/{group.place}/{group.name}", headers={"x-ms-blob-type": "BlockBlob"},
                                 body=contents(FIRST, False))

    async def finish(self):
        return

    async def step(self):
        await self.random.choice((self.hold, self.put, self.put, self.get, self.release, self.change, self.break_))()

    def _any_id(self):
        """Mostly the own one; sometimes that of somebody else."""
        return self.id if self.random.randrange(4) else lease_id(self.random.randrange(4))

    async def hold(self):
        """Acquires, and when that succeeds writes as the holder."""
        infinite = bool(self.random.randrange(2))
        done = await self._lease("acquire", {"id": self.id, "infinite": infinite}, {
            "x-ms-lease-duration": "-1" if infinite else str(FIXED_S), "x-ms-proposed-lease-id": self.id})
        if done and done.outcome == (201,):
            await self._put(self.id)
            await self._lease("renew", {"id": self.id}, {"x-ms-lease-id": self.id})

    async def put(self):
        await self._put(self._any_id() if self.random.randrange(2) else None)

    async def _put(self, presented):
        self._puts += 1
        value = f"{self.number}.{self._puts}"
        headers = {"x-ms-blob-type": "BlockBlob", **({"x-ms-lease-id": presented} if presented else {})}
        await self.recorder.request(self, {"do": "put", "value": value, "id": presented}, understand, "PUT", self.path,
                                    headers=headers, body=contents(value, False))

    async def get(self):
        await self.recorder.request(self, {"do": "get"}, understand_get, "GET", self.path)

    async def release(self):
        name = self._any_id()
        await self._lease("release", {"id": name}, {"x-ms-lease-id": name})

    async def change(self):
        name, proposed = self._any_id(), self._any_id()
        await self._lease("change", {"id": name, "proposed": proposed},
                          {"x-ms-lease-id": name, "x-ms-proposed-lease-id": proposed})

    async def break_(self):
        period = self.random.choice((None, 0, 0, FIXED_S))
        await self._lease("break", {"period": period}, {} if period is None else {"x-ms-lease-break-period": str(period)})

    async def _lease(self, action, request, headers):
        return await self.recorder.request(self, {"do": action, **request}, understand, "PUT", self.path, {"comp": "lease"},
                                           {"x-ms-lease-action": action, **headers})


def lease_id(number):
    return f"{number:08}-0000-4000-8000-000000000000"


def understand(reply):
    if reply.status in (200, 201, 202):
        return (reply.status,), None
    if reply.status not in (409, 412):
        raise ValueError("neither done nor refused")
    return (reply.status, reply.code), None


def understand_get(reply):
    if reply.status != 200:
        raise ValueError("the blob is always there")
    return (200, value_of(reply.body), reply.headers["x-ms-lease-state"]), None
