"""Files through the newest Python SDK."""

import os

from azure.storage.fileshare import ShareLeaseClient, ShareServiceClient

import fixtures


class ShareTest(fixtures.ClientTest):
    def setUp(self):
        self.service = ShareServiceClient(fixtures.endpoint("file"), **fixtures.ONCE)
        self.share = self.service.create_share(fixtures.new_name())
        self.addCleanup(self.share.delete_share, delete_snapshots=True)

    def upload(self, path, data=b"first"):
        file = self.share.get_file_client(path)
        file.upload_file(data)
        return file

    def test_what_is_uploaded_in_ranges_is_downloaded(self):
        data = os.urandom(9_000_001)
        file = self.share.get_file_client("large")
        file.upload_file(data, max_concurrency=3, metadata={"kind": "noise"})
        self.assertEqual(file.download_file(max_concurrency=3).readall(), data)
        self.assertEqual(file.download_file(offset=100, length=50).readall(), data[100:150])
        file.clear_range(0, 4096)
        self.assertEqual(file.download_file(offset=0, length=5000).readall(), bytes(4096) + data[4096:5000])
        file.resize_file(10_000_000)
        self.assertEqual(file.get_file_properties().size, 10_000_000)
        self.refused(416, "InvalidRange", lambda: file.download_file(offset=10_000_000, length=1).readall())

    def test_directories_list_and_move(self):
        for path in ("a", "a/b"):
            self.share.create_directory(path)
        for number in range(7):
            self.upload(f"a/f{number}")
        directory = self.share.get_directory_client("a")
        pages = [len([*page]) for page in directory.list_directories_and_files(results_per_page=5).by_page()]
        self.assertEqual(sum(pages), 8)
        self.refused(409, "DirectoryNotEmpty", directory.delete_directory)
        self.refused(409, "ResourceAlreadyExists", self.share.create_directory, "a")
        self.refused(404, "ParentNotFound", self.share.create_directory, "none/b")
        moved = directory.rename_directory("z")
        self.assertEqual(len([*moved.list_directories_and_files()]), 8)
        self.refused(404, "ResourceNotFound", directory.get_directory_properties)
        target = self.upload("target", b"old")
        source = self.share.get_file_client("z/f0")
        self.refused(409, "ResourceAlreadyExists", source.rename_file, "target")
        source.rename_file("target", overwrite=True)
        self.assertEqual(target.download_file().readall(), b"first")

    def test_a_lease_keeps_others_out(self):
        file = self.upload("leased")
        lease = file.acquire_lease()
        self.refused(412, "LeaseIdMissing", file.upload_range, b"n", 0, 1)
        self.refused(409, "LeaseAlreadyPresent", file.acquire_lease)
        file.upload_range(b"F", 0, 1, lease=lease)
        lease.break_lease()
        self.assertEqual(file.download_file().readall(), b"First")
        whole = ShareLeaseClient(self.share)
        whole.acquire(lease_duration=15)
        self.refused(412, "LeaseIdMissing", self.share.delete_share)
        whole.release()

    def test_snapshots_stay_as_they_were(self):
        file = self.upload("kept")
        snapshot = self.share.create_snapshot()["snapshot"]
        file.upload_file(b"second")
        then = self.service.get_share_client(self.share.share_name, snapshot=snapshot).get_file_client("kept")
        self.assertEqual(then.download_file().readall(), b"first")
        self.refused(409, "ShareHasSnapshots", self.share.delete_share)
        self.assertEqual(file.download_file().readall(), b"second")

    def test_shares_that_are_taken_or_missing(self):
        self.refused(409, "ShareAlreadyExists", self.service.create_share, self.share.share_name)
        self.refused(404, "ShareNotFound", self.service.get_share_client(fixtures.new_name()).get_share_properties)
        self.refused(404, "ResourceNotFound", self.share.get_file_client("none").download_file)
