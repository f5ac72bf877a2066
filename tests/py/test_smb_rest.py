"""SMB and REST on the same files: what an open over SMB forbids to REST and the other way round, what each sees of the other's
writes, and what a refusal leaves unchanged."""

import functools
import re
import unittest
import uuid

from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ContentSettings, ShareLeaseClient, ShareServiceClient
from impacket.smb3structs import (
    DELETE, FILE_CREATE, FILE_DELETE_ON_CLOSE, FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_IF,
    FILE_READ_ATTRIBUTES, FILE_READ_DATA, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_WRITE_DATA, SMB2_DIALECT_30)
from impacket.smbconnection import SessionError, SMBConnection

from harness import ACCOUNT, KEY, Server

SHARING = {"R": FILE_SHARE_READ, "W": FILE_SHARE_WRITE, "D": FILE_SHARE_DELETE}
FILE_ALL_ACCESS = 0x1F01FF
EVERYTHING = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE

SHARING_VIOLATION = 0xC0000043
DELETE_PENDING = 0xC0000056

# By what an open lets others do: the REST operations that fail with 409 SharingViolation while it stands.
FORBIDDEN = {
    "": {"create", "get", "set properties", "set metadata", "delete", "put range", "list ranges", "lease"},
    "R": {"create", "set properties", "set metadata", "delete", "put range", "lease"},
    "W": {"create", "get", "delete", "list ranges", "lease"},
    "D": {"create", "get", "set properties", "set metadata", "put range", "list ranges", "delete", "lease"},
    "RW": {"create", "delete", "lease"},
    "RD": {"create", "set properties", "set metadata", "put range", "delete", "lease"},
    "WD": {"get", "list ranges", "delete", "lease"},
    "RWD": {"delete"},
}


def smb_port(server):
    return int(re.search(r"^  SMB +smb://127\.0\.0\.1:(\d+)/SHARE$", server.output, re.MULTILINE)[1])


def lease_and_release(file):
    ShareLeaseClient(file).acquire()
    ShareLeaseClient(file).break_lease()


OPERATIONS = {
    "create": lambda file: file.create_file(5),
    "get": lambda file: file.download_file().readall(),
    "set properties": lambda file: file.set_http_headers(ContentSettings(content_type="text/plain")),
    "set metadata": lambda file: file.set_file_metadata({"a": "b"}),
    "put range": lambda file: file.upload_range(b"12345", 0, 5),
    "list ranges": lambda file: file.get_ranges(),
    "get properties": lambda file: file.get_file_properties(),
    "lease": lease_and_release,
    "delete": lambda file: file.delete_file(),
}


