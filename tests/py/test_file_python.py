"""Files through the Python SDK of Debian: another signer, other defaults, chunked transfers of its own making."""

import datetime
import io
import os
import uuid

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.fileshare import (
    AccessPolicy, AccountSasPermissions, ContentSettings, CorsRule, FileSasPermissions, Metrics, NTFSAttributes,
    ResourceTypes, RetentionPolicy, ShareClient, ShareLeaseClient, ShareSasPermissions, ShareServiceClient,
    generate_account_sas, generate_file_sas, generate_share_sas)

import harness

MIB = 1024 * 1024


def tomorrow():
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)


class FileSdkTest(harness.ServerTestCase):
    def setUp(self):
        self.service = ShareServiceClient.from_connection_string(self.server.connection_string, retry_total=0)
        self.share = self.service.get_share_client("s" + uuid.uuid4().hex)
        self.share.create_share()

    def refused(self, status, code, action):
        with self.assertRaises(HttpResponseError) as caught:
            action()
        self.assertEqual((caught.exception.status_code, caught.exception.error_code), (status, code))

    def upload(self, path, data, **options):
        client = self.share.get_file_client(path)
        client.upload_file(data, **options)
        return client

    def test_share(self):
        with self.assertRaises(ResourceExistsError):
            self.share.create_share()
        self.share.set_share_metadata({"colour": "blue"})
        self.share.set_share_quota(3)
        shown = self.share.get_share_properties()
        self.assertEqual((shown.metadata, shown.quota), ({"colour": "blue"}, 3))
        self.assertEqual(self.share.get_share_stats(), 0)
        self.share.set_share_access_policy({"first": AccessPolicy(permission=ShareSasPermissions(read=True),
                                                                  expiry=tomorrow())})
        self.assertEqual([each.id for each in self.share.get_share_access_policy()["signed_identifiers"]], ["first"])
        listed = list(self.service.list_shares(name_starts_with=self.share.share_name, include_metadata=True))
        self.assertEqual([(each.name, each.metadata) for each in listed], [(self.share.share_name, {"colour": "blue"})])
        self.share.delete_share()
        with self.assertRaises(ResourceNotFoundError):
            self.share.get_share_properties()

    def test_snapshot(self):
        self.upload("file", b"before")
        snapshot = self.share.create_snapshot()
        self.upload("file", b"after")
        shown = ShareClient.from_connection_string(self.server.connection_string, self.share.share_name,
                                                   snapshot=snapshot["snapshot"])
        self.assertEqual(shown.get_file_client("file").download_file().readall(), b"before")
        self.assertEqual([each["name"] for each in shown.list_directories_and_files()], ["file"])
        self.refused(409, "ShareHasSnapshots", self.share.delete_share)
        self.share.delete_share(delete_snapshots=True)

    def test_share_lease(self):
        lease = self.share.acquire_lease()
        self.refused(412, "LeaseIdMissing", self.share.delete_share)
        lease.renew()
        self.assertEqual(self.share.get_share_properties().lease.state, "leased")
        lease.break_lease(lease_break_period=0)
        self.share.delete_share()

    def test_permissions(self):
        sddl = "O:S-1-5-21-1-2-3-1001G:S-1-5-21-1-2-3-513D:AI(A;;FA;;;SY)(A;;FA;;;BA)"
        key = self.share.create_permission_for_share(sddl)
        self.assertEqual(self.share.get_permission_for_share(key), sddl)
        file = self.share.get_file_client("file")
        created = file.create_file(1, permission_key=key)
        self.assertEqual(created["file_permission_key"], key)

    def test_directories(self):
        directory = self.share.create_directory("d", metadata={"a": "1"})
        with self.assertRaises(ResourceExistsError):
            self.share.create_directory("d")
        with self.assertRaises(ResourceNotFoundError):
            self.share.create_directory("none/d")
        sub = directory.create_subdirectory("sub")
        sub.upload_file("file", b"x")
        self.assertEqual([(each["name"], each["is_directory"]) for each in directory.list_directories_and_files()],
                         [("sub", True)])
        self.refused(409, "DirectoryNotEmpty", directory.delete_directory)
        self.assertEqual(directory.get_directory_properties().metadata, {"a": "1"})
        directory.set_http_headers(file_attributes=NTFSAttributes(hidden=True, directory=True))
        self.assertIn("Hidden", directory.get_directory_properties().file_attributes)
        directory.rename_directory("moved")
        self.assertEqual(self.share.get_file_client("moved/sub/file").download_file().readall(), b"x")
        self.assertEqual(list(self.share.get_directory_client("moved").list_handles()), [])

    def test_files_of_every_size(self):
        for size in (0, 1, 511, 4 * MIB, 4 * MIB + 1, 9 * MIB):
            data = os.urandom(size)
            client = self.upload("file", data, max_concurrency=2)
            self.assertEqual(client.download_file(max_concurrency=2).readall(), data)
            self.assertEqual(client.get_file_properties().size, size)
        stream = io.BytesIO()
        client.download_file(offset=5, length=10).readinto(stream)
        self.assertEqual(stream.getvalue(), data[5:15])

    def test_properties_ranges_and_resizing(self):
        file = self.share.get_file_client("file")
        file.create_file(4096, content_settings=ContentSettings(content_type="text/plain"), metadata={"a": "1"})
        file.upload_range(b"x" * 512, offset=1024, length=512, validate_content=True)
        self.assertEqual(file.get_ranges(), [{"start": 1024, "end": 1535}])
        file.clear_range(offset=1024, length=512)
        self.assertEqual(file.get_ranges(), [])
        file.resize_file(10)
        file.set_file_metadata({"b": "2"})
        file.set_http_headers(ContentSettings(content_type="text/html"))
        shown = file.get_file_properties()
        self.assertEqual((shown.size, shown.metadata, shown.content_settings.content_type), (10, {"b": "2"}, "text/html"))
        self.refused(416, "InvalidRange", lambda: file.upload_range(b"x", offset=10, length=1))
        file.delete_file()
        with self.assertRaises(ResourceNotFoundError):
            file.get_file_properties()

    def test_file_lease(self):
        file = self.upload("file", b"content")
        lease = ShareLeaseClient(file, str(uuid.uuid4()))
        lease.acquire()
        self.refused(412, "LeaseIdMissing", lambda: file.upload_range(b"x", offset=0, length=1))
        file.upload_range(b"C", offset=0, length=1, lease=lease)
        lease.release()
        self.assertEqual(file.download_file().readall(), b"Content")

    def test_copies(self):
        source = self.upload("source", b"content")
        target = self.share.get_file_client("target")
        copied = target.start_copy_from_url(source.url)
        self.assertIn(copied["copy_status"], ("success", "pending"))
        self.assertEqual(target.download_file().readall(), b"content")
        token = generate_file_sas(harness.ACCOUNT, self.share.share_name, ["source"], harness.KEY,
                                  FileSasPermissions(read=True), expiry=tomorrow())
        target.upload_range_from_url(f"{source.url}?{token}", offset=0, length=2, source_offset=3)
        self.assertEqual(target.download_file().readall(), b"tentent")

    def test_renames(self):
        file = self.upload("file", b"content")
        self.upload("there", b"old")
        self.refused(409, "ResourceAlreadyExists", lambda: file.rename_file("there"))
        moved = file.rename_file("there", overwrite=True)
        self.assertEqual(moved.download_file().readall(), b"content")
        with self.assertRaises(ResourceNotFoundError):
            file.get_file_properties()

    def test_tokens(self):
        self.upload("file", b"content")
        account = generate_account_sas(harness.ACCOUNT, harness.KEY, ResourceTypes(object=True),
                                       AccountSasPermissions(read=True), tomorrow())
        share = generate_share_sas(harness.ACCOUNT, self.share.share_name, harness.KEY,
                                   permission=ShareSasPermissions(read=True), expiry=tomorrow())
        for token in (account, share):
            guest = ShareClient.from_share_url(self.share.url, credential=token, retry_total=0).get_file_client("file")
            self.assertEqual(guest.download_file().readall(), b"content")
            self.refused(403, "AuthorizationPermissionMismatch", guest.delete_file)

    def test_service_properties(self):
        metrics = Metrics(enabled=True, include_apis=True, retention_policy=RetentionPolicy(enabled=True, days=5))
        self.service.set_service_properties(hour_metrics=metrics, cors=[CorsRule(["*"], ["GET"])])
        shown = self.service.get_service_properties()
        self.assertEqual(shown["hour_metrics"].retention_policy.days, 5)
        self.assertEqual([rule.allowed_origins for rule in shown["cors"]], ["*"])
