"""Blobs of every type, snapshots, listings and signatures through the Python SDK of Debian."""

import datetime
import hashlib
import os

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import (ArrowDialect, ArrowType, BlobSasPermissions, BlobServiceClient, BlobType,
                                ContainerSasPermissions, ContentSettings, DelimitedJsonDialect, DelimitedTextDialect,
                                StandardBlobTier, generate_blob_sas, generate_container_sas)

import harness

MIB = 1024 * 1024


class PythonBlobTest(harness.ServerTestCase):
    def setUp(self):
        self.service = BlobServiceClient.from_connection_string(self.server.connection_string, retry_total=0)
        self.container = self.service.get_container_client(self.id().rsplit(".", 1)[1].replace("_", "-"))
        self.container.create_container()

    def refused(self, status, code):
        """A context in which the server refuses with this status and error code."""
        test = self

        class Refused:
            def __enter__(self):
                return self

            def __exit__(self, kind, error, trace):
                test.assertIsInstance(error, HttpResponseError)
                test.assertEqual((error.status_code, error.error_code), (status, code))
                return True

        return Refused()

    def test_blocks_in_parallel_with_checksums(self):
        service = BlobServiceClient.from_connection_string(
            self.server.connection_string, max_single_put_size=MIB, max_block_size=MIB, max_single_get_size=MIB,
            max_chunk_get_size=MIB, retry_total=0)
        blob = service.get_blob_client(self.container.container_name, "large")
        data = os.urandom(7 * MIB + 123)
        blob.upload_blob(data, max_concurrency=4, validate_content=True, metadata={"a": "b"})
        self.assertEqual(len(blob.get_block_list("committed")[0]), 8)
        back = blob.download_blob(max_concurrency=4, validate_content=True).readall()
        self.assertEqual(hashlib.sha256(back).digest(), hashlib.sha256(data).digest())
        self.assertEqual(b"".join(blob.download_blob().chunks()), data)

    def test_headers_and_metadata(self):
        blob = self.container.get_blob_client("headers")
        settings = ContentSettings(content_type="text/plain", cache_control="no-cache", content_language="de",
                                   content_disposition="inline", content_encoding="x-none")
        blob.upload_blob(b"x", content_settings=settings, metadata={"colour": "blue"})
        shown = blob.get_blob_properties()
        for name in ("content_type", "cache_control", "content_language", "content_disposition", "content_encoding"):
            self.assertEqual(shown.content_settings[name], settings[name], name)
        self.assertEqual(shown.metadata, {"colour": "blue"})
        self.assertEqual(shown.size, 1)
        blob.set_blob_metadata({"other": "1"})
        blob.set_http_headers(ContentSettings(content_type="text/html"))
        self.assertEqual(blob.get_blob_properties().content_settings.content_type, "text/html")
        self.assertEqual(blob.get_blob_properties().metadata, {"other": "1"})

    def test_append_blob(self):
        blob = self.container.get_blob_client("log")
        blob.create_append_blob()
        for line in (b"one\n", b"two\n"):
            blob.append_block(line)
        with self.refused(412, "AppendPositionConditionNotMet"):
            blob.append_block(b"three\n", appendpos_condition=3)
        blob.upload_blob(b"three\n", blob_type=BlobType.AppendBlob)
        self.assertEqual(blob.download_blob().readall(), b"one\ntwo\nthree\n")

    def test_page_blob(self):
        blob = self.container.get_blob_client("disk")
        blob.create_page_blob(size=2048, sequence_number=3)
        blob.upload_page(b"x" * 512, offset=512, length=512)
        with self.refused(412, "SequenceNumberConditionNotMet"):
            blob.upload_page(b"y" * 512, offset=0, length=512, if_sequence_number_lt=3)
        self.assertEqual(blob.get_page_ranges()[0], [{"start": 512, "end": 1023}])
        blob.resize_blob(1024)
        self.assertEqual(blob.download_blob().readall(), bytes(512) + b"x" * 512)
        blob.clear_page(offset=512, length=512)
        self.assertEqual(blob.get_page_ranges()[0], [])

    def test_snapshots(self):
        blob = self.container.get_blob_client("kept")
        blob.upload_blob(b"first")
        snapshot = blob.create_snapshot()["snapshot"]
        blob.upload_blob(b"second", overwrite=True)
        old = self.container.get_blob_client("kept", snapshot=snapshot)
        self.assertEqual(old.download_blob().readall(), b"first")
        with self.refused(409, "SnapshotsPresent"):
            blob.delete_blob()
        self.assertEqual([item.snapshot for item in self.container.list_blobs(include=["snapshots"])], [snapshot, None])
        blob.delete_blob(delete_snapshots="include")
        self.assertEqual(list(self.container.list_blobs(include=["snapshots"])), [])

    def test_listing(self):
        names = [f"dir{i % 3}/file {i:02}" for i in range(20)] + ["top"]
        for name in names:
            self.container.upload_blob(name, b"x", metadata={"n": "1"})
        self.assertEqual([blob.name for blob in self.container.list_blobs()], sorted(names))
        pages = [[blob.name for blob in page] for page in self.container.list_blobs(results_per_page=6).by_page()]
        self.assertEqual([len(page) for page in pages], [6, 6, 6, 3])
        self.assertEqual(sum(pages, []), sorted(names))
        self.assertEqual([item.name for item in self.container.walk_blobs()], ["dir0/", "dir1/", "dir2/", "top"])
        self.assertEqual(len(list(self.container.list_blobs(name_starts_with="dir1/"))), 7)
        self.assertTrue(all(blob.metadata == {"n": "1"} for blob in self.container.list_blobs(include=["metadata"])))

    def test_conditions(self):
        blob = self.container.get_blob_client("conditions")
        blob.upload_blob(b"first")
        old = blob.get_blob_properties()
        blob.set_blob_metadata({"a": "b"}, etag=old.etag, match_condition=MatchConditions.IfNotModified)
        with self.refused(412, "ConditionNotMet"):
            blob.set_blob_metadata({"c": "d"}, etag=old.etag, match_condition=MatchConditions.IfNotModified)
        with self.refused(412, "ConditionNotMet"):
            blob.delete_blob(if_unmodified_since=old.last_modified - datetime.timedelta(hours=1))
        with self.assertRaises(HttpResponseError) as unmodified:
            blob.get_blob_properties(if_modified_since=old.last_modified + datetime.timedelta(hours=1))
        self.assertEqual(unmodified.exception.status_code, 304)
        self.assertEqual(blob.get_blob_properties().metadata, {"a": "b"})
        with self.assertRaises(ResourceExistsError):
            blob.upload_blob(b"again")

    def test_signatures(self):
        self.container.upload_blob("dir/grüße", b"shared")
        expiry = datetime.datetime.utcnow() + datetime.timedelta(minutes=10)
        token = generate_blob_sas(harness.ACCOUNT, self.container.container_name, "dir/grüße", account_key=harness.KEY,
                                  permission=BlobSasPermissions(read=True), expiry=expiry)
        visitor = BlobServiceClient(self.server.blob_url, credential=token, retry_total=0)
        blob = visitor.get_blob_client(self.container.container_name, "dir/grüße")
        self.assertEqual(blob.download_blob().readall(), b"shared")
        with self.refused(403, "AuthorizationPermissionMismatch"):
            blob.delete_blob()
        token = generate_container_sas(harness.ACCOUNT, self.container.container_name, account_key=harness.KEY,
                                       permission=ContainerSasPermissions(list=True, write=True), expiry=expiry)
        visitor = BlobServiceClient(self.server.blob_url, credential=token, retry_total=0)
        container = visitor.get_container_client(self.container.container_name)
        container.upload_blob("new", b"x")
        self.assertEqual([blob.name for blob in container.list_blobs()], ["dir/grüße", "new"])

    def test_container_lease_and_policies(self):
        lease = self.container.acquire_lease(15)
        with self.refused(412, "LeaseIdMissing"):
            self.container.delete_container()
        self.container.set_container_access_policy({}, public_access="blob")
        self.assertEqual(self.container.get_container_access_policy()["public_access"], "blob")
        self.container.delete_container(lease=lease)
        with self.assertRaises(ResourceNotFoundError):
            self.container.get_container_properties()

    def test_tiers(self):
        blob = self.container.get_blob_client("tiered")
        blob.upload_blob(b"x", standard_blob_tier=StandardBlobTier.Cool)
        self.assertEqual(blob.get_blob_properties().blob_tier, "Cool")
        blob.set_standard_blob_tier(StandardBlobTier.Hot)
        self.assertEqual(blob.get_blob_properties().blob_tier, "Hot")

    def test_tags_and_search(self):
        for i in range(5):
            self.container.upload_blob(f"tagged-{i}", b"x", tags={"kind": "even" if i % 2 == 0 else "odd", "n": str(i)})
        found = self.service.find_blobs_by_tags("\"kind\" = 'even' AND \"n\" > '0'")
        self.assertEqual([blob.name for blob in found], ["tagged-2", "tagged-4"])
        blob = self.container.get_blob_client("tagged-1")
        with self.refused(412, "ConditionNotMet"):
            blob.delete_blob(if_tags_match_condition="\"kind\" = 'even'")
        blob.set_blob_tags({"kind": "changed"})
        self.assertEqual(blob.get_blob_tags(), {"kind": "changed"})

    def test_batches(self):
        names = [f"b{i}" for i in range(10)]
        for name in names:
            self.container.upload_blob(name, b"x")
        self.container.set_standard_blob_tier_blobs(StandardBlobTier.Cool, *names)
        self.assertEqual({blob.blob_tier for blob in self.container.list_blobs()}, {"Cool"})
        outcomes = self.container.delete_blobs(*names[:9], "missing", raise_on_any_failure=False)
        self.assertEqual([outcome.status_code for outcome in outcomes], [202] * 9 + [404])
        self.assertEqual([blob.name for blob in self.container.list_blobs()], ["b9"])

    def test_copies(self):
        source = self.container.get_blob_client("source")
        source.upload_blob(b"content", metadata={"a": "b"})
        target = self.container.get_blob_client("target")
        self.assertEqual(target.start_copy_from_url(source.url)["copy_status"], "success")
        self.assertEqual(target.download_blob().readall(), b"content")
        self.assertEqual(target.get_blob_properties().metadata, {"a": "b"})
        self.assertEqual(target.get_blob_properties().copy.status, "success")
        with self.assertRaises(ResourceNotFoundError):
            target.start_copy_from_url(self.container.get_blob_client("missing").url)
        self.assertEqual(target.download_blob().readall(), b"content")

    def test_queries(self):
        blob = self.container.get_blob_client("people.csv")
        blob.upload_blob(b"name,age,town\r\nAda,36,London\r\nGrace,85,\"New York, NY\"\r\nLinus,56\r\n")
        errors = []
        comma = DelimitedTextDialect(delimiter=",", quotechar='"', lineterminator="\n", has_header=True)
        semicolon = DelimitedTextDialect(delimiter=";", quotechar="'", lineterminator="|", escapechar="\\")

        def query(statement, source=comma, target=semicolon):
            return blob.query_blob(statement, blob_format=source, output_format=target, on_error=errors.append)

        self.assertEqual(query("SELECT town, name FROM BlobStorage WHERE age > 40").readall(), b"New York, NY;Grace|")
        self.assertEqual([(error.error, error.is_fatal) for error in errors], [("InvalidColumnOrdinal", False)])
        records = query("SELECT * FROM BlobStorage LIMIT 2", target=DelimitedJsonDialect(delimiter="\n")).records()
        self.assertEqual(list(records)[0], b'{"name":"Ada","age":"36","town":"London"}')
        arrow = [ArrowDialect(ArrowType.DECIMAL, name="age", precision=5, scale=1)]
        reader = query("SELECT age FROM BlobStorage LIMIT 1", target=arrow)
        self.assertEqual(reader.readall()[-16:], (360).to_bytes(16, "little"))
        self.assertEqual(len(reader), blob.get_blob_properties().size)
        with self.refused(400, "ErrorProcessingQueryExpression"):
            query("SELECT nothing FROM BlobStorage")
