"""Bytes that no listing can hold, sent in headers that listings show: they are refused, and everybody's listings stay readable."""

import asyncio
import unittest
import xml.etree.ElementTree

from client import Connection
from harness import ACCOUNT, KEY, ServerTestCase

LATIN = b"caf\xe9".decode(errors="surrogateescape")
NAMES = ("content-type", "content-encoding", "content-language", "content-disposition", "cache-control")


class ShownHeaders(ServerTestCase):
    flags = ("--setting", "hierarchicalNamespace=true")

    def rows(self):
        """A connection, how something is made, and the headers of that which are stored."""
        blob, file = (Connection.to(self.server.url(label), ACCOUNT, KEY) for label in ("Blob", "File"))
        put = {"x-ms-blob-type": "BlockBlob"}
        yield blob, "/box/blob", {}, put, [f"x-ms-blob-{name}" for name in NAMES]
        yield blob, "/box/blob", {}, put, ["content-type", "content-encoding", "content-language", "cache-control"]
        yield blob, "/box/path", {"resource": "file"}, {}, [f"x-ms-{name}" for name in NAMES] + ["x-ms-owner", "x-ms-group"]
        create = {"x-ms-type": "file", "x-ms-content-length": "0"}
        yield file, "/share/file", {}, create, [f"x-ms-{name}" for name in NAMES]

    async def ask(self):
        for connection, path, query, headers, shown in self.rows():
            space = {"restype": "container" if path.startswith("/box") else "share"}
            await connection.request("PUT", path[:path.rindex("/")], space)
            for name, value, expected in [(name, LATIN, "InvalidHeaderValue") for name in shown] + [
                    ("x-ms-meta-a", LATIN, "InvalidMetadata"), (shown[0], "a\u20ac", "")]:
                with self.subTest(path=path, header=name):
                    if name == "x-ms-meta-a" and "resource" in query:
                        continue  # Another header carries them there.
                    reply = await connection.request("PUT", path, query, {**headers, name: value})
                    self.assertEqual((reply.status, reply.code), (400, expected) if expected else (201, ""))
            connection.close()
        box = Connection.to(self.server.blob_url, ACCOUNT, KEY)
        reply = await box.request("GET", "/box", {"restype": "container", "comp": "list", "include": "metadata"})
        names = [name.text for name in xml.etree.ElementTree.fromstring(reply.body).iter("Name")]
        self.assertEqual(names, ["blob", "path"])
        box.close()

    def test_what_no_listing_can_hold_is_refused(self):
        asyncio.run(self.ask())


if __name__ == "__main__":
    unittest.main()
