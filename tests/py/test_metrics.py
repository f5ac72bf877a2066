"""What /metrics says is what docs/METRICS.md describes and what the dashboard draws."""

import asyncio
import collections
import json
import re
import socket
import struct
import sys
import unittest
import urllib.parse
import urllib.request

from harness import ACCOUNT, KEY, ROOT, Server

sys.path.append(str(ROOT / "tests" / "torture"))
from client import Connection

SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="[^"]*",?)+)\})? (-?[0-9.]+)$')
METRIC_IN_EXPRESSION = re.compile(r"\b((?:kyanite|process)_[a-z_]+)\b")


async def statuses(port, calls):
    connection = Connection("127.0.0.1", port, ACCOUNT, KEY)
    replies = [await connection.request(*call) for call in calls]
    connection.close()
    return [reply.status for reply in replies]


def greet_smb(server):
    """A NEGOTIATE of SMB 2.1, so that its series are there."""
    port = int(re.search(r"smb://127\.0\.0\.1:(\d+)/", server.output)[1])
    header = struct.pack("<4sHHIHHIIQIIQ16x", b"\xfeSMB", 64, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    message = header + struct.pack("<HHHHI16xQH", 36, 1, 1, 0, 0, 0, 0x0210)
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.sendall(struct.pack(">I", len(message)) + message)
        return peer.recv(4096)


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.statuses = asyncio.run(statuses(urllib.parse.urlsplit(cls.server.blob_url).port, (
            ("PUT", "/metrics", {"restype": "container"}),
            ("PUT", "/metrics/blob", {}, {"x-ms-blob-type": "BlockBlob"}, b"12345"),
            ("GET", "/metrics/blob"), ("GET", "/metrics/none"))))
        cls.greeting = greet_smb(cls.server)
        with urllib.request.urlopen(cls.server.admin_url.rstrip("/") + "/metrics") as reply:
            cls.text = reply.read().decode()
        cls.kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", cls.text, re.MULTILINE))

    def value(self, sample):
        found = re.search(rf"^{re.escape(sample)} (\S+)$", self.text, re.MULTILINE)
        self.assertTrue(found, f"{sample} is not in\n{self.text}")
        return float(found[1])

    def test_the_requests_were_answered(self):
        self.assertEqual(self.statuses, [201, 201, 200, 404])

    def test_each_family_stands_together_under_one_type(self):
        types = collections.Counter(re.findall(r"^# TYPE (\S+)", self.text, re.MULTILINE))
        self.assertEqual([name for name, count in types.items() if count > 1], [])
        current = None
        for line in self.text.splitlines():
            if line.startswith("# TYPE "):
                current = line.split()[2]
            elif not line.startswith("#"):
                self.assertRegex(line, SAMPLE)
                name = SAMPLE.match(line)[1]
                if self.kinds[current] == "histogram":
                    name = re.sub(r"_(bucket|sum|count)$", "", name)
                self.assertEqual(name, current)

    def test_requests_are_counted_with_bytes_latency_and_error_code(self):
        upload, download = ('{service="blob",operation="%s"' % name for name in ("BlockBlob_Upload", "Blob_Download"))
        self.assertEqual(self.value(f'kyanite_requests_total{upload},status="2xx"}}'), 1)
        self.assertEqual(self.value(f'kyanite_requests_total{download},status="2xx"}}'), 1)
        self.assertEqual(self.value(f'kyanite_requests_total{download},status="4xx"}}'), 1)
        self.assertEqual(self.value(f"kyanite_request_seconds_count{download}}}"), 2)
        self.assertEqual(self.value(f'kyanite_request_seconds_bucket{download},le="+Inf"}}'), 2)
        self.assertEqual(self.value(f"kyanite_request_body_bytes_total{upload}}}"), 5)
        self.assertGreater(self.value(f"kyanite_reply_body_bytes_total{download}}}"), 5)
        self.assertEqual(self.value(f'kyanite_errors_total{download},code="BlobNotFound"}}'), 1)

    def test_smb_is_counted(self):
        self.assertEqual(self.greeting[4:8], b"\xfeSMB")
        self.assertEqual(self.value('kyanite_smb_requests_total{command="NEGOTIATE",outcome="done"}'), 1)
        self.assertEqual(self.value('kyanite_smb_received_bytes_total{command="NEGOTIATE"}'), 102)
        self.assertEqual(self.value("kyanite_smb_sessions"), 0)

    def test_the_engine_counts(self):
        self.assertGreaterEqual(self.value("kyanite_engine_commits_total"), 2)
        self.assertGreater(self.value("kyanite_engine_synced_write_seconds_total"), 0)
        self.assertEqual(self.value("kyanite_engine_waiting_commits"), 0)

    def test_the_page_describes_just_what_is_there(self):
        page = (ROOT / "docs" / "METRICS.md").read_text()
        described = dict(re.findall(r"^\| `((?:kyanite|process)_\w+)` \| (\w+) \|", page, re.MULTILINE))
        self.assertEqual(described, self.kinds)

    def test_the_dashboard_draws_just_what_is_there(self):
        dashboard = json.loads((ROOT / "docs" / "grafana-dashboard.json").read_text())
        self.assertEqual(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))
        emitted = {line.split("{")[0].split(" ")[0] for line in self.text.splitlines() if not line.startswith("#")}
        drawn = set()
        for panel in dashboard["panels"]:
            self.assertTrue(panel["title"] and panel["targets"])
            for target in panel["targets"]:
                names = set(METRIC_IN_EXPRESSION.findall(target["expr"]))
                self.assertTrue(names, target["expr"])
                drawn |= names
        self.assertEqual(drawn - emitted, set())
        self.assertEqual({re.sub(r"_(bucket|sum|count)$", "", name) for name in emitted - drawn} - {
            re.sub(r"_(bucket|sum|count)$", "", name) for name in drawn}, set())

    def test_the_alerts_are_about_what_is_there(self):
        text = (ROOT / "docs" / "alerts.yml").read_text()
        emitted = {line.split("{")[0].split(" ")[0] for line in self.text.splitlines() if not line.startswith("#")}
        rules = re.split(r"^ *- alert: ", text, flags=re.MULTILINE)[1:]
        self.assertGreater(len(rules), 10)
        for rule in rules:
            expression = rule.partition("expr:")[2].partition("labels:")[0]
            names = set(METRIC_IN_EXPRESSION.findall(expression))
            self.assertTrue(names or "up{" in expression, rule)
            self.assertEqual(names - emitted, set())
            for part in ("expr:", "severity:", "summary:"):
                self.assertIn(part, rule)
        described = set(re.findall(r"\bKyanite[A-Z]\w+", (ROOT / "docs" / "OPERATIONS.md").read_text()))
        self.assertEqual({rule.split()[0] for rule in rules}, described)


if __name__ == "__main__":
    unittest.main()
