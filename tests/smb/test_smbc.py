"""Files through libsmbclient, as desktops use it (python3-smbc)."""

import contextlib
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "py"))

import smbc  # noqa: E402
from azure.storage.fileshare import ShareServiceClient  # noqa: E402
from harness import ACCOUNT, KEY, Server  # noqa: E402
from test_smb import smb_port  # noqa: E402


class Smbc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        shares = ShareServiceClient(cls.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY})
        cls.share = shares.create_share("data")
        home = tempfile.TemporaryDirectory(prefix="kyanite-smbc-")
        cls.addClassCleanup(home.cleanup)
        os.environ["HOME"] = home.name
        cls.context = smbc.Context(auth_fn=lambda *_: ("WORKGROUP", ACCOUNT, KEY))
        cls.context.port = smb_port(cls.server)
        cls.root = "smb://127.0.0.1/data"

    def test_files(self):
        data = os.urandom(200_000)
        self.context.mkdir(self.root + "/folder", 0o755)
        with contextlib.closing(self.context.open(self.root + "/folder/one", os.O_CREAT | os.O_WRONLY)) as file:
            self.assertEqual(file.write(data), len(data))
        self.assertEqual(self.share.get_file_client("folder/one").download_file().readall(), data)
        with contextlib.closing(self.context.open(self.root + "/folder/one", os.O_RDONLY)) as file:
            self.assertEqual(file.read(), data)
            file.lseek(100, 0)
            self.assertEqual(file.read(50), data[100:150])
        self.assertEqual(self.context.stat(self.root + "/folder/one")[6], len(data))
        self.context.rename(self.root + "/folder/one", self.root + "/folder/two")
        listed = sorted(each.name for each in self.context.opendir(self.root + "/folder").getdents())
        self.assertEqual(listed, [".", "..", "two"])
        with self.assertRaises(smbc.NoEntryError):
            self.context.open(self.root + "/folder/one", os.O_RDONLY)
        with self.assertRaises(smbc.NotEmptyError):
            self.context.rmdir(self.root + "/folder")
        self.context.unlink(self.root + "/folder/two")
        self.context.rmdir(self.root + "/folder")
        self.assertEqual(list(self.share.list_directories_and_files()), [])


if __name__ == "__main__":
    unittest.main()
