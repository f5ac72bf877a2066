"""The Python SDK of Debian, older than the JavaScript ones of tests/js: another signer, another version of the API."""

import os

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob import BlobServiceClient

import harness


class PythonSdkTest(harness.ServerTestCase):
    def setUp(self):
        self.service = BlobServiceClient.from_connection_string(self.server.connection_string, retry_total=0)
        self.container = self.service.get_container_client(self.id().rsplit(".", 1)[1].replace("_", "-"))
        self.container.create_container()

    def test_names_with_every_kind_of_character(self):
        for name in ["plain", "with space", "a/b/c", "grüße", "100%", "a+b&c=d?e#f", "dots.../..x", "日本語"]:
            with self.subTest(name):
                blob = self.container.get_blob_client(name)
                blob.upload_blob(name.encode())
                self.assertEqual(blob.download_blob().readall(), name.encode())
                self.assertIn(name, [found.name for found in self.container.list_blobs()])

    def test_large_blob_in_ranges(self):
        data = os.urandom(5_000_000)
        blob = self.container.get_blob_client("large")
        blob.upload_blob(data)
        self.assertEqual(blob.download_blob(offset=4_999_990, length=100).readall(), data[4_999_990:])
        self.assertEqual(blob.download_blob().readall(), data)
        with self.assertRaises(HttpResponseError) as refused:
            blob.download_blob(offset=5_000_000, length=1)
        self.assertEqual(refused.exception.error_code, "InvalidRange")

    def test_optimistic_writers_do_not_lose_updates(self):
        blob = self.container.get_blob_client("counter")
        first = blob.upload_blob(b"1")["etag"]
        blob.upload_blob(b"2", overwrite=True, etag=first, match_condition=MatchConditions.IfNotModified)
        with self.assertRaises(ResourceModifiedError):
            blob.upload_blob(b"3", overwrite=True, etag=first, match_condition=MatchConditions.IfNotModified)
        self.assertEqual(blob.download_blob().readall(), b"2")
        with self.assertRaises(ResourceExistsError):
            blob.upload_blob(b"4")

    def test_a_lease_keeps_others_out(self):
        blob = self.container.get_blob_client("leased")
        blob.upload_blob(b"1")
        lease = blob.acquire_lease(15)
        with self.assertRaises(HttpResponseError) as refused:
            blob.upload_blob(b"2", overwrite=True)
        self.assertEqual(refused.exception.error_code, "LeaseIdMissing")
        blob.upload_blob(b"3", overwrite=True, lease=lease)
        lease.release()
        blob.delete_blob()

    def test_what_is_missing_is_said(self):
        with self.assertRaises(ResourceNotFoundError) as missing:
            self.container.get_blob_client("missing").download_blob()
        self.assertEqual(missing.exception.error_code, "BlobNotFound")
