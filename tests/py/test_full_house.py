"""More connections than there are descriptors for: health is told, others are served, and the engine keeps what it needs."""

import asyncio
import pathlib
import re
import socket
import tempfile
import unittest
import urllib.parse
import urllib.request

from client import Connection
from harness import ACCOUNT, BINARY, KEY, Server

DESCRIPTORS = 256
CROWD = 400


class FullHouse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="kyanite-few-") as directory:
            few = pathlib.Path(directory, "few")
            few.write_text(f'#!/bin/sh\nulimit -n {DESCRIPTORS}\nexec "{BINARY}" "$@"\n')
            few.chmod(0o755)
            cls.server = Server(binary=str(few))
        cls.addClassCleanup(cls.server.stop)

    def admin(self, path):
        with urllib.request.urlopen(self.server.admin_url.rstrip("/") + path, timeout=60) as reply:
            return reply.read().decode()

    def metric(self, name):
        return int(re.search(rf"^{name} (\d+)$", self.admin("/metrics"), re.MULTILINE)[1])

    def gather(self, peer):
        """Connections that send nothing, or half a request."""
        where = urllib.parse.urlsplit(self.server.blob_url)
        for number in range(CROWD):
            each = socket.create_connection((where.hostname, where.port), timeout=60, source_address=(peer, 0))
            self.addCleanup(each.close)
            if number % 2:
                try:
                    each.send(b"GET / HTTP/1.1\r\nhost")
                except ConnectionError:
                    pass  # It had to yield already.

    async def work(self):
        connection = Connection.to(self.server.blob_url, ACCOUNT, KEY)
        replies = [await connection.request("PUT", "/full", {"restype": "container"})]
        for number in range(20):
            replies.append(await connection.request(
                "PUT", f"/full/{number}", {}, {"x-ms-blob-type": "BlockBlob"}, b"x" * 100_000))
        connection.close()
        return {reply.status for reply in replies}

    def test_others_are_served_beside_a_crowd(self):
        self.gather("127.0.0.2")
        limit = self.metric("kyanite_connections_limit")
        self.assertLess(limit, DESCRIPTORS / 2)
        self.assertEqual(self.admin("/healthz"), "ok\n")
        self.assertEqual(asyncio.run(self.work()), {201})
        yielded, refused = (self.metric(f"kyanite_connections_{what}_total") for what in ("yielded", "refused"))
        self.assertGreater(yielded, 0)
        # What is open is within the limit, so all others have gone, one way or the other.
        self.assertGreaterEqual(yielded + refused, CROWD - limit)
        self.assertLess(self.metric("process_open_fds"), DESCRIPTORS)
        self.assertNotIn("cannot accept", self.server.log())


if __name__ == "__main__":
    unittest.main()
