"""What SMB clients cache, and operations of REST on the same files: who has to give up what, who waits for it and for how long.
Besides: locks of ranges, handles that outlive their connections, and handles as REST lists and ends them."""

import concurrent.futures
import contextlib
import datetime
import http.server
import threading
import time
import unittest
import uuid

from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ContentSettings, ShareFileClient, ShareLeaseClient, ShareServiceClient, generate_file_sas
from impacket.smb3structs import DELETE, FILE_READ_DATA, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_WRITE_DATA
from impacket.smbconnection import SessionError

from harness import ACCOUNT, KEY, Server
from smb_caching import BATCH, TIMEOUT_S, CachingClient
from test_smb import smb_port

EVERYTHING = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE
BOTH = FILE_READ_DATA | FILE_WRITE_DATA
TEXT = b"hello"
SHARING_VIOLATION = 0xC0000043


def copy_of(file, content=None):
    """Another file beside it, with this content or none at all."""
    other = ShareFileClient(file.url.rsplit("?", 1)[0].rsplit("/", 2)[0], file.share_name, "c" + uuid.uuid4().hex,
                            credential={"account_name": ACCOUNT, "account_key": KEY}, retry_total=0)
    if content is not None:
        other.upload_file(content)
    return other


READS = {
    "get": lambda file, **named: file.download_file(**named).readall(),
    "get properties": lambda file, **named: file.get_file_properties(**named),
    "list ranges": lambda file, **named: file.get_ranges(**named),
    "copy from": lambda file, **named: copy_of(file).start_copy_from_url(file.url, **named),
}
WRITES = {
    "put range": lambda file, **named: file.upload_range(b"REST!", 0, 5, **named),
    "set properties": lambda file, **named: file.set_http_headers(ContentSettings(content_type="text/plain"), **named),
    "set metadata": lambda file, **named: file.set_file_metadata({"a": "b"}, **named),
    "set length": lambda file, **named: file.resize_file(512, **named),
    "create": lambda file, **named: file.create_file(5, **named),
    "copy to": lambda file, **named: file.start_copy_from_url(copy_of(file, b"source").url, **named),
}
# What a client keeps of what it has, and whether the operation waits until it has said so.
LEFT_BY_READS = {"RWH": ("RH", True), "RW": ("R", True), "RH": None, "R": None}
LEFT_BY_WRITES = {"RWH": ("", True), "RW": ("", True), "RH": ("", False), "R": ("", False)}


@contextlib.contextmanager
def held_source(content):
    """The address of something on another server, which it begins to send once the event is set."""
    go_on = threading.Event()

    class Source(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()

        def do_GET(self):
            self.do_HEAD()
            self.wfile.flush()
            go_on.wait(TIMEOUT_S)
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Source) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{web.server_port}/source", go_on
        finally:
            go_on.set()
            web.shutdown()


