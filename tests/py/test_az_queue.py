"""Queues through the Azure command line of Debian. Each call takes seconds to start, so few calls do much."""

import json
import os
import subprocess
import tempfile

import harness


class AzQueueTest(harness.ServerTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        directory = tempfile.TemporaryDirectory(prefix="kyanite-az-")
        cls.addClassCleanup(directory.cleanup)
        cls.config = directory.name

    def az(self, *arguments):
        environment = dict(os.environ, AZURE_CONFIG_DIR=self.config, AZURE_CORE_COLLECT_TELEMETRY="false",
                           AZURE_STORAGE_CONNECTION_STRING=self.server.connection_string)
        done = subprocess.run(["az", "storage", *arguments, "--output", "json"], capture_output=True, text=True,
                              env=environment, timeout=300)
        self.assertEqual(done.returncode, 0, f"az {arguments}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def test_a_queue_and_a_message(self):
        self.assertTrue(self.az("queue", "create", "-n", "jobs", "--metadata", "colour=blue")["created"])
        self.assertEqual([queue["name"] for queue in self.az("queue", "list")], ["jobs"])
        self.az("message", "put", "-q", "jobs", "--content", "hello", "--time-to-live", "-1")
        message, = self.az("message", "get", "-q", "jobs", "--visibility-timeout", "60")
        self.assertEqual(message["content"], "hello")
        self.az("message", "delete", "-q", "jobs", "--id", message["id"], "--pop-receipt", message["popReceipt"])
        self.assertEqual(self.az("message", "peek", "-q", "jobs"), [])
        self.assertTrue(self.az("queue", "delete", "-n", "jobs")["deleted"])
