"""A partition of a table as one object: every order must explain single entities, transactions on several of them, and queries
that see them all at once (strict serializability)."""

import json

import changeset

NAME = "partition"
SERVICE = "Table"
ROWS = 4
ACCEPT = "application/json;odata=minimalmetadata"
METHODS = {"insert": "POST", "replace": "PUT", "merge": "MERGE", "delete": "DELETE"}


class Model:
    """The state is one (A, B, ETag) or None for every row."""

    initial = (None,) * ROWS

    def prepare(self, operations):
        self._tags = {}  # Of entities written by requests without a reply, as others read them.
        for operation in operations:
            if operation.outcome is None or operation.outcome[0] != 200:
                continue
            if operation.request["do"] == "get":
                self._learn(operation.request["row"], operation.outcome[1])
            else:
                for row, entity in enumerate(operation.outcome[1]):
                    self._learn(row, entity)

    def _learn(self, row, entity):
        if entity is not None:
            self._tags[row, entity[0], entity[1]] = entity[2]

    def apply(self, state, operation):
        request = operation.request
        if request["do"] == "query":
            return (200, state), state
        if request["do"] == "get":
            entity = state[request["row"]]
            return ((404,) if entity is None else (200, entity)), state
        after, tags = list(state), operation.made or [None] * len(request["changes"])
        for index, (change, tag) in enumerate(zip(request["changes"], tags)):
            status, entity = self._decide(state[change["row"]], change, tag)
            if status != 204:
                return (status, index), state
            after[change["row"]] = entity
        return (204,), tuple(after)

    def _decide(self, entity, change, tag):
        verb, wanted = change["verb"], change["if_match"]
        if verb == "insert" and entity is not None:
            return 409, None
        if wanted is not None:
            if entity is None:
                return 404, None
            if wanted not in ("*", entity[2]):
                return 412, None
        if verb == "delete":
            return 204, None
        first, second = change["a"], change["b"]
        if verb == "merge" and entity is not None:
            first, second = first or entity[0], second or entity[1]
        known = tag or self._tags.get((change["row"], first, second), f"the tag of {first} {second}")
        return 204, (first, second, known)

    def changes(self, operation):
        return operation.request["do"] == "change" and operation.outcome in ((204,), None)

    def describe(self, state):
        rows = [f"{row}: {entity[0]} {entity[1]} {entity[2]}" for row, entity in enumerate(state) if entity is not None]
        return "{" + ", ".join(rows) + "}"

    def ask(self, request):
        if request["do"] != "change":
            return f"{request['do']} {request.get('row', '')}".strip()
        return "{" + ", ".join(self._ask_change(change) for change in request["changes"]) + "}"

    @staticmethod
    def _ask_change(change):
        values = [change["a"], change["b"]] if change["verb"] != "delete" else []
        condition = ["if", change["if_match"]] if change["if_match"] else []
        return " ".join([f"{change['row']}: {change['verb']}", *filter(None, values), *condition])


def split(operations):
    return {"": operations}


class Client:
    def __init__(self, group, number, random, connection):
        self.table, self.partition = group.place, group.name
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self.tags = {}  # The last that was seen of every row.
        self._changes = 0

    @staticmethod
    async def create(connection, group):
        return  # The table is there, and the partition begins empty.

    async def finish(self):
        return

    async def step(self):
        await self.random.choice((self.change, self.change, self.transact, self.transact, self.get, self.query, self.query))()

    async def change(self):
        change = self._change(self.random.randrange(ROWS))
        method, path, headers, body = self._encode(change)
        await self._request([change], self._understand_one, method, path, headers=headers, body=body)

    async def transact(self):
        rows = self.random.sample(range(ROWS), self.random.randint(2, ROWS))
        changes = [self._change(row) for row in rows]
        await self._request(changes, self._understand_many, "POST", "/$batch", headers=changeset.HEADERS,
                            body=changeset.encode([self._encode(change) for change in changes]))

    async def _request(self, changes, understand, *arguments, **more):
        done = await self.recorder.request(self, {"do": "change", "changes": changes}, understand, *arguments, **more)
        if done and done.made:
            self.tags.update((change["row"], tag) for change, tag in zip(changes, done.made) if tag)

    async def get(self):
        row = self.random.randrange(ROWS)
        done = await self.recorder.request(self, {"do": "get", "row": row}, self._understand_get, "GET", self._path(row),
                                           headers={"Accept": ACCEPT})
        if done and done.outcome[0] == 200:
            self.tags[row] = done.outcome[1][2]

    async def query(self):
        done = await self.recorder.request(self, {"do": "query"}, self._understand_query, "GET", f"/{self.table}()",
                                           {"$filter": f"PartitionKey eq '{self.partition}'"}, {"Accept": ACCEPT})
        if done:
            self.tags = {row: entity[2] for row, entity in enumerate(done.outcome[1]) if entity}

    def _change(self, row):
        """Something to do to a row: what makes it grow is more likely than what makes it go."""
        verb = self.random.choice(("insert", "replace", "replace", "merge", "merge", "delete"))
        self._changes += 1
        value = f"{self.number}.{self._changes}"
        both = verb != "merge"
        first = both or self.random.randrange(2)
        condition = None
        if verb == "delete" or (verb != "insert" and self.random.randrange(2)):
            condition = self.tags.get(row, "*") if self.random.randrange(4) else "*"
        return {"verb": verb, "row": row, "if_match": condition, "a": f"a{value}" if first else None,
                "b": f"b{value}" if both or not first else None}

    def _encode(self, change):
        headers = {"Accept": ACCEPT}
        if change["if_match"]:
            headers["If-Match"] = change["if_match"]
        if change["verb"] == "delete":
            return "DELETE", self._path(change["row"]), headers, b""
        entity = {name: change[name.lower()] for name in ("A", "B") if change[name.lower()]}
        headers.update({"Content-Type": "application/json", "Prefer": "return-no-content"})
        path = self._path(change["row"])
        if change["verb"] == "insert":
            entity.update(PartitionKey=self.partition, RowKey=f"row{change['row']}")
            path = f"/{self.table}"
        return METHODS[change["verb"]], path, headers, json.dumps(entity).encode()

    def _path(self, row):
        return f"/{self.table}(PartitionKey='{self.partition}',RowKey='row{row}')"

    @staticmethod
    def _understand_one(reply):
        if reply.status == 204:
            return (204,), [reply.etag]
        if reply.status not in (404, 409, 412):
            raise ValueError("neither done nor refused")
        return (reply.status, 0), None

    @staticmethod
    def _understand_many(reply):
        parts = changeset.replies(reply.body)
        if all(part.status == 204 for part in parts):
            return (204,), [part.etag for part in parts]
        status = parts[0].status
        if status not in (404, 409, 412):
            raise ValueError("neither done nor refused")
        start = parts[0].body.index(b"{")
        message = json.JSONDecoder().raw_decode(parts[0].body[start:].decode())[0]["odata.error"]["message"]["value"]
        return (status, int(message.split(":")[0])), None

    @staticmethod
    def _understand_get(reply):
        if reply.status == 404:
            return (404,), None
        entity = json.loads(reply.body)
        return (200, (entity.get("A"), entity.get("B"), entity["odata.etag"])), None

    @staticmethod
    def _understand_query(reply):
        rows = [None] * ROWS
        for entity in json.loads(reply.body)["value"]:
            rows[int(entity["RowKey"].removeprefix("row"))] = (entity.get("A"), entity.get("B"), entity["odata.etag"])
        return (200, tuple(rows)), None
