"""Data Lake through the Python SDK of Debian: directories, renames, appends, access control, and the Blob API beside it."""

import os

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient
from azure.storage.filedatalake import DataLakeServiceClient

import harness

CREDENTIAL = {"account_name": harness.ACCOUNT, "account_key": harness.KEY}


class PythonLakeTest(harness.ServerTestCase):
    flags = ("--setting", "hierarchicalNamespace=true")

    def setUp(self):
        name = self.id().rsplit(".", 1)[1].replace("_", "-")
        self.service = DataLakeServiceClient(self.server.blob_url, credential=CREDENTIAL, retry_total=0)
        self.files = self.service.create_file_system(name)
        self.blobs = BlobServiceClient(self.server.blob_url, credential=CREDENTIAL, retry_total=0).get_container_client(name)

    def paths(self, **which):
        return [path.name for path in self.files.get_paths(**which)]

    def refused(self, status, code, action, *arguments, **named):
        with self.assertRaises(HttpResponseError) as caught:
            action(*arguments, **named)
        self.assertEqual((caught.exception.status_code, caught.exception.error_code), (status, code))

    def upload(self, path, data=b"hello"):
        file = self.files.create_file(path)
        file.append_data(data, 0)
        file.flush_data(len(data))
        return file

    def test_what_is_appended_is_there_once_it_is_flushed(self):
        file = self.files.create_file("a/b/log")
        data = os.urandom(300_000)
        etag = file.get_file_properties().etag
        file.append_data(data[100_000:], 100_000)  # In any order.
        file.append_data(data[:100_000], 0)
        self.assertEqual(file.get_file_properties().etag, etag)
        self.assertEqual(file.download_file().readall(), b"")
        self.refused(400, "InvalidFlushPosition", file.flush_data, 299_999)
        file.flush_data(len(data))
        self.assertEqual(file.download_file().readall(), data)
        self.assertEqual(self.blobs.download_blob("a/b/log").readall(), data)
        file.upload_data(b"anew", overwrite=True)
        self.assertEqual(file.download_file().readall(), b"anew")

    def test_a_directory_moves_with_all_that_is_in_it(self):
        for name in ("one", "two", "deep/er/three"):
            self.upload(f"from/{name}", name.encode())
        directory = self.files.get_directory_client("from")
        moved = directory.rename_directory(f"{self.files.file_system_name}/to")
        self.assertEqual(self.paths(recursive=True),
                         ["to", "to/deep", "to/deep/er", "to/deep/er/three", "to/one", "to/two"])
        self.assertEqual(moved.get_file_client("deep/er/three").download_file().readall(), b"deep/er/three")
        self.refused(404, "BlobNotFound", self.files.get_file_client("from/one").get_file_properties)
        self.upload("full/x")
        self.refused(409, "PathAlreadyExists", moved.rename_directory, f"{self.files.file_system_name}/full")
        self.refused(409, "InvalidRenameSourcePath", moved.rename_directory, f"{self.files.file_system_name}/to/deep/itself")
        self.assertEqual(self.paths(recursive=False), ["full", "to"])

    def test_a_rename_into_another_file_system(self):
        self.upload("d/f", b"moved")
        other = self.service.create_file_system(f"{self.files.file_system_name}-other")
        self.files.get_directory_client("d").rename_directory(f"{other.file_system_name}/e")
        self.assertEqual(other.get_file_client("e/f").download_file().readall(), b"moved")
        self.assertEqual(self.paths(recursive=True), [])

    def test_conditions_on_both_ends_of_a_rename(self):
        source = self.upload("source", b"s")
        target = self.upload("target", b"t")
        old = source.get_file_properties().etag
        source.set_metadata({"a": "1"})
        to = f"{self.files.file_system_name}/target"
        self.refused(412, "SourceConditionNotMet", source.rename_file, to, source_etag=old,
                     source_match_condition=MatchConditions.IfNotModified)
        self.refused(412, "ConditionNotMet", source.rename_file, to, etag=old, match_condition=MatchConditions.IfNotModified)
        self.assertEqual(target.download_file().readall(), b"t")
        etag = source.get_file_properties().etag
        moved = source.rename_file(to)
        self.assertEqual(moved.download_file().readall(), b"s")
        self.assertEqual(moved.get_file_properties().etag, etag)

    def test_deleting_directories(self):
        self.upload("d/e/f")
        directory = self.files.get_directory_client("d")
        self.refused(409, "DirectoryIsNotEmpty", self.blobs.delete_blob, "d")
        self.refused(400, "OperationNotSupportedOnDirectory", self.blobs.delete_blob, "d", delete_snapshots="include")
        directory.delete_directory()
        self.assertEqual(self.paths(recursive=True), [])
        self.refused(404, "PathNotFound", directory.delete_directory)

    def test_access_control(self):
        directory = self.files.create_directory("d", permissions="0777", umask="0057")
        self.assertEqual(directory.get_access_control()["permissions"], "rwx-w----")
        self.upload("d/f")
        directory.set_access_control(acl="user::rwx,group::r-x,other::---,default:user::rwx,default:group::r-x,default:other::---")
        self.assertIn("default:user::rwx", directory.get_access_control()["acl"])
        result = directory.set_access_control_recursive("user::rwx,group::rwx,other::r--")
        self.assertEqual((result.counters.directories_successful, result.counters.files_successful,
                          result.counters.failure_count), (1, 1, 0))
        self.assertEqual(self.files.get_file_client("d/f").get_access_control()["permissions"], "rwxrwxr--")
        self.refused(400, "InvaldAccessControlList", directory.set_access_control, acl="nonsense")

    def test_both_apis_see_one_object(self):
        self.blobs.upload_blob("x/y/blob", b"by the Blob API", metadata={"a": "b"})
        self.assertEqual(self.paths(recursive=True), ["x", "x/y", "x/y/blob"])
        shown = self.files.get_file_client("x/y/blob").get_file_properties()
        self.assertEqual((shown.size, shown.metadata["a"]), (15, "b"))
        self.assertEqual(self.blobs.get_blob_client("x/y").get_blob_properties().metadata, {"hdi_isfolder": "true"})
        lease = self.files.get_file_client("x/y/blob").acquire_lease()
        self.refused(412, "LeaseIdMissing", self.blobs.upload_blob, "x/y/blob", b"other", overwrite=True)
        lease.release()
        self.assertEqual([blob.name for blob in self.blobs.list_blobs()], ["x", "x/y", "x/y/blob"])
        self.assertEqual([item.name for item in self.blobs.walk_blobs("x/")], ["x/y/"])
