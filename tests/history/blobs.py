"""A blob as a register with an ETag: Put Blob with and without conditions, Get Blob, Delete Blob."""

NAME = "blob"
SERVICE = "Blob"
LONG = 20_000  # Bytes; long contents are not kept inside the blob's record.


class Model:
    """The state is (value, ETag), or None when there is no blob."""

    initial = None

    def prepare(self, operations):
        self._tags = {}  # Of values put by requests without a reply, as others read them.
        for operation in operations:
            if operation.request["do"] == "get" and operation.outcome and operation.outcome[0] == 200:
                self._tags[operation.outcome[1]] = operation.outcome[2]

    def apply(self, state, operation):
        request = operation.request
        if request["do"] == "get":
            return ((404,) if state is None else (200, *state)), state
        tag = request["if_match"]
        if request["do"] == "delete":
            if state is None:
                return (404,), state
            return ((412,), state) if tag and tag != state[1] else ((202,), None)
        if request["only_new"] and state is not None:
            return (409,), state
        if tag and (state is None or tag != state[1]):
            return (412,), state
        value = request["value"]
        return (201,), (value, operation.made or self._tags.get(value, f"the tag of {value}"))

    def changes(self, operation):
        return operation.request["do"] != "get" and operation.outcome in ((201,), (202,), None)

    def describe(self, state):
        return "no blob" if state is None else f"{state[0]} {state[1]}"

    def ask(self, request):
        condition = f" if {request['if_match']}" if request.get("if_match") else " if new" if request.get("only_new") else ""
        return f"{request['do']} {request.get('value', '')}".strip() + condition


def split(operations):
    return {"": operations}


class Client:
    def __init__(self, group, number, random, connection):
        self.path = f"/{group.place}/{group.name}"
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self.tag = None  # The last that was seen.
        self._puts = 0

    @staticmethod
    async def create(connection, group):
        return  # The container is there, and the blob may be missing.

    async def finish(self):
        return

    async def step(self):
        await self.random.choice((self.put, self.put_matching, self.put_matching, self.put_new, self.get, self.get, self.get,
                                  self.delete))()

    async def put(self):
        await self._put(None, False)

    async def put_matching(self):
        await self._put(self.tag, False)

    async def put_new(self):
        await self._put(None, True)

    async def _put(self, tag, only_new):
        self._puts += 1
        value = f"{self.number}.{self._puts}"
        body = contents(value, self.random.randrange(8) == 0)
        headers = {"x-ms-blob-type": "BlockBlob"}
        if tag:
            headers["If-Match"] = tag
        if only_new:
            headers["If-None-Match"] = "*"
        await self._request({"do": "put", "value": value, "if_match": tag, "only_new": only_new}, plain(201, 409, 412),
                            "PUT", self.path, headers=headers, body=body)

    async def get(self):
        done = await self._request({"do": "get"}, self._understand, "GET", self.path)
        if done and done.outcome[0] == 200:
            self.tag = done.outcome[2]

    async def delete(self):
        tag = self.tag if self.random.randrange(2) else None
        await self._request({"do": "delete", "if_match": tag}, plain(202, 404, 412), "DELETE", self.path,
                            headers={"If-Match": tag} if tag else {})

    async def _request(self, request, understand, *arguments, **more):
        done = await self.recorder.request(self, request, understand, *arguments, **more)
        if done and done.made:
            self.tag = done.made
        return done

    @staticmethod
    def _understand(reply):
        if reply.status == 404:
            return (404,), None
        return (200, value_of(reply.body), reply.headers["etag"]), None


def contents(value, long):
    """Bytes that name their value throughout."""
    line = value.encode() + b"\n"
    return line * (LONG // len(line)) if long else line


def value_of(body):
    """The value that the contents name; ValueError when they are of several."""
    lines = set(body.split(b"\n")[:-1])
    if len(lines) != 1 or not body.endswith(b"\n"):
        raise ValueError("torn contents")
    return lines.pop().decode()


def plain(success, *failures):
    """For replies that say no more than their status and, when it is a success, an ETag."""
    def understand(reply):
        if reply.status not in (success, *failures):
            raise ValueError(f"not one of {success, *failures}")
        return (reply.status,), reply.etag if reply.status == success else None
    return understand
