"""kyanite check: finds damage of every kind that is planted at random, and says whose it is. Changes nothing, and finds nothing where
nothing is wrong, also while a server works."""

import asyncio
import contextlib
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from client import Connection
from harness import ACCOUNT, BINARY, KEY, Server

SEED = int(os.environ.get("KYANITE_SEED", "7"))
DAMAGES = 100
KIB = 1024
DAMAGED = 2  # exit code


def check(location, *flags):
    done = subprocess.run([BINARY, "check", "-l", str(location), *flags], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def state_of(directory):
    """Every file with its bytes and its times."""
    return {path: (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns)
            for path in sorted(directory.rglob("*")) if path.is_file()}


class Filled:
    """A data directory with objects of all services, of which each content is found again in the files."""

    def __init__(self, location, seed):
        self.location, self.random = pathlib.Path(location), random.Random(seed)
        self.contents = {}  # by the object in words

    def bytes(self, length):
        return self.random.randbytes(length)

    async def fill(self, server, generation):
        def to(service, **more):
            return Connection.to(server.url(service), ACCOUNT, KEY, **more)

        async def do(connection, method, path, status, query=None, headers=None, body=b""):
            reply = await connection.request(method, path, query, headers, body)
            assert reply.status == status, (method, path, reply)

        blobs, queues, tables, files = to("Blob"), to("Queue"), to("Table", table=True), to("File")
        if generation == 0:
            await do(blobs, "PUT", "/box", 201, {"restype": "container"})
            await do(queues, "PUT", "/jobs", 201)
            await do(tables, "POST", "/Tables", 204, None, {"content-type": "application/json", "accept": "application/json",
                                                           "prefer": "return-no-content"}, b'{"TableName":"People"}')
            await do(files, "PUT", "/share", 201, {"restype": "share"})
            await do(files, "PUT", "/share/Folder", 201, {"restype": "directory"})
        for number in range(40):
            name = f"small-{generation}-{number:03}"
            content = self.bytes(self.random.randrange(500, 6000))
            await do(blobs, "PUT", f"/box/{name}", 201, None, {"x-ms-blob-type": "BlockBlob"}, content)
            self.contents[f"blob {ACCOUNT}/box/{name}"] = content
        for number in range(8):
            name = f"large-{generation}-{number}"
            content = self.bytes(self.random.randrange(20 * KIB, 700 * KIB))
            await do(blobs, "PUT", f"/box/{name}", 201, None, {"x-ms-blob-type": "BlockBlob"}, content)
            self.contents[f"blob {ACCOUNT}/box/{name}"] = content
        for number in range(3):
            name = f"File {generation} {number}"
            content = self.bytes(100 * KIB)
            await do(files, "PUT", f"/share/Folder/{name}", 201, None, {"x-ms-type": "file", "x-ms-content-length": str(len(content))})
            await do(files, "PUT", f"/share/Folder/{name}", 201, {"comp": "range"},
                     {"x-ms-write": "update", "x-ms-range": f"bytes=0-{len(content) - 1}"}, content)
            self.contents[f"file {ACCOUNT}/share/Folder/{name}"] = content
        for number in range(20):
            key, text = f"p{generation}", self.bytes(800).hex()
            body = f'{{"PartitionKey":"{key}","RowKey":"{number}","text":"{text}"}}'.encode()
            await do(tables, "POST", "/People", 204, None, {"content-type": "application/json", "accept": "application/json",
                                                            "prefer": "return-no-content"}, body)
            self.contents[f"entity PartitionKey '{key}', RowKey '{number}' of table {ACCOUNT}/people"] = text.encode()
            text = self.bytes(700).hex()
            reply = await queues.request("POST", "/jobs/messages", None, None,
                                         f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>".encode())
            identity = re.search(rb"<MessageId>(.*?)</MessageId>", reply.body)[1].decode()
            self.contents[f"message {identity} of queue {ACCOUNT}/jobs"] = text.encode()
        for connection in (blobs, queues, tables, files):
            connection.close()

    def find(self, pattern):
        """(file, first byte, length, object) of what lies in one piece in files of this name."""
        places = []
        for path in sorted(self.location.glob(pattern)):
            held = path.read_bytes()
            for thing, content in self.contents.items():
                at = 0
                while at < len(content):
                    probe = content[at:at + 64]
                    found = held.find(probe) if len(probe) == 64 else -1
                    if found >= 0:
                        length = 64
                        while length < min(len(content) - at, 256 * KIB - 1) and held[found + length] == content[at + length]:
                            length += 1
                        places.append((path, found, length, thing))
                    at += 256 * KIB
        return places


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="kyanite-check-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.location = cls.scratch / "data"
        cls.filled = Filled(cls.location, SEED)
        server = Server(location=str(cls.location))
        asyncio.run(cls.filled.fill(server, 0))
        # A check of a running server has its records written to tables.
        code, text = check(cls.location)
        assert code == 0, text
        asyncio.run(cls.filled.fill(server, 1))
        server.kill()
        cls.random = random.Random(SEED)
        cls.in_extents = cls.filled.find("extents/*.ext")
        cls.in_tables = cls.filled.find("records/*.sst")
        cls.in_logs = cls.filled.find("records/*.log")

    def test_what_is_whole_is_found_whole_and_left_as_it_is(self):
        before = state_of(self.location)
        code, text = check(self.location)
        self.assertEqual(code, 0, text)
        self.assertIn(" 0 damages.", text)
        self.assertEqual(state_of(self.location), before)

    @contextlib.contextmanager
    def spoilt(self, path, spoil):
        saved = path.read_bytes()
        times = path.stat()
        spoil(path)
        try:
            yield
        finally:
            path.write_bytes(saved)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    @staticmethod
    def flip(at, bit):
        def spoil(path):
            with path.open("r+b") as file:
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ (1 << bit)]))
        return spoil

    def covers(self, text, thing):
        """Whether the report names the object, or all of what it is in, or what lies around it."""
        lines = [line for line in text.splitlines() if line.startswith("damaged: ")]
        if any(f"damaged: {thing}: " in line for line in lines):
            return True
        owner = {"blob": f"container {ACCOUNT}/box", "file": f"share {ACCOUNT}/share", "message": f"queue {ACCOUNT}/jobs",
                 "entity": f"table {ACCOUNT}/people"}[thing.split(" ")[0]]
        whole = (f"damaged: everything in {owner}", f"damaged: the names of everything in account {ACCOUNT}", "damaged: everything in the data directory")
        if any(line.startswith(whole) for line in lines):
            return True
        around = re.findall(r"^damaged: everything between (.*) and (.*?): ", text, re.MULTILINE)
        return any(first <= thing <= last for first, last in around)

    def damage_of(self, kind):
        """Plants one. What it is called, the file, what spoils it, and whose it is if that is known."""
        choose = self.random
        if kind in ("extent", "table", "log"):
            places = {"extent": self.in_extents, "table": self.in_tables, "log": self.in_logs}[kind]
            path, begin, length, thing = choose.choice(places)
            at = begin + choose.randrange(length)
            return f"a bit of {path.name} at {at}", path, self.flip(at, choose.randrange(8)), [thing]
        if kind == "extent cut":
            path, begin, length, thing = choose.choice(self.in_extents)
            at = begin + choose.randrange(length)
            lost = [other for where, first, size, other in self.in_extents if where == path and first + size > at]
            return f"{path.name} cut at {at}", path, lambda file: os.truncate(file, at), lost
        if kind == "extent missing":
            path = choose.choice(self.in_extents)[0]
            return f"{path.name} missing", path, pathlib.Path.unlink, [thing for where, _, _, thing in self.in_extents if where == path]
        if kind in ("table cut", "table missing", "table anywhere"):
            path = choose.choice(self.in_tables)[0]
            size = path.stat().st_size
            lost = [thing for where, _, _, thing in self.in_tables if where == path]
            if kind == "table missing":
                return f"{path.name} missing", path, pathlib.Path.unlink, lost
            at = choose.randrange(size)
            if kind == "table cut":
                return f"{path.name} cut at {at}", path, lambda file: os.truncate(file, at), lost
            return f"a bit of {path.name} at {at}", path, self.flip(at, choose.randrange(8)), []
        path = choose.choice(self.in_logs)[0]
        if kind == "log missing":
            return f"{path.name} missing", path, pathlib.Path.unlink, []
        if kind == "log cut":
            at = choose.randrange(len(path.read_bytes().rstrip(b"\0")))
            return f"{path.name} cut at {at}", path, lambda file: os.truncate(file, at), []
        name = choose.choice(("IDENTITY", "LOGS", "records/CURRENT"))
        path = self.location / name
        at = choose.randrange(len(path.read_bytes()))
        # Not the one that tells large letters from small ones, which mean the same.
        return f"a bit of {name} at {at}", path, self.flip(at, choose.randrange(5)), []

    def test_each_damage_is_found_and_named(self):
        kinds = ["extent"] * 30 + ["table"] * 25 + ["log"] * 15 + ["extent cut"] * 6 + ["extent missing"] * 2 + ["table cut"] * 5
        kinds += ["table missing"] * 3 + ["table anywhere"] * 6 + ["log cut"] * 3 + ["log missing"] * 2 + ["witness"] * 3
        self.assertEqual(len(kinds), DAMAGES)
        for places in (self.in_extents, self.in_tables, self.in_logs):
            self.assertGreater(len({thing for *_, thing in places}), 10)
        by_name = 0
        for number, kind in enumerate(kinds):
            what, path, spoil, lost = self.damage_of(kind)
            with self.subTest(number=number, kind=kind, what=what), self.spoilt(path, spoil):
                code, text = check(self.location)
                if kind == "witness":
                    self.assertIn(code, (1, DAMAGED), text)
                    continue
                self.assertEqual(code, DAMAGED, text)
                if kind in ("log cut", "log missing"):
                    self.assertIn(path.name, text)
                for thing in lost:
                    self.assertTrue(self.covers(text, thing), f"{thing} is not named:\n{text[:3000]}")
                    by_name += f"damaged: {thing}: " in text
        self.assertGreater(by_name, 60)
        code, text = check(self.location)
        self.assertEqual(code, 0, text)


class WhileServing(unittest.TestCase):
    def test_under_load_and_with_damage(self):
        server = Server()
        self.addCleanup(server.stop)
        filled = Filled(server.location, SEED + 1)
        asyncio.run(filled.fill(server, 0))

        async def load_and_check():
            load = asyncio.create_task(filled.fill(server, 1))
            results = [await asyncio.to_thread(check, server.location) for _ in range(3)]
            await load
            return results

        for code, text in asyncio.run(load_and_check()):
            self.assertEqual(code, 0, text)
        server.until_unpinned()
        path, begin, length, thing = filled.find("extents/*.ext")[0]
        Planted.flip(begin + length // 2, 3)(path)
        code, text = check(server.location, "--rate", "10")
        self.assertEqual(code, DAMAGED, text)
        self.assertIn(f"damaged: {thing}: ", text)
        Planted.flip(begin + length // 2, 3)(path)
        self.assertEqual(check(server.location)[0], 0)

    def test_what_cannot_be_checked_is_refused(self):
        with tempfile.TemporaryDirectory() as empty:
            code, text = check(empty)
            self.assertEqual(code, 1)
            self.assertIn("was not made by Kyanite", text)
            self.assertEqual(list(pathlib.Path(empty).iterdir()), [])
