"""Queues through the Azure command line of Debian."""

import harness


class AzQueueTest(harness.AzTestCase):
    def test_a_queue_and_a_message(self):
        self.assertTrue(self.az("queue", "create", "-n", "jobs", "--metadata", "colour=blue")["created"])
        self.assertEqual([queue["name"] for queue in self.az("queue", "list")], ["jobs"])
        self.az("message", "put", "-q", "jobs", "--content", "hello", "--time-to-live", "-1")
        message, = self.az("message", "get", "-q", "jobs", "--visibility-timeout", "60")
        self.assertEqual(message["content"], "hello")
        self.az("message", "delete", "-q", "jobs", "--id", message["id"], "--pop-receipt", message["popReceipt"])
        self.assertEqual(self.az("message", "peek", "-q", "jobs"), [])
        self.assertTrue(self.az("queue", "delete", "-n", "jobs")["deleted"])
