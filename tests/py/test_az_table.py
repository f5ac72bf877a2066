"""Tables through the Azure command line of Debian."""

import harness


class AzTableTest(harness.AzTestCase):
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
