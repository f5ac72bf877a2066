"""Two directories of Data Lake with a file each as one object, since a rename or a deletion of a directory changes all of it: made,
renamed over each other with and without conditions, deleted with what is in them or only when empty; their files made, put by the
Blob API, appended to, renamed between them and deleted; reads, and lists of everything by both APIs."""

import dataclasses
import json
import urllib.parse
import xml.etree.ElementTree

NAME = "path"
SERVICE = "Lake"
DIRECTORIES = ("a", "b")
FILE = "f"
LINE = 16
ANY = None  # A tag that the model does not know.
NO_SOURCE = 404, "SourcePathNotFound"
NOT_MET = 412, "ConditionNotMet"
EXISTS = {"dfs": (409, "PathAlreadyExists"), "blob": (409, "BlobAlreadyExists")}
MISSING = {"dfs": (404, "PathNotFound"), "blob": (404, "BlobNotFound")}


@dataclasses.dataclass(frozen=True)
class File:
    lines: tuple  # What was put and appended.
    tag: str | None

    def __str__(self):
        return f"{FILE}: {'+'.join(self.lines)} {self.tag or 'of unknown tag'}"


@dataclasses.dataclass(frozen=True)
class Directory:
    tag: str | None
    file: File | None = None

    def __str__(self):
        return f"{self.tag or 'of unknown tag'} with {self.file or 'nothing'}"


def known(thing, tag):
    """With the tag that a reader was told where the model has none."""
    return dataclasses.replace(thing, tag=tag) if thing is not None and thing.tag is ANY else thing


def tags_of(directory):
    return None if directory is None else (directory.tag, directory.file and directory.file.tag)


class Model:
    """The state is a Directory or None for every name."""

    initial = (None,) * len(DIRECTORIES)

    def prepare(self, operations):
        return

    def apply(self, state, operation):
        request = operation.request
        do = getattr(self, f"_{request['do']}")
        if "in" not in request:
            return do(state, operation)
        outcome, after = do(state[request["in"]], operation)
        return outcome, self._with(state, request["in"], after)

    @staticmethod
    def _with(state, where, after):
        return tuple(after if name == where else other for name, other in enumerate(state))

    # --- Of one directory ---

    @staticmethod
    def _make(directory, operation):
        if directory is not None and operation.request["first"]:
            return EXISTS["dfs"], directory
        return (201,), Directory(operation.made, directory.file if directory else None)

    @staticmethod
    def _look(directory, operation):
        if directory is None:
            return MISSING["blob"], directory
        if operation.outcome and operation.outcome[0] == 200:
            directory = known(directory, operation.outcome[1])
        return (200, directory.tag), directory

    @staticmethod
    def _clear(directory, operation):
        if directory is None:
            return MISSING["dfs"], directory
        if directory.file is not None and not operation.request["all"]:
            return (409, "DirectoryNotEmpty"), directory
        return (200,), None

    # --- Of its file ---

    @staticmethod
    def _write(directory, operation):
        """Made empty, or put: with what it is to have."""
        request, file = operation.request, directory.file if directory else None
        if file is not None and request["first"]:
            return EXISTS[request["api"]], directory
        if request["if"] is not None and (file is None or file.tag != request["if"]):
            return NOT_MET, directory
        lines = () if request["value"] is None else (request["value"],)
        return (201,), Directory(directory.tag if directory else ANY, File(lines, operation.made))

    @staticmethod
    def _append(directory, operation):
        request = operation.request
        if directory is None or directory.file is None:
            return MISSING["dfs"], directory
        if request["at"] != len(directory.file.lines):
            return (400, "InvalidFlushPosition"), directory
        file = File((*directory.file.lines, request["value"]), operation.made)
        return (202,), dataclasses.replace(directory, file=file)

    @staticmethod
    def _get(directory, operation):
        if directory is None or directory.file is None:
            return MISSING[operation.request["api"]], directory
        if operation.outcome and operation.outcome[0] == 200:
            directory = dataclasses.replace(directory, file=known(directory.file, operation.outcome[2]))
        return (200, directory.file.lines, directory.file.tag), directory

    @staticmethod
    def _delete(directory, operation):
        if directory is None or directory.file is None:
            return MISSING[operation.request["api"]], directory
        return (200 if operation.request["api"] == "dfs" else 202,), dataclasses.replace(directory, file=None)

    # --- Of both ---

    @staticmethod
    def _list(state, operation):
        if operation.outcome and operation.outcome[0] == 200:
            state = tuple(directory if seen is None or directory is None else
                          dataclasses.replace(known(directory, seen[0]), file=known(directory.file, seen[1]))
                          for directory, seen in zip(state, operation.outcome[1]))
        return (200, tuple(map(tags_of, state))), state

    def _rename(self, state, operation):
        """A directory with its file. One in its way must be empty."""
        request = operation.request
        source, replaced = state[request["from"]], state[request["to"]]
        if source is None:
            return NO_SOURCE, state
        if request["if"] is not None and source.tag != request["if"]:
            return (412, "SourceConditionNotMet"), state
        if replaced is not None and (request["first"] or replaced.file is not None):
            return EXISTS["dfs"], state
        if operation.outcome and operation.outcome[0] == 201:
            source = known(source, operation.outcome[1])
        return (201, source.tag), self._with(self._with(state, request["from"], None), request["to"], source)

    def _move(self, state, operation):
        """A file from one directory to the other, over what is there."""
        request = operation.request
        source, target = state[request["from"]], state[request["to"]]
        if source is None or source.file is None:
            return NO_SOURCE, state
        if target is None:
            return (404, "RenameDestinationParentPathNotFound"), state
        if target.file is not None and request["first"]:
            return EXISTS["dfs"], state
        file = source.file
        if operation.outcome and operation.outcome[0] == 201:
            file = known(file, operation.outcome[1])
        state = self._with(state, request["from"], dataclasses.replace(source, file=None))
        return (201, file.tag), self._with(state, request["to"], dataclasses.replace(target, file=file))

    def changes(self, operation):
        return operation.request["do"] not in ("get", "list", "look") and (operation.outcome is None or operation.outcome[0] < 300)

    def describe(self, state):
        return "{" + ", ".join(f"{name}: {directory or 'none'}" for name, directory in zip(DIRECTORIES, state)) + "}"

    def ask(self, request):
        words = [request["do"]]
        for key, word in (("in", ""), ("from", ""), ("to", "to "), ("value", ""), ("at", "at "), ("if", "if "), ("api", "by ")):
            if request.get(key) is not None:
                words.append(word + (DIRECTORIES[request[key]] if key in ("in", "from", "to") else str(request[key])))
        return " ".join([*words, *(word for word in ("first", "all") if request.get(word))])


