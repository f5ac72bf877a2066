"""Tables through the Python SDK of Debian: another signer, other encodings of values, transactions of its own making."""

import datetime
import uuid

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import EdmType, EntityProperty, TableServiceClient, TableTransactionError, UpdateMode

import harness


class TableSdkTest(harness.ServerTestCase):
    def setUp(self):
        self.service = TableServiceClient.from_connection_string(self.server.connection_string, retry_total=0)
        self.table = self.service.create_table(self.id().rsplit(".", 1)[1].replace("_", ""))

    def test_types_there_and_back(self):
        entity = {"PartitionKey": "it's", "RowKey": "a b%", "text": "grüße 日本", "small": 5, "real": 2.5, "yes": True,
                  "large": EntityProperty(2**62, EdmType.INT64), "id": uuid.uuid4(), "raw": b"\0\xff",
                  "date": datetime.datetime(2022, 5, 6, 0, 44, 28, 820000, tzinfo=datetime.timezone.utc)}
        self.table.create_entity(entity)
        found = self.table.get_entity("it's", "a b%")
        for name in ["text", "small", "real", "yes", "id", "raw"]:
            self.assertEqual(found[name], entity[name], name)
        self.assertEqual(found["large"].value, 2**62)
        self.assertEqual(found["date"], entity["date"])
        with self.assertRaises(ResourceExistsError):
            self.table.create_entity(entity)

    def test_stale_tags_are_refused(self):
        self.table.create_entity({"PartitionKey": "p", "RowKey": "r", "n": 1})
        first = self.table.get_entity("p", "r")
        self.table.update_entity({"PartitionKey": "p", "RowKey": "r", "n": 2}, mode=UpdateMode.MERGE)
        with self.assertRaises(ResourceModifiedError):
            self.table.update_entity(first, mode=UpdateMode.REPLACE, etag=first.metadata["etag"],
                                     match_condition=MatchConditions.IfNotModified)
        with self.assertRaises(ResourceNotFoundError):
            self.table.update_entity({"PartitionKey": "p", "RowKey": "none"})
        self.table.delete_entity("p", "r")
        self.table.delete_entity("p", "r")  # The SDK takes 404 for success.

    def test_queries_and_pages(self):
        self.table.submit_transaction(
            [("create", {"PartitionKey": "p", "RowKey": f"{i:03}", "n": i}) for i in range(100)])
        found = self.table.query_entities("n ge @low and n lt @high", parameters={"low": 10, "high": 13})
        self.assertEqual([entity["n"] for entity in found], [10, 11, 12])
        pages = [len(list(page)) for page in self.table.list_entities(results_per_page=30).by_page()]
        self.assertEqual(pages, [30, 30, 30, 10])
        with self.assertRaises(HttpResponseError):
            list(self.table.query_entities("aaa bbb ccc"))

    def test_transactions(self):
        self.table.create_entity({"PartitionKey": "p", "RowKey": "there"})
        with self.assertRaises(TableTransactionError) as refused:
            self.table.submit_transaction([("create", {"PartitionKey": "p", "RowKey": "new"}),
                                           ("create", {"PartitionKey": "p", "RowKey": "there"})])
        self.assertEqual(refused.exception.index, 1)
        with self.assertRaises(ResourceNotFoundError):
            self.table.get_entity("p", "new")
        self.table.submit_transaction([("upsert", {"PartitionKey": "p", "RowKey": "new"}, {"mode": "replace"}),
                                       ("update", {"PartitionKey": "p", "RowKey": "there", "a": 1})])
        self.assertEqual(self.table.get_entity("p", "there")["a"], 1)

