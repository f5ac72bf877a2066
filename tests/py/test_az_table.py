"""Tables through the Azure command line of Debian. Each call takes seconds to start, so few calls do much."""

import json
import os
import subprocess
import tempfile

import harness


class AzTableTest(harness.ServerTestCase):
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

    def test_a_table_and_an_entity(self):
        self.assertTrue(self.az("table", "create", "-n", "people")["created"])
        self.assertEqual([table["name"] for table in self.az("table", "list")], ["people"])
        self.az("entity", "insert", "-t", "people", "-e", "PartitionKey=Harp", "RowKey=Walter", "Age=42",
                "Age@odata.type=Edm.Int32")
        self.az("entity", "merge", "-t", "people", "-e", "PartitionKey=Harp", "RowKey=Walter", "City=Rome")
        found = self.az("entity", "query", "-t", "people", "--filter", "PartitionKey eq 'Harp' and City eq 'Rome'")
        self.assertEqual([entity["RowKey"] for entity in found["items"]], ["Walter"])
        self.az("entity", "delete", "-t", "people", "--partition-key", "Harp", "--row-key", "Walter", "--if-match", "*")
        self.assertEqual(self.az("entity", "query", "-t", "people")["items"], [])
        self.assertTrue(self.az("table", "delete", "-n", "people")["deleted"])
