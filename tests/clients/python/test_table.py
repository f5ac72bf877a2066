"""Tables through the newest Python SDK."""

import datetime
import uuid

from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import TableServiceClient, TableTransactionError, UpdateMode

import fixtures


class TableTest(fixtures.ClientTest):
    def setUp(self):
        self.service = TableServiceClient(fixtures.endpoint("table"), retry_total=0,
                                          credential=AzureNamedKeyCredential(fixtures.ACCOUNT, fixtures.KEY))
        self.table = self.service.create_table(fixtures.new_name())
        self.addCleanup(self.table.delete_table)

    def entity(self, row, **more):
        return {"PartitionKey": "p", "RowKey": row, **more}

    def test_entities_keep_their_types(self):
        made = self.entity("all", text="t", number=1 << 20, ratio=0.5, yes=True, raw=b"\0\1", id=uuid.uuid4(),
                           when=datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc))
        self.table.create_entity(made)
        got = self.table.get_entity("p", "all")
        self.assertEqual({name: got[name] for name in made}, made)
        self.refused(409, "EntityAlreadyExists", self.table.create_entity, self.entity("all"))
        self.refused(404, "ResourceNotFound", self.table.get_entity, "p", "none")

    def test_conditions_guard_entities(self):
        etag = self.table.create_entity(self.entity("e", n=1))["etag"]
        guard = {"etag": etag, "match_condition": MatchConditions.IfNotModified}
        self.table.update_entity(self.entity("e", n=2), UpdateMode.REPLACE, **guard)
        self.refused(412, "UpdateConditionNotSatisfied", self.table.update_entity, self.entity("e", n=3), UpdateMode.REPLACE,
                     **guard)
        self.refused(412, "UpdateConditionNotSatisfied", self.table.update_entity, self.entity("e", m=3), UpdateMode.MERGE,
                     **guard)
        self.refused(412, "UpdateConditionNotSatisfied", self.table.delete_entity, "p", "e", **guard)
        self.assertEqual(dict(self.table.get_entity("p", "e")), self.entity("e", n=2))
        self.table.upsert_entity(self.entity("e", m=4), UpdateMode.MERGE)
        self.assertEqual(dict(self.table.get_entity("p", "e")), self.entity("e", n=2, m=4))

    def test_queries_filter_select_and_go_on(self):
        self.table.submit_transaction([("create", self.entity(f"{n:03}", n=n)) for n in range(100)])
        self.assertEqual(len([*self.table.query_entities("n ge @least", parameters={"least": 90})]), 10)
        pages = [len([*page]) for page in self.table.list_entities(results_per_page=40, select=["n"]).by_page()]
        self.assertEqual(pages, [40, 40, 20])

    def test_a_transaction_is_all_or_nothing(self):
        self.table.create_entity(self.entity("there"))
        with self.assertRaises(TableTransactionError) as caught:
            self.table.submit_transaction([("create", self.entity("new")), ("create", self.entity("there"))])
        self.assertEqual((caught.exception.status_code, caught.exception.error_code, caught.exception.index),
                         (409, "EntityAlreadyExists", 1))
        self.assertEqual([entity["RowKey"] for entity in self.table.list_entities()], ["there"])

    def test_tables_that_are_taken_or_missing(self):
        self.refused(409, "TableAlreadyExists", self.service.create_table, self.table.table_name)
        missing = self.service.get_table_client(fixtures.new_name())
        self.refused(404, "TableNotFound", missing.create_entity, self.entity("e"))
        self.assertIn(self.table.table_name, [table.name for table in self.service.list_tables()])
