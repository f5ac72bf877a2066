"""Blobs with a tag, and what Find Blobs by Tags shows of all of them at once: never one that is not there, never one too few."""

import re

NAME = "tags"
SERVICE = "Blob"
BLOBS = 3
NO_TAG = ""


class Model:
    """The state is the value of the tag of every blob: NO_TAG for one without, None where there is no blob."""

    initial = (None,) * BLOBS

    def prepare(self, operations):
        return  # Values are the clients'; the server chooses nothing.

    def apply(self, state, operation):
        request = operation.request
        if request["do"] == "find":
            return (200, tuple((blob, value) for blob, value in enumerate(state) if value)), state
        blob = request["blob"]
        if request["do"] == "put":
            return (201,), replaced(state, blob, request["value"])
        if state[blob] is None:
            return (404,), state
        return ((204,), replaced(state, blob, request["value"])) if request["do"] == "set" else ((202,), replaced(state, blob, None))

    def changes(self, operation):
        return operation.request["do"] != "find" and operation.outcome in ((201,), (202,), (204,), None)

    def describe(self, state):
        return "{" + ", ".join(f"{blob}: {value or 'no tag'}" for blob, value in enumerate(state) if value is not None) + "}"

    def ask(self, request):
        return f"{request['do']} {request.get('blob', '')} {request.get('value', '')}".strip()


def replaced(state, blob, value):
    return (*state[:blob], value, *state[blob + 1:])


def split(operations):
    return {"": operations}


class Client:
    def __init__(self, group, number, random, connection):
        self.place, self.name = group.place, group.name
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self._values = 0

    @staticmethod
    async def create(connection, group):
        return  # The container is there, and the blobs may be missing.

    async def finish(self):
        """What was lost from the index stays lost, so this look finds it."""
        await self.find()

    async def step(self):
        await self.random.choice((self.put, self.put, self.put_without, self.set, self.set, self.delete, self.find, self.find,
                                  self.find))()

    def _next_value(self):
        self._values += 1
        return f"{self.number}.{self._values}"

    async def put(self):
        await self._put(self._next_value())

    async def put_without(self):
        await self._put(NO_TAG)

    async def _put(self, value):
        headers = {"x-ms-blob-type": "BlockBlob", **({"x-ms-tags": f"{self.name}={value}"} if value else {})}
        await self._change({"do": "put", "value": value}, (201,), "PUT", headers=headers, body=b"x")

    async def set(self):
        value = self._next_value()
        body = f"<Tags><TagSet><Tag><Key>{self.name}</Key><Value>{value}</Value></Tag></TagSet></Tags>".encode()
        await self._change({"do": "set", "value": value}, (204, 404), "PUT", query={"comp": "tags"}, body=body)

    async def delete(self):
        await self._change({"do": "delete"}, (202, 404), "DELETE")

    async def _change(self, request, statuses, method, **more):
        def understand(reply):
            if reply.status not in statuses:
                raise ValueError(f"not one of {statuses}")
            return (reply.status,), None
        blob = self.random.randrange(BLOBS)
        await self.recorder.request(self, {**request, "blob": blob}, understand, method, f"/{self.place}/{self.name}.{blob}", **more)

    async def find(self):
        query = {"comp": "blobs", "where": f"\"{self.name}\">='0'"}
        await self.recorder.request(self, {"do": "find"}, self._understand, "GET", "/", query)

    def _understand(self, reply):
        if reply.status != 200 or b"<NextMarker>" in reply.body:
            raise ValueError("not one whole page")
        found = re.findall(rb"<Name>[^<]*\.(\d+)</Name>.*?<Value>([^<]*)</Value>", reply.body)
        return (200, tuple(sorted((int(blob), value.decode()) for blob, value in found))), None
