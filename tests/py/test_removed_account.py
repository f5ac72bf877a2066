"""An account is taken away while bodies of its requests are on their way: each gets an answer, and the server lives."""

import asyncio
import json
import pathlib
import tempfile
import unittest

from client import Connection, Disconnected
from harness import Server

KEYS = {"kept": "a2VwdA==", "taken": "dGFrZW4="}
JSON = {"content-type": "application/json", "accept": "application/json;odata=nometadata"}
BLOCK_BLOB = {"x-ms-blob-type": "BlockBlob"}
ACL = b"<SignedIdentifiers></SignedIdentifiers>"
MESSAGE = b"<QueueMessage><MessageText>x</MessageText></QueueMessage>"
BATCH = {"content-type": "multipart/mixed; boundary=b"}
BATCHED = b"--b\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nDELETE /taken/box/b HTTP/1.1\r\n\r\n\r\n--b--\r\n"
PROPERTIES = b"<StorageServiceProperties></StorageServiceProperties>"

# What is there before, and then a request with a body for each way in which bodies are read.
BEFORE = [
    ("Blob", "PUT", "/box", {"restype": "container"}, {}, b""),
    ("Blob", "PUT", "/box/b", {}, BLOCK_BLOB, b"b"),
    ("Blob", "PUT", "/box/page", {}, {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512"}, b""),
    ("Blob", "PUT", "/box/log", {}, {"x-ms-blob-type": "AppendBlob"}, b""),
    ("Queue", "PUT", "/line", {}, {}, b""),
    ("Table", "POST", "/Tables", {}, JSON, b'{"TableName":"rows"}'),
    ("File", "PUT", "/share", {"restype": "share"}, {}, b""),
    ("File", "PUT", "/share/f", {}, {"x-ms-type": "file", "x-ms-content-length": "512"}, b""),
]
LATE = [
    ("Blob", "PUT", "/box/small", {}, BLOCK_BLOB, b"x" * 1000),
    ("Blob", "PUT", "/box/large", {}, BLOCK_BLOB, b"x" * 300_000),
    ("Blob", "PUT", "/box/b", {"comp": "block", "blockid": "MDAw"}, {}, b"x" * 100_000),
    ("Blob", "PUT", "/box/b", {"comp": "blocklist"}, {}, b"<BlockList></BlockList>"),
    ("Blob", "PUT", "/box/page", {"comp": "page"}, {"x-ms-range": "bytes=0-511", "x-ms-page-write": "update"}, b"x" * 512),
    ("Blob", "PUT", "/box/log", {"comp": "appendblock"}, {}, b"x" * 1000),
    ("Blob", "PUT", "/box", {"restype": "container", "comp": "acl"}, {}, ACL),
    ("Blob", "PUT", "/box/b", {"comp": "tags"}, {}, b"<Tags><TagSet></TagSet></Tags>"),
    ("Blob", "PUT", "/", {"restype": "service", "comp": "properties"}, {}, PROPERTIES),
    ("Blob", "POST", "/", {"comp": "batch"}, BATCH, BATCHED),
    ("Queue", "POST", "/line/messages", {}, {}, MESSAGE),
    ("Queue", "PUT", "/line", {"comp": "acl"}, {}, ACL),
    ("Table", "POST", "/rows", {}, JSON, b'{"PartitionKey":"p","RowKey":"r"}'),
    ("Table", "POST", "/Tables", {}, JSON, b'{"TableName":"others"}'),
    ("File", "PUT", "/share/f", {"comp": "range"}, {"x-ms-range": "bytes=0-511", "x-ms-write": "update"}, b"x" * 512),
    ("File", "PUT", "/share", {"restype": "share", "comp": "acl"}, {}, ACL),
]


class RemovedAccount(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kyanite-removed-")
        self.addCleanup(folder.cleanup)
        self.config = pathlib.Path(folder.name, "accounts.json")
        self.name_accounts("kept", "taken")
        self.server = Server("--config", str(self.config))
        self.addCleanup(self.server.stop)  # Which fails if it has ended by itself.

    def name_accounts(self, *names):
        """Whole or not at all, as editors do it."""
        fresh = self.config.with_suffix(".new")
        fresh.write_text(json.dumps({"accounts": [{"name": name, "keys": [KEYS[name]]} for name in names]}))
        fresh.rename(self.config)

    def connect(self, service, account):
        return Connection.to(self.server.url(service), account, KEYS[account], table=service == "Table")

    async def send_head(self, service, method, path, query, headers, body):
        """The head and all of the body but its last byte."""
        connection = self.connect(service, "taken")
        head = connection.head(method, path, query, headers, body)
        connection._reader, connection._writer = await asyncio.open_connection(connection._host, connection._port)
        connection._writer.write(head + body[:-1])
        await connection._writer.drain()
        return connection

    async def until_it_is_gone(self):
        async with asyncio.timeout(60):
            connection = self.connect("Blob", "taken")
            while (await connection.request("GET", "/box/b")).status == 200:
                await asyncio.sleep(0.05)
            connection.close()

    async def run_requests(self):
        for service, *request in BEFORE:
            connection = self.connect(service, "taken")
            reply = await connection.request(*request)
            self.assertIn(reply.status, (201, 204), (request, reply))
            connection.close()
        connections = [await self.send_head(*request) for request in LATE]
        self.name_accounts("kept")
        await self.until_it_is_gone()
        for connection, (service, method, path, query, _, body) in zip(connections, LATE):
            with self.subTest(service=service, method=method, path=path, query=query):
                connection._writer.write(body[-1:])
                try:
                    reply = await asyncio.wait_for(connection._reply(method), 60)
                except EOFError as error:
                    raise Disconnected(path) from error
                # What it was allowed to begin it may finish, or is told that there is no such account.
                self.assertIn(reply.status, (200, 201, 202, 204, 403, 404), reply)
                connection.close()
        kept = self.connect("Blob", "kept")
        self.assertEqual((await kept.request("PUT", "/box", {"restype": "container"})).status, 201)
        kept.close()

    def test_bodies_that_come_after_it_is_gone(self):
        asyncio.run(self.run_requests())
        self.assertIsNone(self.server.process.poll())


if __name__ == "__main__":
    unittest.main()
