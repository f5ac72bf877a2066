"""Files over SMB through clients that people use: smbclient in every dialect and protection, impacket and rclone. What one
has written, REST reads, and the other way round."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from azure.storage.fileshare import ShareServiceClient
from impacket.smb3structs import SMB2_DIALECT_21, SMB2_DIALECT_30
from impacket.smbconnection import SMBConnection

from harness import ACCOUNT, KEY, Server
from test_smb import TIMEOUT_S, smb_port, smbclient

DIALECTS = ("SMB2_10", "SMB3_00", "SMB3_11")
PROTECTIONS = ("off", "sign", "encrypt")


class SmbClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.port = smb_port(cls.server)
        cls.shares = ShareServiceClient(cls.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY})
        folder = tempfile.TemporaryDirectory(prefix="kyanite-clients-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def setUp(self):
        self.share = self.shares.create_share("data")
        self.addCleanup(self.share.delete_share)

    def names(self, folder=""):
        return sorted(each["name"] for each in self.share.list_directories_and_files(folder))

    def test_smbclient_does_everything_in_every_dialect_and_protection(self):
        data = os.urandom(300_000)
        sent, got = self.folder / "sent", self.folder / "got"
        sent.write_bytes(data)
        for dialect in DIALECTS:
            for protection in PROTECTIONS:
                if (dialect, protection) == ("SMB2_10", "encrypt"):
                    continue  # It cannot.
                with self.subTest(dialect=dialect, protection=protection):
                    def ask(command):
                        content, output = smbclient(self.port, "data", command, f"--client-protection={protection}",
                                                    dialect=dialect)
                        self.assertTrue(content, output)
                        self.assertNotIn("NT_STATUS", output.replace("NT_STATUS_OK", ""))
                        return output
                    ask(f"mkdir folder; put {sent} folder/one; rename folder/one folder/two")
                    self.assertEqual(self.share.get_file_client("folder/two").download_file().readall(), data)
                    self.share.get_file_client("folder/three").upload_file(b"by REST")
                    output = ask(f"get folder/two {got}; ls folder/*; allinfo folder/two; more folder/three; du folder/*")
                    self.assertEqual(got.read_bytes(), data)
                    self.assertRegex(output, r"  two +A +300000 ")
                    self.assertRegex(output, r"  three +A +7 ")
                    self.assertRegex(output, r"create_time: ")
                    self.assertRegex(output, r"stream: \[::\$DATA\], 300000 bytes")
                    self.assertRegex(output, r"Total number of bytes: 300007")
                    ask("del folder/two; del folder/three; rmdir folder")
                    self.assertEqual(self.names(), [])

    def test_smbclient_is_told_what_is_wrong(self):
        for command, status in (("get none", "OBJECT_NAME_NOT_FOUND"), ("cd none", "OBJECT_NAME_NOT_FOUND"),
                                ("mkdir none/inner", "OBJECT_PATH_NOT_FOUND"), ("del none", "NO_SUCH_FILE")):
            output = smbclient(self.port, "data", command)[1]
            self.assertIn(f"NT_STATUS_{status}", output, command)

    def test_impacket_does_everything(self):
        for dialect in (SMB2_DIALECT_21, SMB2_DIALECT_30):
            with self.subTest(dialect=hex(dialect)):
                client = SMBConnection("kyanite", "127.0.0.1", sess_port=self.port, preferredDialect=dialect, timeout=TIMEOUT_S)
                self.addCleanup(client.close)
                client.login(ACCOUNT, KEY)
                client.createDirectory("data", "folder")
                pieces = [b"a" * 100_000, b"b" * 50_000, b""]
                client.putFile("data", "folder\\file", lambda _, parts=iter(pieces): next(parts, b""))
                self.assertEqual(self.share.get_file_client("folder/file").download_file().readall(), b"".join(pieces))
                client.rename("data", "folder\\file", "folder\\moved")
                got = []
                client.getFile("data", "folder\\moved", got.append)
                self.assertEqual(b"".join(got), b"".join(pieces))
                listed = [each.get_longname() for each in client.listPath("data", "folder\\*")]
                self.assertEqual(listed, [".", "..", "moved"])
                client.deleteFile("data", "folder\\moved")
                client.deleteDirectory("data", "folder")
                self.assertEqual(self.names(), [])

    def test_rclone_synchronizes(self):
        obscured = subprocess.run(["rclone", "obscure", KEY], capture_output=True, text=True, check=True).stdout.strip()
        config = self.folder / "rclone.conf"
        config.write_text(f"[there]\ntype = smb\nhost = 127.0.0.1\nport = {self.port}\nuser = {ACCOUNT}\npass = {obscured}\n")

        def rclone(*arguments):
            done = subprocess.run(["rclone", "--config", str(config), "--retries", "1", *arguments], capture_output=True, text=True,
                                  timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        here, back = self.folder / "here", self.folder / "back"
        (here / "inner").mkdir(parents=True)
        contents = {f"inner/{i}": os.urandom(i * 10_000) for i in range(8)} | {"top": b"top", "ümlaut": b"u"}
        for name, data in contents.items():
            (here / name).write_bytes(data)
        rclone("sync", str(here), "there:data/base")
        self.assertEqual(self.share.get_file_client("base/inner/7").download_file().readall(), contents["inner/7"])
        self.assertEqual(self.names("base"), ["inner", "top", "ümlaut"])
        rclone("check", "--download", str(here), "there:data/base")
        (here / "top").unlink()
        rclone("sync", str(here), "there:data/base")
        self.assertEqual(self.names("base"), ["inner", "ümlaut"])
        rclone("moveto", "there:data/base/inner/3", "there:data/base/moved")
        rclone("copy", "there:data/base", str(back))
        self.assertEqual((back / "moved").read_bytes(), contents["inner/3"])
        self.assertFalse((back / "inner" / "3").exists())
        self.assertTrue(re.search(r"^ +\d+ moved$", rclone("ls", "there:data/base"), re.MULTILINE))
        rclone("purge", "there:data/base/inner")
        rclone("purge", "there:data/base")
        self.assertNotIn("base", self.names())


if __name__ == "__main__":
    unittest.main()