class SmbAndRest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        shares = ShareServiceClient(cls.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY}, retry_total=0)
        cls.share = shares.create_share("data")
        cls.smb = SMBConnection("127.0.0.1", "127.0.0.1", sess_port=smb_port(cls.server), preferredDialect=SMB2_DIALECT_30)
        cls.smb.login(ACCOUNT, KEY)
        cls.addClassCleanup(cls.smb.close)
        cls.tree = cls.smb.connectTree("data")

    def make(self, content=b"hello"):
        file = self.share.get_file_client("f" + uuid.uuid4().hex)
        file.upload_file(content)
        return file

    def open(self, file, access=FILE_READ_DATA, share=EVERYTHING, disposition=FILE_OPEN, options=FILE_NON_DIRECTORY_FILE):
        handle = self.smb.openFile(self.tree, file.file_name, desiredAccess=access, shareMode=share, creationOption=options,
                                   creationDisposition=disposition)
        return handle

    def close(self, handle):
        self.smb.closeFile(self.tree, handle)

    def smb_refuses(self, status, action, *arguments, **named):
        with self.assertRaises(SessionError) as caught:
            action(*arguments, **named)
        self.assertEqual(hex(caught.exception.getErrorCode()), hex(status))

    def rest_refuses(self, status, code, action):
        with self.assertRaises(HttpResponseError) as caught:
            action()
        self.assertEqual((caught.exception.status_code, caught.exception.error_code), (status, code))

    def test_share_modes_forbid_what_the_table_says(self):
        for letters, forbidden in FORBIDDEN.items():
            for name, operation in OPERATIONS.items():
                with self.subTest(share=letters, operation=name):
                    file = self.make()
                    handle = self.open(file, share=sum(SHARING[letter] for letter in letters))
                    before = file.get_file_properties()
                    if name in forbidden:
                        self.rest_refuses(409, "SharingViolation", lambda: operation(file))
                        self.assertEqual(file.get_file_properties().etag, before.etag)
                    else:
                        operation(file)
                    self.close(handle)

    def test_opens_for_attributes_forbid_nothing_but_deletion(self):
        for name, operation in OPERATIONS.items():
            with self.subTest(operation=name):
                file = self.make()
                handle = self.open(file, access=FILE_READ_ATTRIBUTES, share=0)
                if name == "delete":
                    self.rest_refuses(409, "SharingViolation", lambda: operation(file))
                else:
                    operation(file)
                self.close(handle)

    def test_a_lease_of_rest_lets_smb_only_read(self):
        file = self.make()
        lease = ShareLeaseClient(file)
        lease.acquire()
        self.close(self.open(file, FILE_READ_DATA))
        for access in (FILE_WRITE_DATA, DELETE, FILE_ALL_ACCESS):
            self.smb_refuses(SHARING_VIOLATION, self.open, file, access)
        lease.release()
        self.close(self.open(file, FILE_ALL_ACCESS))

    def test_who_writes_over_smb_cannot_be_leased(self):
        file = self.make()
        for access in (FILE_WRITE_DATA, DELETE):
            handle = self.open(file, access)
            self.rest_refuses(409, "SharingViolation", ShareLeaseClient(file).acquire)
            self.close(handle)

    def test_a_file_that_waits_to_be_deleted_is_refused_to_all(self):
        file = self.make()
        keeper = self.open(file)
        deleter = self.open(file, DELETE, options=FILE_DELETE_ON_CLOSE)
        self.close(deleter)
        for name, operation in OPERATIONS.items():
            with self.subTest(operation=name):
                self.rest_refuses(409, "SMBDeletePending", lambda: operation(file))
        self.smb_refuses(DELETE_PENDING, self.open, file)
        self.assertNotIn(file.file_name, [each["name"] for each in self.share.list_directories_and_files()])
        self.close(keeper)
        self.rest_refuses(404, "ResourceNotFound", file.get_file_properties)

    def test_nothing_is_renamed_to_what_waits_to_be_deleted(self):
        file, other = self.make(), self.make()
        keeper = self.open(file)
        self.delete_on_close(file.file_name, FILE_NON_DIRECTORY_FILE)
        for replaces in (False, True):
            self.rest_refuses(409, "SMBDeletePending", lambda: other.rename_file(file.file_name, overwrite=replaces))
        self.close(keeper)
        other.rename_file(file.file_name)

    def delete_on_close(self, name, kind):
        """By a client of its own."""
        smb = SMBConnection("127.0.0.1", "127.0.0.1", sess_port=smb_port(self.server), preferredDialect=SMB2_DIALECT_30)
        self.addCleanup(smb.close)
        smb.login(ACCOUNT, KEY)
        tree = smb.connectTree("data")
        smb.closeFile(tree, smb.openFile(tree, name, desiredAccess=DELETE, shareMode=EVERYTHING,
                                         creationOption=kind | FILE_DELETE_ON_CLOSE, creationDisposition=FILE_OPEN))

    def test_a_full_directory_stays_as_it_is_when_it_is_to_be_deleted(self):
        name = "d" + uuid.uuid4().hex
        directory = self.share.create_directory(name)
        keeper = self.smb.openFile(self.tree, name, desiredAccess=FILE_READ_DATA, shareMode=EVERYTHING,
                                   creationOption=FILE_DIRECTORY_FILE, creationDisposition=FILE_OPEN)
        directory.upload_file("inside", b"x")
        self.delete_on_close(name, FILE_DIRECTORY_FILE)
        directory.upload_file("more", b"x")
        for inside in ("inside", "more"):
            self.assertEqual(directory.get_file_client(inside).download_file().readall(), b"x")
            directory.delete_file(inside)
        self.delete_on_close(name, FILE_DIRECTORY_FILE)
        self.rest_refuses(409, "SMBDeletePending", lambda: directory.upload_file("late", b"x"))
        self.close(keeper)
        self.rest_refuses(404, "ResourceNotFound", directory.get_directory_properties)

    def test_each_sees_what_the_other_writes(self):
        file = self.share.get_file_client("f" + uuid.uuid4().hex)
        handle = self.open(file, FILE_ALL_ACCESS, disposition=FILE_CREATE)
        self.smb.writeFile(self.tree, handle, b"over smb", 0)
        self.assertEqual(file.download_file().readall(), b"over smb")
        sizes = {each["name"]: each["size"] for each in self.share.list_directories_and_files() if not each["is_directory"]}
        self.assertEqual(sizes[file.file_name], 8)
        file.upload_range(b"REST", 0, 4)
        self.assertEqual(self.smb.readFile(self.tree, handle, 0, 100), b"REST smb")
        self.smb.writeFile(self.tree, handle, b"!" * 100_000, 8)
        self.close(handle)
        self.assertEqual(file.download_file().readall(), b"REST smb" + b"!" * 100_000)
        properties = file.get_file_properties()
        self.assertIn("Archive", properties.file_attributes)

    def test_a_snapshot_shows_what_was_written_before(self):
        share = self.share
        file = share.get_file_client("f" + uuid.uuid4().hex)
        handle = self.open(file, FILE_ALL_ACCESS, disposition=FILE_OPEN_IF)
        self.smb.writeFile(self.tree, handle, b"then", 0)
        snapshot = share.create_snapshot()["snapshot"]
        self.smb.writeFile(self.tree, handle, b"now!", 0)
        shares = ShareServiceClient(self.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY})
        shown = shares.get_share_client("data", snapshot=snapshot).get_file_client(file.file_name)
        self.assertEqual(shown.download_file().readall(), b"then")
        self.close(handle)
        self.assertEqual(file.download_file().readall(), b"now!")
        self.assertEqual(shown.download_file().readall(), b"then")

    def test_handles_are_listed_and_closed_by_force(self):
        file = self.make()
        handle = self.open(file, FILE_ALL_ACCESS)
        listed = list(file.list_handles())
        self.assertEqual([each["path"] for each in listed], [file.file_name])
        self.assertEqual(file.close_all_handles()["closed_handles_count"], 1)
        self.smb_refuses(0xC0000128, self.smb.readFile, self.tree, handle, 0, 5)
        file.delete_file()

    def test_the_quota_binds_both(self):
        shares = ShareServiceClient(self.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY}, retry_total=0)
        small = shares.create_share("small", quota=1)
        gib = 1 << 30
        small.get_file_client("a").create_file(gib - 100)
        self.rest_refuses(403, "ShareSizeLimitReached", lambda: small.get_file_client("b").create_file(101))
        tree = self.smb.connectTree("small")
        handle = self.smb.openFile(tree, "c", desiredAccess=FILE_ALL_ACCESS, creationDisposition=FILE_OPEN_IF,
                                   creationOption=FILE_NON_DIRECTORY_FILE)
        self.smb_refuses(0xC000007F, self.smb.writeFile, tree, handle, b"x" * 101, 0)
        self.smb.writeFile(tree, handle, b"x" * 100, 0)
        self.rest_refuses(403, "ShareSizeLimitReached", lambda: small.get_file_client("b").create_file(1))
        self.smb.closeFile(tree, handle)
        small.get_file_client("c").delete_file()
        small.get_file_client("b").create_file(100)

    def test_a_quota_that_is_changed_binds_who_has_the_share_mounted(self):
        shares = ShareServiceClient(self.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY}, retry_total=0)
        share = shares.create_share("changing", quota=1)
        tree = self.smb.connectTree("changing")
        handle = self.smb.openFile(tree, "a", desiredAccess=FILE_ALL_ACCESS, creationDisposition=FILE_OPEN_IF,
                                   creationOption=FILE_NON_DIRECTORY_FILE)
        gib = 1 << 30
        self.smb_refuses(0xC000007F, self.smb.writeFile, tree, handle, b"x", gib)
        share.set_share_quota(2)
        self.smb.writeFile(tree, handle, b"x", gib)
        share.set_share_quota(1)
        self.smb_refuses(0xC000007F, self.smb.writeFile, tree, handle, b"y", gib + 1)
        self.smb.closeFile(tree, handle)

    def test_a_deleted_share_is_gone_for_who_has_it_mounted(self):
        shares = ShareServiceClient(self.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY}, retry_total=0)
        share = shares.create_share("gone")
        share.get_file_client("there").upload_file(b"hello")
        tree = self.smb.connectTree("gone")
        open_file = functools.partial(self.smb.openFile, tree, desiredAccess=FILE_ALL_ACCESS, creationOption=FILE_NON_DIRECTORY_FILE)
        handle = open_file("there", creationDisposition=FILE_OPEN)
        self.smb.writeFile(tree, handle, b"later", 0)
        share.delete_share()
        closed, deleted = 0xC0000128, 0xC00000C9
        self.smb_refuses(closed, self.smb.readFile, tree, handle, 0, 5)
        self.smb_refuses(closed, self.smb.writeFile, tree, handle, b"x", 0)
        self.smb_refuses(deleted, open_file, "there", creationDisposition=FILE_OPEN)
        self.smb_refuses(deleted, open_file, "new", creationDisposition=FILE_OPEN_IF)


if __name__ == "__main__":
    unittest.main()