class SmbCaching(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--copyFromPrivateAddresses")
        cls.addClassCleanup(cls.server.stop)
        cls.port = smb_port(cls.server)
        shares = ShareServiceClient(cls.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY},
                                    retry_total=0)
        cls.share = shares.create_share("data")
        cls.pool = concurrent.futures.ThreadPoolExecutor(1)
        cls.addClassCleanup(cls.pool.shutdown)

    def setUp(self):
        self.client = CachingClient(self.port, "data")
        self.addCleanup(self.client.close)

    def make(self, content=TEXT):
        file = self.share.get_file_client("f" + uuid.uuid4().hex)
        file.upload_file(content)
        return file

    def open(self, file, access=BOTH, **named):
        return self.client.open(file.file_name, access, EVERYTHING, **named)

    def rest_refuses(self, status, code, action, *arguments, **named):
        with self.assertRaises(HttpResponseError) as caught:
            action(*arguments, **named)
        self.assertEqual((caught.exception.status_code, caught.exception.error_code), (status, code))

    def smb_refuses(self, status, action, *arguments, **named):
        with self.assertRaises(SessionError) as caught:
            action(*arguments, **named)
        self.assertEqual(hex(caught.exception.getErrorCode()), hex(status))

    # --- Leases and oplocks ---

    def check_break(self, operation, held, left):
        """One operation against one lease. What the client writes between the break and its answer comes before it."""
        file = self.make()
        opened = self.open(file, lease=held)
        self.assertEqual(opened.lease, held)
        done = self.pool.submit(operation, file)
        if left is None:
            done.result()
            self.assertFalse(self.client.has_break())
            self.client.shut(opened)
            return file
        kept, waits = left
        self.assertEqual(self.client.next_break(), (held, kept, held != "R"))
        if waits:
            self.client.write(opened, b"client says")
            self.assertFalse(done.done())
        else:
            done.result()
        if held != "R":
            self.client.acknowledge(opened, kept)
        result = done.result()
        self.client.shut(opened)
        if waits and operation is READS["get"]:
            self.assertEqual(result, b"client says")
        if waits and operation is WRITES["put range"]:
            self.assertEqual(file.download_file().readall(), b"REST!t says")
        return file

    def test_reads_take_what_is_written_and_no_more(self):
        for held, left in LEFT_BY_READS.items():
            for name, operation in READS.items():
                with self.subTest(held=held, operation=name):
                    self.check_break(operation, held, left)

    def test_writes_take_everything(self):
        for held, left in LEFT_BY_WRITES.items():
            for name, operation in WRITES.items():
                with self.subTest(held=held, operation=name):
                    self.check_break(operation, held, left)

    def test_lists_take_nothing(self):
        file = self.make()
        opened = self.open(file, lease="RWH")
        self.assertIn(file.file_name, [each["name"] for each in self.share.list_directories_and_files()])
        self.assertFalse(self.client.has_break())
        self.client.shut(opened)

    def test_deletion_asks_for_handles(self):
        for held, left in (("RWH", "RW"), ("RH", "R")):
            for gives_up in (True, False):
                with self.subTest(held=held, gives_up=gives_up):
                    file = self.make()
                    opened = self.open(file, lease=held)
                    done = self.pool.submit(file.delete_file)
                    self.assertEqual(self.client.next_break(), (held, left, True))
                    if gives_up:  # The program had closed it long ago.
                        self.client.shut(opened)
                        done.result()
                        self.rest_refuses(404, "ResourceNotFound", file.get_file_properties)
                        continue
                    self.client.acknowledge(opened, left)
                    self.rest_refuses(409, "SharingViolation", done.result)
                    self.client.shut(opened)
                    self.assertEqual(file.download_file().readall(), TEXT)

    def test_deletion_does_not_ask_who_keeps_no_handles(self):
        file = self.make()
        opened = self.open(file, lease="RW")
        self.rest_refuses(409, "SharingViolation", file.delete_file)
        self.assertFalse(self.client.has_break())
        self.client.shut(opened)

    def test_a_handle_in_the_way_is_asked_for_first(self):
        file = self.make()
        opened = self.client.open(file.file_name, BOTH, 0, lease="RWH")
        done = self.pool.submit(lambda: file.download_file().readall())
        self.assertEqual(self.client.next_break(), ("RWH", "RW", True))
        self.client.shut(opened)
        self.assertEqual(done.result(), TEXT)
        opened = self.client.open(file.file_name, BOTH, 0, lease="RWH")
        done = self.pool.submit(lambda: file.download_file().readall())
        self.client.next_break()
        self.client.acknowledge(opened, "RW")
        self.rest_refuses(409, "SharingViolation", done.result)
        self.client.shut(opened)

    def test_oplocks_are_broken_likewise(self):
        file = self.make()
        opened = self.open(file, oplock=BATCH)
        self.assertEqual(opened.oplock, BATCH)
        done = self.pool.submit(lambda: file.download_file().readall())
        self.assertEqual(self.client.next_break(), (None, "R", True))
        self.client.write(opened, b"HELLO")
        self.client.acknowledge(opened, "R")
        self.assertEqual(done.result(), b"HELLO")
        file.upload_range(b"REST!", 0, 5)  # Level II ends without an answer.
        self.assertEqual(self.client.next_break(), (None, "", True))
        self.client.shut(opened)

    def test_who_does_not_answer_is_not_waited_for_longer_than_asked(self):
        for operation in (READS["get"], WRITES["put range"], WRITES["set metadata"]):
            file = self.make()
            before = file.get_file_properties().etag
            opened = self.open(file, lease="RWH")
            began = time.monotonic()
            self.rest_refuses(408, "ClientCacheFlushDelay", operation, file, timeout=1)
            self.assertLess(time.monotonic() - began, 20)
            _, kept, _ = self.client.next_break()
            self.client.acknowledge(opened, kept)
            self.client.shut(opened)
            self.assertEqual(file.get_file_properties().etag, before)

    # --- Locks of ranges ---

    def test_locks_of_ranges_forbid_writes(self):
        file = self.make(b"x" * 1000)
        opened = self.open(file)
        for exclusive in (True, False):
            self.client.lock(opened, 500, 10, exclusive=exclusive)
            for offset in (0, 500):  # Whichever range it is.
                self.rest_refuses(409, "FileLockConflict", file.upload_range, b"12345", offset, 5)
            self.rest_refuses(409, "FileLockConflict", file.clear_range, 0, 512)
            self.assertEqual(file.get_file_properties().size, 1000)
            file.set_file_metadata({"a": "b"})
            self.client.unlock(opened, 500, 10)
            file.upload_range(b"12345", 0, 5)
        self.client.shut(opened)
        self.assertEqual(file.download_file().readall(), b"12345" + b"x" * 995)

    def test_exclusive_locks_forbid_reads_of_what_they_cover(self):
        file = self.make(b"x" * 1000)
        opened = self.open(file)
        self.client.lock(opened, 500, 10)
        self.rest_refuses(409, "FileLockConflict", lambda: file.download_file().readall())
        self.rest_refuses(409, "FileLockConflict", lambda: file.download_file(offset=505, length=1).readall())
        self.assertEqual(file.download_file(offset=0, length=500).readall(), b"x" * 500)
        self.assertEqual(file.download_file(offset=510, length=10).readall(), b"x" * 10)
        self.assertEqual(len(file.get_ranges()), 1)
        self.client.unlock(opened, 500, 10)
        self.client.lock(opened, 500, 10, exclusive=False)
        self.assertEqual(file.download_file().readall(), b"x" * 1000)
        self.client.shut(opened)

    def test_exclusive_locks_forbid_copies_of_what_they_cover(self):
        source, copy = self.make(b"x" * 1000), self.make(b"y" * 1000)
        opened = self.open(source)
        self.client.lock(opened, 500, 10)
        before = copy.get_file_properties().etag
        self.rest_refuses(409, "FileLockConflict", copy.start_copy_from_url, source.url)

        def take(offset, length):
            expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
            token = generate_file_sas(ACCOUNT, "data", [source.file_name], KEY, permission="r", expiry=expiry)
            copy.upload_range_from_url(f"{source.url}?{token}", offset, length, offset)
        self.rest_refuses(409, "CannotVerifyCopySource", take, 505, 100)
        self.assertEqual(copy.get_file_properties().etag, before)
        take(0, 500)
        take(510, 10)
        self.client.unlock(opened, 500, 10)
        self.client.lock(opened, 500, 10, exclusive=False)
        take(505, 100)
        self.assertEqual(copy.download_file().readall(), b"x" * 500 + b"y" * 5 + b"x" * 100 + b"y" * 395)
        copy.start_copy_from_url(source.url)
        self.assertEqual(copy.download_file().readall(), b"x" * 1000)
        self.client.shut(opened)

    def test_locks_end_with_their_handle(self):
        file = self.make()
        opened = self.open(file)
        self.client.lock(opened, 0, 5)
        self.rest_refuses(409, "FileLockConflict", file.upload_range, b"12345", 0, 5)
        self.client.shut(opened)
        file.upload_range(b"12345", 0, 5)

    # --- Marks for deletion ---

    def test_a_mark_for_deletion_can_be_withdrawn(self):
        file = self.make()
        opened = self.open(file, BOTH | DELETE)
        self.client.mark_for_deletion(opened, True)
        self.rest_refuses(409, "SMBDeletePending", file.get_file_properties)
        self.smb_refuses(0xC0000056, self.open, file)
        self.client.mark_for_deletion(opened, False)
        self.assertEqual(file.download_file().readall(), TEXT)
        self.client.shut(opened)
        self.assertEqual(file.download_file().readall(), TEXT)

    def test_a_directory_with_something_pending_is_not_empty(self):
        folder = self.share.get_directory_client("d" + uuid.uuid4().hex)
        folder.create_directory()
        folder.get_file_client("inner").upload_file(b"x")
        keeper = self.client.open(f"{folder.directory_path}\\inner", FILE_READ_DATA, EVERYTHING)
        deleter = self.client.open(f"{folder.directory_path}\\inner", DELETE, EVERYTHING, options=0x1040)
        self.client.shut(deleter)
        self.assertEqual(list(folder.list_directories_and_files()), [])
        self.rest_refuses(409, "DirectoryNotEmpty", folder.delete_directory)
        self.client.shut(keeper)
        folder.delete_directory()

    # --- Leases of REST ---

    def test_a_lease_of_rest_is_granted_beside_readers_alone(self):
        file = self.make()
        reader = self.open(file, FILE_READ_DATA)
        lease = ShareLeaseClient(file)
        lease.acquire()
        self.smb_refuses(0xC0000043, self.open, file, FILE_WRITE_DATA)
        self.smb_refuses(0xC0000043, self.open, file, DELETE)
        self.rest_refuses(412, "LeaseIdMissing", file.upload_range, b"12345", 0, 5)
        lease.release()
        self.client.shut(self.open(file, FILE_WRITE_DATA))
        self.client.shut(reader)

    # --- Handles ---

    def test_a_listed_handle_says_whose_it_is(self):
        folder = self.share.get_directory_client("d" + uuid.uuid4().hex)
        folder.create_directory()
        file = folder.get_file_client("inner")
        file.upload_file(TEXT)
        opened = self.client.open(f"{folder.directory_path}\\inner", BOTH, EVERYTHING)
        handle, = file.list_handles()
        properties = file.get_file_properties()
        self.assertEqual(handle["path"], f"{folder.directory_path}/inner")
        self.assertEqual((handle["file_id"], handle["parent_id"]), (properties.file_id, properties.parent_id))
        self.assertTrue(int(handle["session_id"]))
        self.assertTrue(handle["client_ip"].startswith("127.0.0.1"))
        self.assertIsNone(handle["last_reconnect_time"])
        age = datetime.datetime.now(datetime.timezone.utc) - handle["open_time"]
        self.assertLess(abs(age.total_seconds()), 60)
        self.assertEqual([each["id"] for each in folder.list_handles(recursive=True)], [handle["id"]])
        self.assertEqual(list(folder.list_handles(recursive=False)), [])
        self.assertEqual(file.close_handle("12345")["closed_handles_count"], 0)
        self.assertEqual(file.close_handle(handle["id"])["closed_handles_count"], 1)
        self.smb_refuses(0xC0000128, self.client.read, opened, 0, 5)
        self.assertEqual(list(file.list_handles()), [])

    def test_a_handle_survives_a_lost_connection(self):
        file = self.make()
        name = uuid.uuid4()
        opened = self.open(file, oplock=BATCH, durable=name)
        self.assertTrue(opened.durable)
        self.client.lock(opened, 0, 2)
        self.client.cut()
        handle, = file.list_handles()
        again = CachingClient(self.port, "data")
        self.addCleanup(again.close)
        back = self.come_back(again, file, name, opened)
        self.assertEqual(again.read(back, 0, 5), TEXT)
        listed, = file.list_handles()
        self.assertEqual(listed["id"], handle["id"])
        self.assertIsNotNone(listed["last_reconnect_time"])
        again.unlock(back, 0, 2)
        again.shut(back)

    def come_back(self, client, file, name, opened):
        """Once the server has noticed that the connection is gone."""
        end = time.monotonic() + 30
        while True:
            try:
                return client.open(file.file_name, BOTH, EVERYTHING, durable=name, back=opened)
            except SessionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def test_a_directory_is_renamed_although_clients_keep_what_they_have_closed(self):
        directory = self.share.create_directory("d" + uuid.uuid4().hex)
        file = directory.get_file_client("file")
        file.upload_file(TEXT)
        path = f"{directory.directory_path}\\file"
        opened = self.client.open(path, FILE_READ_DATA, EVERYTHING, lease="RH")
        renamed = self.pool.submit(directory.rename_directory, directory.directory_path + "2")
        self.assertEqual(self.client.next_break(), ("RH", "R", True))
        self.client.shut(opened)
        moved = renamed.result(TIMEOUT_S)
        self.assertEqual(moved.get_file_client("file").download_file().readall(), TEXT)
        # What is really open stays where it is.
        opened = self.client.open(f"{moved.directory_path}\\file", FILE_READ_DATA, EVERYTHING)
        self.rest_refuses(409, "SharingViolation", moved.rename_directory, directory.directory_path)
        self.client.shut(opened)

    # --- Copies from other servers, which take their time ---

    def copy_ends(self, file):
        end = time.monotonic() + TIMEOUT_S
        while (status := file.get_file_properties()["copy"]["status"]) == "pending" and time.monotonic() < end:
            time.sleep(0.05)
        return status

    def test_nothing_is_copied_over_a_file_that_somebody_writes(self):
        file = self.make()
        opened = self.open(file)
        with held_source(b"from elsewhere") as (source, _):
            self.rest_refuses(409, "SharingViolation", file.start_copy_from_url, source)
        self.client.write(opened, b"HELLO")
        self.client.shut(opened)
        self.assertEqual(file.download_file().readall(), b"HELLO")
        self.assertIsNone(file.get_file_properties()["copy"]["status"])

    def test_while_a_copy_is_pending_a_file_is_only_read_and_by_those_who_let_it_be_written(self):
        file = self.make()
        with held_source(b"from elsewhere") as (source, go_on):
            file.start_copy_from_url(source)
            for access, share in ((BOTH, EVERYTHING), (DELETE, EVERYTHING), (FILE_READ_DATA, FILE_SHARE_READ)):
                self.smb_refuses(SHARING_VIOLATION, self.client.open, file.file_name, access, share)
            opened = self.open(file, FILE_READ_DATA, lease="RWH")
            self.assertEqual(self.client.read(opened, 0, 100), bytes(len(b"from elsewhere")))
            go_on.set()
            # What the reader has cached of it is true no more.
            before, after, must_say = self.client.next_break()
            self.assertEqual((before, after), (opened.lease, ""))
            if must_say:
                self.client.acknowledge(opened, "")
            self.assertEqual(self.copy_ends(file), "success")
        self.assertEqual(self.client.read(opened, 0, 100), b"from elsewhere")
        self.client.shut(opened)
        self.client.shut(self.open(file))

    def test_a_handle_without_its_client_is_in_nobodys_way(self):
        file = self.make()
        name = uuid.uuid4()
        opened = self.open(file, oplock=BATCH, durable=name)
        self.client.cut()
        file.upload_range(b"REST!", 0, 5)
        again = CachingClient(self.port, "data")
        self.addCleanup(again.close)
        self.smb_refuses(0xC0000034, again.open, file.file_name, BOTH, EVERYTHING, durable=name, back=opened)
        file.delete_file()


if __name__ == "__main__":
    unittest.main()
