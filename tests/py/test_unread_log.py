"""A log that nobody reads stops nobody: requests are answered, what is missing is counted and told, and the end comes in time."""

import http.client
import os
import re
import unittest
import urllib.parse
import urllib.request

from harness import ACCOUNT, Server

# More than a pipe takes together with all that waits to be written.
LINES, LINE_BYTES = 1000, 8000
MISSING = re.compile(rb"\d{4}-\S+Z warn  (\d+) lines of this log are missing")


class UnreadLog(unittest.TestCase):
    def setUp(self):
        self.read_end, write_end = os.pipe()
        with os.fdopen(write_end, "wb") as pipe:
            self.server = Server("--inMemoryPersistence", stderr=pipe)
        self.addCleanup(os.close, self.read_end)
        self.addCleanup(self.server.stop)

    def ask(self, connection, number):
        """One request, whose line in the log is a long one."""
        connection.request("GET", f"/{ACCOUNT}/none?number={number}&long={'x' * LINE_BYTES}")
        reply = connection.getresponse()
        reply.read()
        return reply.status

    def dropped(self):
        with urllib.request.urlopen(self.server.admin_url.rstrip("/") + "/metrics") as reply:
            return int(re.search(rb"^kyanite_log_lines_dropped_total (\d+)$", reply.read(), re.MULTILINE)[1])

    def read_to_gap(self):
        text = b""
        while not MISSING.search(text):
            got = os.read(self.read_end, 1 << 16)
            self.assertTrue(got, "the log has ended")
            text += got
        return text

    def test_requests_are_answered_and_the_gap_is_told(self):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.server.blob_url).netloc, timeout=60)
        for number in range(LINES):
            self.assertEqual(self.ask(connection, number), 404)
        dropped = self.dropped()
        self.assertGreater(dropped, 0)
        self.assertLess(dropped, LINES)

        text = self.read_to_gap()
        self.assertEqual(int(MISSING.search(text)[1]), dropped)
        numbers = [int(number) for number in re.findall(rb"\bnumber=(\d+)", text)]
        self.assertEqual(numbers, list(range(LINES - dropped)))

        self.assertEqual(self.ask(connection, LINES), 404)
        while b"number=%d&" % LINES not in text:
            text += os.read(self.read_end, 1 << 16)
        self.assertEqual(self.dropped(), dropped)

        # The clean-up finds the pipe full again.
        for number in range(LINES):
            self.ask(connection, number)
        connection.close()


if __name__ == "__main__":
    unittest.main()
