"""Data Lake through the newest Python SDK, on an account with directories."""

import os

from azure.core import MatchConditions
from azure.storage.blob import BlobServiceClient
from azure.storage.filedatalake import DataLakeServiceClient

import fixtures


class LakeTest(fixtures.ClientTest):
    def setUp(self):
        self.service = DataLakeServiceClient(fixtures.endpoint("lake"), **fixtures.ONCE)
        self.files = self.service.create_file_system(fixtures.new_name())
        self.addCleanup(self.files.delete_file_system)

    def upload(self, path, data=b"first"):
        file = self.files.get_file_client(path)
        file.upload_data(data, overwrite=True)
        return file

    def paths(self, **which):
        return [path.name for path in self.files.get_paths(**which)]

    def test_what_is_uploaded_is_a_file_and_a_blob(self):
        data = os.urandom(5_000_001)
        file = self.files.get_file_client("a/b/c")
        file.upload_data(data, overwrite=True, chunk_size=1 << 20, metadata={"kind": "noise"}, permissions="0640", umask="0000")
        self.assertEqual(file.download_file().readall(), data)
        self.assertEqual(file.get_access_control()["permissions"], "rw-r-----")
        blobs = BlobServiceClient(fixtures.endpoint("lake"), **fixtures.ONCE).get_container_client(self.files.file_system_name)
        self.assertEqual(blobs.download_blob("a/b/c").readall(), data)
        self.assertEqual(blobs.get_blob_client("a/b").get_blob_properties().metadata, {"hdi_isfolder": "true"})
        self.refused(409, "PathAlreadyExists", file.create_file, match_condition=MatchConditions.IfMissing)
        self.refused(412, "ConditionNotMet", file.upload_data, b"no", overwrite=False)
        self.assertEqual(file.download_file().readall(), data)

    def test_appended_bytes_count_once_they_are_flushed(self):
        file = self.files.create_file("log")
        file.append_data(b"two", 3)
        file.append_data(b"one", 0)
        self.assertEqual(file.get_file_properties().size, 0)
        self.refused(400, "InvalidFlushPosition", file.flush_data, 7)
        file.flush_data(6)
        self.assertEqual(file.download_file().readall(), b"onetwo")

    def test_renames_are_guarded_and_take_all_along(self):
        for path in ("from/x/1", "from/2"):
            self.upload(path)
        target = self.upload("to/file", b"kept")
        whole = self.files.file_system_name
        source = self.files.get_file_client("from/2")
        self.refused(412, "ConditionNotMet", source.rename_file, f"{whole}/to/file",
                     etag='"0x1"', match_condition=MatchConditions.IfNotModified)
        self.assertEqual(target.download_file().readall(), b"kept")
        self.files.get_directory_client("from").rename_directory(f"{whole}/moved")
        self.assertEqual(self.paths(path="moved"), ["moved/2", "moved/x", "moved/x/1"])
        self.refused(404, "SourcePathNotFound", source.rename_file, f"{whole}/to/other")

    def test_a_lease_keeps_others_out(self):
        file = self.upload("leased")
        lease = file.acquire_lease(15)
        self.refused(412, "LeaseIdMissing", file.append_data, b"no", 5)
        self.refused(412, "LeaseIdMissing", file.delete_file)
        file.append_data(b"+", 5, lease=lease)
        file.flush_data(6, lease=lease)
        lease.release()
        self.assertEqual(file.download_file().readall(), b"first+")

    def test_listings_have_pages(self):
        for number in range(11):
            self.upload(f"d/{number:02}")
        pages = [len([*page]) for page in self.files.get_paths(max_results=5).by_page()]
        self.assertEqual(pages, [5, 5, 2])
        self.assertEqual(self.paths(recursive=False), ["d"])
        self.refused(404, "PathNotFound", self.paths, path="none")

    def test_access_control_goes_down_a_tree(self):
        for path in ("t/a/1", "t/2"):
            self.upload(path)
        top = self.files.get_directory_client("t")
        entry = "user:11111111-2222-3333-4444-555555555555:r-x"
        result = top.update_access_control_recursive(acl=entry, batch_size=2)
        self.assertEqual((result.counters.directories_successful, result.counters.files_successful,
                          result.counters.failure_count), (2, 2, 0))
        self.assertIn(entry, self.files.get_file_client("t/a/1").get_access_control()["acl"])
        top.remove_access_control_recursive(acl=entry.rsplit(":", 1)[0])
        self.assertNotIn(entry, self.files.get_file_client("t/a/1").get_access_control()["acl"])
        self.refused(400, "InvaldAccessControlList", top.set_access_control, acl="user::rwx,nonsense")

    def test_deleting_takes_all_below(self):
        self.upload("gone/deep/er")
        self.files.delete_directory("gone")
        self.assertEqual(self.paths(), [])
        self.refused(404, "PathNotFound", self.files.get_directory_client("gone").get_access_control)
        self.refused(404, "FilesystemNotFound", self.service.get_file_system_client(fixtures.new_name()).create_file, "f")
