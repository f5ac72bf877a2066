"""Blobs through the newest Python SDK."""

import os
import urllib.request

from azure.core import MatchConditions
from azure.storage.blob import (BlobBlock, BlobClient, BlobSasPermissions, BlobServiceClient, ContainerClient,
                                StandardBlobTier, generate_blob_sas)

import datetime
import fixtures


class BlobTest(fixtures.ClientTest):
    def setUp(self):
        self.service = BlobServiceClient(fixtures.endpoint("blob"), **fixtures.ONCE)
        self.container = self.service.create_container(fixtures.new_name())
        self.addCleanup(self.container.delete_container)

    def upload(self, name, data=b"first", **more):
        blob = self.container.get_blob_client(name)
        blob.upload_blob(data, **more)
        return blob

    def test_what_is_uploaded_in_blocks_is_downloaded_in_ranges(self):
        small = BlobServiceClient(fixtures.endpoint("blob"), **fixtures.ONCE, max_single_put_size=64 * 1024,
                                  max_block_size=100_000, max_single_get_size=70_000, max_chunk_get_size=50_000)
        data = os.urandom(1_000_003)
        blob = small.get_blob_client(self.container.container_name, "large")
        blob.upload_blob(data, metadata={"kind": "noise"}, max_concurrency=4)
        self.assertEqual(blob.download_blob(max_concurrency=4).readall(), data)
        self.assertEqual(blob.download_blob(offset=999_000, length=5_000).readall(), data[999_000:])
        properties = blob.get_blob_properties()
        self.assertEqual((properties.size, properties.metadata), (len(data), {"kind": "noise"}))
        self.assertEqual(len(blob.get_block_list("all")[0]), 11)
        self.refused(416, "InvalidRange", lambda: blob.download_blob(offset=len(data), length=1).readall())

    def test_checksums_of_transfers_are_held(self):
        blob = self.upload("checked", b"x" * 100_000, validate_content=True)
        self.assertEqual(blob.download_blob(validate_content=True).readall(), b"x" * 100_000)
        self.refused(400, "Md5Mismatch", blob.upload_blob, b"other", overwrite=True,
                     headers={"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="})
        self.assertEqual(blob.download_blob().readall(), b"x" * 100_000)

    def test_conditions_guard_writes(self):
        blob = self.upload("guarded")
        first = blob.get_blob_properties().etag
        self.refused(409, "BlobAlreadyExists", blob.upload_blob, b"second", overwrite=False)
        blob.upload_blob(b"second", overwrite=True, etag=first, match_condition=MatchConditions.IfNotModified)
        stale = {"etag": first, "match_condition": MatchConditions.IfNotModified}
        self.refused(412, "ConditionNotMet", blob.upload_blob, b"third", overwrite=True, **stale)
        self.refused(412, "ConditionNotMet", blob.set_blob_metadata, {"a": "b"}, **stale)
        self.refused(412, "ConditionNotMet", blob.delete_blob, **stale)
        self.refused(412, "ConditionNotMet", blob.download_blob, **stale)
        self.refused(304, "ConditionNotMet", blob.download_blob, etag=blob.get_blob_properties().etag,
                     match_condition=MatchConditions.IfModified)
        self.assertEqual(blob.download_blob().readall(), b"second")
        self.assertEqual(blob.get_blob_properties().metadata, {})

    def test_a_lease_keeps_others_out(self):
        blob = self.upload("leased")
        lease = blob.acquire_lease(15)
        self.refused(412, "LeaseIdMissing", blob.upload_blob, b"no", overwrite=True)
        self.refused(412, "LeaseIdMissing", blob.delete_blob)
        self.refused(409, "LeaseAlreadyPresent", blob.acquire_lease, 15)
        other = "11111111-2222-3333-4444-555555555555"
        self.refused(412, "LeaseIdMismatchWithBlobOperation", blob.set_blob_metadata, {"a": "b"}, lease=other)
        blob.upload_blob(b"yes", overwrite=True, lease=lease)
        lease.renew()
        lease.change(other)
        self.assertEqual(blob.get_blob_properties().lease.state, "leased")
        lease.break_lease(lease_break_period=0)
        self.assertEqual(blob.get_blob_properties().lease.state, "broken")
        self.assertEqual(blob.download_blob().readall(), b"yes")
        blob.delete_blob()

    def test_listings_have_pages_prefixes_and_details(self):
        for number in range(12):
            self.upload(f"dir/{number:02}", metadata={"n": str(number)}, tags={"parity": str(number % 2)})
        self.upload("other")
        pages = [[blob.name for blob in page] for page in self.container.list_blobs(results_per_page=5).by_page()]
        self.assertEqual([len(page) for page in pages], [5, 5, 3])
        self.assertEqual([blob.name for blob in self.container.walk_blobs(delimiter="/")], ["dir/", "other"])
        listed = [*self.container.list_blobs("dir/1", include=["metadata", "tags"])]
        self.assertEqual([(blob.metadata, blob.tags) for blob in listed],
                         [({"n": "10"}, {"parity": "0"}), ({"n": "11"}, {"parity": "1"})])
        self.assertEqual([*self.container.list_blob_names(name_starts_with="oth")], ["other"])
        found = self.container.find_blobs_by_tags("\"parity\"='1'")
        self.assertEqual([blob.name for blob in found], [f"dir/{number:02}" for number in range(1, 12, 2)])

    def test_append_and_page_blobs(self):
        log = self.container.get_blob_client("log")
        log.create_append_blob()
        log.append_block(b"one,")
        log.append_block(b"two", appendpos_condition=4)
        self.refused(412, "AppendPositionConditionNotMet", log.append_block, b"three", appendpos_condition=4)
        self.assertEqual(log.download_blob().readall(), b"one,two")
        disk = self.container.get_blob_client("disk")
        disk.create_page_blob(2048, sequence_number=7)
        disk.upload_page(b"p" * 512, 512, 512)
        self.refused(412, "SequenceNumberConditionNotMet", disk.upload_page, b"q" * 512, 512, 512, if_sequence_number_lt=7)
        self.assertEqual([(each.start, each.end) for each in disk.list_page_ranges()], [(512, 1023)])
        self.refused(409, "InvalidBlobType", disk.append_block, b"no")

    def test_snapshots_copies_tiers_and_deletion(self):
        blob = self.upload("base")
        snapshot = blob.create_snapshot()
        blob.upload_blob(b"second", overwrite=True)
        then = BlobClient.from_blob_url(f"{blob.url}?snapshot={snapshot['snapshot']}", **fixtures.ONCE)
        self.assertEqual(then.download_blob().readall(), b"first")
        copy = self.container.get_blob_client("copy")
        self.assertEqual(copy.start_copy_from_url(blob.url)["copy_status"], "success")
        self.assertEqual(copy.download_blob().readall(), b"second")
        copy.set_standard_blob_tier(StandardBlobTier.COOL)
        self.assertEqual(copy.get_blob_properties().blob_tier, "Cool")
        self.refused(409, "SnapshotsPresent", blob.delete_blob)
        blob.delete_blob(delete_snapshots="include")
        self.refused(404, "BlobNotFound", blob.get_blob_properties)
        self.refused(404, "BlobNotFound", then.get_blob_properties)
        self.refused(404, "BlobNotFound", copy.start_copy_from_url, blob.url)

    def test_blocks_count_once_they_are_committed(self):
        blob = self.upload("blocks", b"before")
        blob.stage_block("b25l", b"one")
        blob.stage_block("dHdv", b"two")
        self.assertEqual(blob.download_blob().readall(), b"before")
        self.refused(400, "InvalidBlockList", blob.commit_block_list, [BlobBlock("b25l"), BlobBlock("b3RoZXI=")])
        blob.commit_block_list([BlobBlock("dHdv"), BlobBlock("b25l")])
        self.assertEqual(blob.download_blob().readall(), b"twoone")

    def test_a_signed_url_does_what_it_says_and_no_more(self):
        blob = self.upload("signed")
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        token = generate_blob_sas(fixtures.ACCOUNT, self.container.container_name, "signed", account_key=fixtures.KEY,
                                  permission=BlobSasPermissions(read=True), expiry=until)
        with urllib.request.urlopen(f"{blob.url}?{token}") as reply:
            self.assertEqual(reply.read(), b"first")
        reader = BlobClient.from_blob_url(f"{blob.url}?{token}", retry_total=0)
        self.refused(403, "AuthorizationPermissionMismatch", reader.upload_blob, b"no", overwrite=True)
        self.refused(403, "AuthenticationFailed", ContainerClient.from_container_url(
            f"{self.container.url}?{token}", retry_total=0).get_container_properties)
        self.assertEqual(blob.download_blob().readall(), b"first")

    def test_batches_answer_for_each_part(self):
        for name in ("a", "b"):
            self.upload(name)
        replies = [*self.container.delete_blobs("a", "missing", "b", raise_on_any_failure=False)]
        self.assertEqual([reply.status_code for reply in replies], [202, 404, 202])
        self.assertEqual([*self.container.list_blob_names()], [])

    def test_names_that_are_taken_or_bad(self):
        self.refused(409, "ContainerAlreadyExists", self.service.create_container, self.container.container_name)
        self.refused(400, "InvalidResourceName", self.service.create_container, "Not_Valid")
        self.refused(404, "ContainerNotFound", self.service.get_container_client(fixtures.new_name()).get_container_properties)
        names = ["späße/ü", "a b+c%d", "日本語", "q?x=1#y"]
        for name in names:
            self.upload(name, name.encode())
            self.assertEqual(self.container.download_blob(name).readall(), name.encode())
        self.assertEqual(sorted(self.container.list_blob_names()), sorted(names))
