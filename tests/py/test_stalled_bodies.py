"""Bodies that must be whole and never come to their end: their memory has a limit, of which one peer gets a part, and others are
served meanwhile."""

import asyncio
import re
import time
import unittest
import urllib.request

from client import Connection
from harness import ACCOUNT, KEY, ServerTestCase

MIB = 1 << 20
STALLED = 40
LONGEST_S = 60
WHOLE, SENT = 8 * MIB, 7 * MIB  # The longest that a block list may be, and what comes of it.


class StalledBodies(ServerTestCase):
    def metric(self, name):
        with urllib.request.urlopen(self.server.admin_url.rstrip("/") + "/metrics", timeout=60) as reply:
            return int(re.search(rf"^{name} (\d+)$", reply.read().decode(), re.MULTILINE)[1])

    def connect(self):
        return Connection.to(self.server.blob_url, ACCOUNT, KEY)

    async def stall(self, peer, number):
        """Sends most of a block list; what the server says to that, if it says anything."""
        connection = self.connect()
        head = connection.head("PUT", f"/stalled/{number}", {"comp": "blocklist"}, {}, bytes(WHOLE))
        reader, writer = await asyncio.open_connection(connection._host, connection._port, local_addr=(peer, 0))
        self.open.append(writer)
        writer.write(head)
        try:
            for _ in range(SENT // MIB):
                writer.write(b"x" * MIB)
                await asyncio.wait_for(writer.drain(), 60)
        except ConnectionError:
            pass  # Refused before it was sent.
        return reader

    async def run_beside(self):
        self.open = []
        connection = self.connect()
        self.assertEqual((await connection.request("PUT", "/stalled", {"restype": "container"})).status, 201)
        readers = [await self.stall("127.0.0.2", number) for number in range(STALLED)]
        limit = self.metric("kyanite_body_memory_limit_bytes")
        self.assertLessEqual(self.metric("kyanite_body_memory_bytes"), limit / 2)
        heads = []
        for reader in readers:
            try:
                heads.append((await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 0.5)).decode().lower())
            except (TimeoutError, asyncio.TimeoutError, EOFError, ConnectionError):
                pass  # It waits for the rest.
        # Somebody else, of the same account.
        blocks = [await connection.request("PUT", "/stalled/blob", {"comp": "block", "blockid": "MDAw"}, {}, b"x" * MIB)]
        blocks.append(await connection.request(
            "PUT", "/stalled/blob", {"comp": "blocklist"}, {},
            b"<BlockList>" + b"<Latest>MDAw</Latest>" * 5000 + b"</BlockList>"))
        connection.close()
        for writer in self.open:
            writer.transport.abort()
        return heads, [reply.status for reply in blocks]

    def test_others_are_served_beside_them(self):
        heads, others = asyncio.run(self.run_beside())
        self.assertEqual(others, [201, 201])
        self.assertTrue(heads, "none was refused")
        for head in heads:
            self.assertTrue(head.startswith("http/1.1 503 "), head)
            self.assertIn("\r\nretry-after: ", head)
            self.assertIn("\r\nx-ms-error-code: serverbusy\r\n", head)
        self.assertGreater(self.metric("kyanite_body_memory_refusals_total"), 0)
        until = time.monotonic() + LONGEST_S
        while self.metric("kyanite_body_memory_bytes") > 0:  # It is given back when the server notices.
            self.assertLess(time.monotonic(), until)


if __name__ == "__main__":
    unittest.main()