def split(operations):
    return {"": operations}


class Client:
    def __init__(self, group, number, random, connection):
        self.file_system, self.root = group.place, group.name
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self.seen = group.shared.setdefault("tags", {"directory": [], "file": []})  # Latest last.
        self._changes = 0

    @staticmethod
    async def create(connection, group):
        await connection.request("PUT", f"/{group.place}/{group.name}", {"resource": "directory"})

    async def finish(self):
        await self.list()

    async def step(self):
        await self.random.choice((self.make, self.make, self.write, self.write, self.write, self.append, self.append, self.get, self.get,
                                  self.get, self.look, self.list, self.list_blobs, self.rename, self.rename, self.rename, self.move,
                                  self.move, self.clear, self.delete))()

    def _any(self):
        return self.random.randrange(len(DIRECTORIES))

    def _path(self, directory, file=""):
        return f"/{self.file_system}/{self.root}/{DIRECTORIES[directory]}{file and '/' + file}"

    def _next(self):
        self._changes += 1
        return f"{self.number}.{self._changes}"

    def _some_tag(self, of):
        """Mostly none."""
        return self.random.choice(self.seen[of][-3:]) if self.seen[of] and self.random.randrange(4) == 0 else None

    def _conditions(self, request, match="if-match"):
        return {**({"if-none-match": "*"} if request["first"] else {}), **({match: f'"{request["if"]}"'} if request.get("if") else {})}

    async def _request(self, request, method, path, query=None, headers=None, body=b"", understand=None):
        done = await self.recorder.request(self, request, understand or understand_change, method, path, query, headers, body)
        tag = done and (done.made or (done.outcome[0] < 300 and len(done.outcome) > 1 and done.outcome[-1]))
        if isinstance(tag, str):
            self.seen["directory" if request["do"] in ("make", "look", "rename") else "file"].append(tag)
        return done

    async def make(self):
        request = {"do": "make", "in": self._any(), "first": self.random.randrange(2) == 0}
        await self._request(request, "PUT", self._path(request["in"]), {"resource": "directory"}, self._conditions(request))

    async def look(self):
        request = {"do": "look", "in": self._any()}
        await self._request(request, "HEAD", self._path(request["in"]), understand=understand_look)

    async def clear(self):
        request = {"do": "clear", "in": self._any(), "all": self.random.randrange(2) == 0}
        await self._request(request, "DELETE", self._path(request["in"]), {"recursive": str(request["all"]).lower()})

    async def write(self):
        first = self.random.randrange(3) == 0
        request = {"do": "write", "in": self._any(), "first": first, "if": None if first else self._some_tag("file"),
                   "api": self.random.choice(("dfs", "blob")), "value": None}
        path, headers = self._path(request["in"], FILE), self._conditions(request)
        if request["api"] == "dfs":
            await self._request(request, "PUT", path, {"resource": "file"}, headers)
        else:
            request["value"] = self._next()
            await self._request(request, "PUT", path, headers={**headers, "x-ms-blob-type": "BlockBlob"}, body=line(request["value"]))

    async def append(self):
        request = {"do": "append", "in": self._any(), "at": self.random.randrange(3), "value": self._next()}
        query = {"action": "append", "position": str(request["at"] * LINE), "flush": "true"}
        await self._request(request, "PATCH", self._path(request["in"], FILE), query, body=line(request["value"]))

    async def get(self):
        request = {"do": "get", "in": self._any(), "api": self.random.choice(("dfs", "blob"))}
        accept = {"accept": "application/json" if request["api"] == "dfs" else "application/xml"}
        await self._request(request, "GET", self._path(request["in"], FILE), headers=accept, understand=understand_get)

    async def delete(self):
        request = {"do": "delete", "in": self._any(), "api": self.random.choice(("dfs", "blob"))}
        query = {"recursive": "false"} if request["api"] == "dfs" else None
        await self._request(request, "DELETE", self._path(request["in"], FILE), query)

    async def rename(self):
        await self._rename("rename", "", self._some_tag("directory"))

    async def move(self):
        await self._rename("move", FILE, None)

    async def _rename(self, do, file, tag):
        source = self._any()
        request = {"do": do, "from": source, "to": 1 - source, "first": self.random.randrange(4) == 0, "if": tag}
        headers = {"x-ms-rename-source": urllib.parse.quote(self._path(source, file)),
                   **self._conditions(request, "x-ms-source-if-match")}
        await self._request(request, "PUT", self._path(1 - source, file), {"mode": "legacy"}, headers, understand=understand_rename)

    async def list(self):
        query = {"resource": "filesystem", "recursive": "true", "directory": self.root}
        await self.recorder.request(self, {"do": "list", "api": "dfs"}, self._understand_paths, "GET", f"/{self.file_system}", query)

    async def list_blobs(self):
        query = {"restype": "container", "comp": "list", "prefix": f"{self.root}/"}
        await self.recorder.request(self, {"do": "list", "api": "blob"}, self._understand_blobs, "GET", f"/{self.file_system}", query)

    def _understand_paths(self, reply):
        if reply.status != 200 or "x-ms-continuation" in reply.headers:
            raise ValueError("not one whole page")
        return self._listed({path["name"]: path["etag"] for path in json.loads(reply.body)["paths"]})

    def _understand_blobs(self, reply):
        root = xml.etree.ElementTree.fromstring(reply.body)
        if reply.status != 200 or root.findtext("NextMarker"):
            raise ValueError("not one whole page")
        return self._listed({blob.findtext("Name"): blob.findtext("Properties/Etag") for blob in root.iter("Blob")})

    def _listed(self, tags):
        tags = {name.removeprefix(f"{self.root}/"): bare(tag) for name, tag in tags.items()}
        listed = tuple((tags.pop(name), tags.pop(f"{name}/{FILE}", None)) if name in tags else None for name in DIRECTORIES)
        if tags:
            raise ValueError(f"{sorted(tags)} without their directories")
        return (200, listed), None


def bare(tag):
    return tag.strip('"')


def line(value):
    return value.ljust(LINE - 1).encode() + b"\n"


def understand_failure(reply):
    if reply.status not in (400, 404, 409, 412):
        raise ValueError("neither done nor refused")
    return (reply.status, reply.code), None


def understand_change(reply):
    if reply.status >= 300:
        return understand_failure(reply)
    return (reply.status,), bare(reply.etag) if reply.etag else None


def understand_rename(reply):
    return ((201, bare(reply.etag)), None) if reply.status == 201 else understand_failure(reply)


def understand_look(reply):
    return ((200, bare(reply.etag)), None) if reply.status == 200 else understand_failure(reply)


def understand_get(reply):
    if reply.status != 200:
        return understand_failure(reply)
    lines = tuple(text.strip() for text in reply.body.decode().split("\n")[:-1])
    return (200, lines, bare(reply.etag)), None
