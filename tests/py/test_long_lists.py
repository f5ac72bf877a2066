"""Pages that are written and sent in parts: whole, left by their clients, and cut off by the server's end."""

import asyncio
import re
import shutil
import socket
import tempfile
import unittest
import urllib.parse
import urllib.request

from client import Connection
from harness import ACCOUNT, KEY, Server

BLOBS = 400
METADATA = {f"x-ms-meta-m{i}": "v" * 1900 for i in range(4)}  # So that a page is 3 MB.
PAGE = {"restype": "container", "comp": "list", "include": "metadata"}


async def fill(url):
    connection = Connection.to(url, ACCOUNT, KEY)
    await connection.request("PUT", "/long", {"restype": "container"}, {"x-ms-blob-public-access": "container"})
    for i in range(BLOBS):
        await connection.request("PUT", f"/long/b{i:04}", {}, {"x-ms-blob-type": "BlockBlob", **METADATA})
    connection.close()


class LongLists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)  # Fails the test unless the end is an orderly one.
        asyncio.run(fill(cls.server.blob_url))
        cls.url = f"{cls.server.blob_url}/long?{urllib.parse.urlencode(PAGE)}"
        where = urllib.parse.urlsplit(cls.url)
        cls.address = (where.hostname, where.port)
        cls.request = f"GET {where.path}?{where.query} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode()

    def page(self, **more):
        with urllib.request.urlopen(f"{self.url}&{urllib.parse.urlencode(more)}") as reply:
            return reply.headers, reply.read().decode("utf-8-sig")

    def ask(self):
        client = socket.create_connection(self.address)
        client.sendall(self.request)
        return client

    def test_a_long_page_comes_in_chunks_and_is_what_short_ones_are_together(self):
        headers, whole = self.page()
        self.assertEqual(headers["Transfer-Encoding"], "chunked")
        self.assertIsNone(headers["Content-Length"])
        self.assertTrue(whole.endswith("</EnumerationResults>"))
        entry = re.compile(r"<Blob>.*?</Blob>")
        parts, marker = [], ""
        while True:
            headers, text = self.page(maxresults=7, marker=marker)
            self.assertEqual(int(headers["Content-Length"]), len(text.encode("utf-8-sig")))
            parts += entry.findall(text)
            marker = re.search(r"<NextMarker>(.*)</NextMarker>", text)
            if not marker:
                break
            marker = marker[1]
        self.assertEqual(len(parts), BLOBS)
        self.assertEqual(entry.findall(whole), parts)

    def test_clients_that_leave_are_no_matter(self):
        for i in range(90):
            client = self.ask()
            if i % 3:
                client.recv(1000)
            if i % 3 == 2:
                client.recv(300_000)
            client.close()
        self.assertEqual(self.page()[1].count("<Blob>"), BLOBS)

    def test_what_was_sent_is_counted(self):
        def sent():
            with urllib.request.urlopen(self.server.admin_url.rstrip("/") + "/metrics") as reply:
                found = re.search(r'kyanite_reply_body_bytes_total\{.*operation="Container_ListBlobs"\} (\d+)',
                                  reply.read().decode())
            return int(found[1]) if found else 0

        before = sent()
        _, whole = self.page()
        self.assertEqual(sent() - before, len(whole.encode("utf-8-sig")))


ENTRY = re.compile(r"<Blob>.*?</Blob>|<BlobPrefix>.*?</BlobPrefix>")


async def fill_with_all_kinds(url):
    """Folders, snapshots, blobs that are only blocks, long and short entries: more than one part of each."""
    connection = Connection.to(url, ACCOUNT, KEY)
    await connection.request("PUT", "/kinds", {"restype": "container"}, {"x-ms-blob-public-access": "container"})
    for i in range(800):
        blob = f"/kinds/{i % 130:03}/b{i:04}"
        await connection.request("PUT", blob, {}, {"x-ms-blob-type": "BlockBlob", **(METADATA if i % 7 == 0 else {})})
        for _ in range(i % 3 if i % 5 == 0 else 0):
            await connection.request("PUT", blob, {"comp": "snapshot"})
        if i % 2 == 0:
            await connection.request("PUT", blob + "-blocks", {"comp": "block", "blockid": "AAAA"}, {}, b"content")
    connection.close()


class Parts(unittest.TestCase):
    """A page is the same in however many parts it is written, whether all is in memory or on the disk."""

    def test_pages_of_all_kinds(self):
        location = tempfile.mkdtemp(prefix="kyanite-test-")
        self.addCleanup(shutil.rmtree, location)
        server = Server(location=location)
        try:
            asyncio.run(fill_with_all_kinds(server.blob_url))
            warm = self.pages(server, compare=True)
        finally:
            server.stop()
        server = Server(location=location)
        try:
            self.assertEqual(self.pages(server), warm)
        finally:
            server.stop()

    def pages(self, server, compare=False):
        everything = {"include": "snapshots,metadata,uncommittedblobs"}
        found = []
        for query in ({}, {"delimiter": "/"}, {"delimiter": "b"}, {"include": "snapshots"}, everything,
                      {**everything, "prefix": "0"}, {**everything, "delimiter": "/", "prefix": "007/"}):
            _, whole = self.page(server, query)
            entries = ENTRY.findall(whole)
            self.assertEqual(len(set(entries)), len(entries))
            if compare:
                with self.subTest(query):
                    self.assertEqual(entries, self.in_short_pages(server, query))
            found.append(entries)
        self.assertEqual([len(entries) for entries in found[:5]], [800, 130, 130, 959, 1359])
        return found

    def in_short_pages(self, server, query):
        entries, marker = [], ""
        while True:
            marker, text = self.page(server, {**query, "maxresults": 23, "marker": marker})
            entries += ENTRY.findall(text)
            if not marker:
                return entries

    def page(self, server, query):
        query = urllib.parse.urlencode({"restype": "container", "comp": "list", **query})
        with urllib.request.urlopen(f"{server.blob_url}/kinds?{query}") as reply:
            text = reply.read().decode("utf-8-sig")
        self.assertTrue(text.endswith("</EnumerationResults>"))
        marker = re.search(r"<NextMarker>(.*)</NextMarker>", text)
        return marker and marker[1], text


class EndOfServer(unittest.TestCase):
    """Pages under way when the server ends do not keep it, and it ends in order."""

    def test_pages_under_way(self):
        server = Server()
        asyncio.run(fill(server.blob_url))
        where = urllib.parse.urlsplit(server.blob_url)
        clients = []
        for _ in range(8):
            client = socket.create_connection((where.hostname, where.port))
            client.sendall(f"GET {where.path}/long?{urllib.parse.urlencode(PAGE)} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            clients.append(client)
        clients[0].recv(1000)
        for client in clients[:4]:
            client.close()
        server.stop()
        for client in clients[4:]:
            client.close()


if __name__ == "__main__":
    unittest.main()
