"""Logging on and connecting over SMB, through smbclient and impacket, in every dialect and with every protection."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from azure.storage.fileshare import ShareServiceClient
from impacket import nt_errors
from impacket.smb3structs import SMB2_DIALECT_21, SMB2_DIALECT_30
from impacket.smbconnection import SessionError, SMBConnection

from harness import ACCOUNT, KEY, Server

TIMEOUT_S = 60
DIALECTS = ("SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11")
SECOND_KEY = "c2Vjb25k"
OTHER = "other"


def smb_port(server):
    return int(re.search(r"^  SMB +smb://127\.0\.0\.1:(\d+)/SHARE$", server.output, re.MULTILINE)[1])


def smbclient(port, share, command="", *flags, user=ACCOUNT, password=KEY, dialect="SMB3_11", address="127.0.0.1"):
    """What it says, and whether it was content."""
    with tempfile.NamedTemporaryFile("w") as login:
        login.write(f"username={user}\npassword={password}\n")
        login.flush()
        done = subprocess.run(
            ["smbclient", f"//{address}/{share}", "-p", str(port), "-A", login.name, "-m", dialect,
             f"--option=client min protocol={dialect}", "-c", command, *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, text=True)
    return done.returncode == 0, done.stdout


class Smb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(env={"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}:{SECOND_KEY};{OTHER}:b3RoZXI="})
        cls.addClassCleanup(cls.server.stop)
        cls.port = smb_port(cls.server)
        cls.shares = ShareServiceClient(cls.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY})
        cls.shares.create_share("data")

    def connects(self, share="data", **how):
        """The command needs nothing but a tree."""
        return smbclient(self.port, share, "help", **how)

    def test_smbclient_connects_in_every_dialect_and_protection(self):
        for dialect in DIALECTS:
            for protection in ("off", "sign", "encrypt"):
                with self.subTest(dialect=dialect, protection=protection):
                    content, output = smbclient(self.port, "data", "help", f"--client-protection={protection}", dialect=dialect)
                    self.assertEqual(content, (dialect, protection) != ("SMB2_10", "encrypt"), output)

    def test_either_key_opens(self):
        self.assertTrue(self.connects(password=SECOND_KEY)[0])
        self.assertTrue(self.connects(user=f"AZURE/{ACCOUNT}")[0])

    def test_wrong_passwords_and_users_do_not(self):
        for user, password in ((ACCOUNT, "wrong"), ("nobody", KEY), (OTHER, KEY)):
            content, output = self.connects(user=user, password=password)
            self.assertFalse(content)
            self.assertIn("NT_STATUS_LOGON_FAILURE", output)
        self.assertIn("refused: wrong user or password", self.server.log())

    def test_nobody_comes_in_without_a_name(self):
        content, output = smbclient(self.port, "data", "help", "-N", user="", password="")
        self.assertFalse(content, output)

    def test_names_of_shares(self):
        self.assertTrue(self.connects("DATA")[0])
        self.assertTrue(self.connects("IPC$")[0])
        for user, password, share in ((ACCOUNT, KEY, "nope"), (OTHER, "b3RoZXI=", "data")):
            content, output = self.connects(share, user=user, password=password)
            self.assertFalse(content)
            self.assertIn("NT_STATUS_BAD_NETWORK_NAME", output)

    def test_a_deleted_share_is_gone(self):
        self.shares.create_share("short")
        self.assertTrue(self.connects("short")[0])
        self.shares.delete_share("short")
        self.assertIn("NT_STATUS_BAD_NETWORK_NAME", self.connects("short")[1])

    def impacket(self, dialect, password=KEY):
        connection = SMBConnection("kyanite", "127.0.0.1", sess_port=self.port, preferredDialect=dialect, timeout=TIMEOUT_S)
        self.addCleanup(connection.close)
        connection.login(ACCOUNT, password)
        return connection

    def refusal(self, call, *arguments):
        with self.assertRaises(SessionError) as raised:
            call(*arguments)
        return nt_errors.ERROR_MESSAGES[raised.exception.getErrorCode()][0]

    def test_impacket_connects(self):
        for dialect in (SMB2_DIALECT_21, SMB2_DIALECT_30):
            with self.subTest(dialect=hex(dialect)):
                connection = self.impacket(dialect)
                self.assertEqual(connection.getDialect(), dialect)
                tree = connection.connectTree("data")
                connection.disconnectTree(tree)
                self.assertEqual(self.refusal(connection.connectTree, "nope"), "STATUS_BAD_NETWORK_NAME")
                pipes = connection.connectTree("IPC$")
                self.assertEqual(self.refusal(connection.openFile, pipes, "srvsvc"), "STATUS_OBJECT_NAME_NOT_FOUND")
                connection.logoff()

    def test_impacket_is_refused_with_a_wrong_password(self):
        for dialect in (SMB2_DIALECT_21, SMB2_DIALECT_30):
            self.assertEqual(self.refusal(self.impacket, dialect, "wrong"), "STATUS_LOGON_FAILURE")


class SmbSettings(unittest.TestCase):
    """What an account demands of its clients."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="kyanite-smb-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        config = folder / "config.json"
        config.write_text(json.dumps({"accounts": [
            {"name": "strict", "keys": ["c3RyaWN0"], "settings": {"smbEncryption": "required"}},
            {"name": "modern", "keys": ["bW9kZXJu"], "settings": {"smbLeastDialect": "3.1.1"}},
            {"name": "plain", "keys": ["cGxhaW4="], "settings": {"smbEncryption": "off"}}]}))
        cls.server = Server("--config", str(config))
        cls.addClassCleanup(cls.server.stop)
        cls.port = smb_port(cls.server)

    def output(self, user, password, *flags, dialect):
        return smbclient(self.port, "IPC$", "help", *flags, user=user, password=password, dialect=dialect)

    def test_encryption_can_be_required(self):
        for dialect in DIALECTS:
            content, output = self.output("strict", "c3RyaWN0", "--client-protection=sign", dialect=dialect)
            self.assertEqual(content, dialect != "SMB2_10", output)
            if not content:
                self.assertIn("NT_STATUS_ACCESS_DENIED", output)

    def test_encryption_can_be_off(self):
        self.assertTrue(self.output("plain", "cGxhaW4=", "--client-protection=sign", dialect="SMB3_11")[0])
        self.assertFalse(self.output("plain", "cGxhaW4=", "--client-protection=encrypt", dialect="SMB3_11")[0])

    def test_a_dialect_can_be_required(self):
        for dialect in DIALECTS:
            content, output = self.output("modern", "bW9kZXJu", dialect=dialect)
            self.assertEqual(content, dialect == "SMB3_11", output)


class SmbKeys(unittest.TestCase):
    """Keys that are replaced and accounts that are removed while somebody is logged on."""

    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="kyanite-smb-"))
        self.addCleanup(shutil.rmtree, folder)
        self.config = folder / "config.json"
        self.times_read = 0
        self.write({"acme": ["Zmlyc3Q=", "c2Vjb25k"], OTHER: ["b3RoZXI="]})
        self.server = Server("--config", str(self.config))
        self.addCleanup(self.server.stop)

    def write(self, accounts):
        new = self.config.with_suffix(".new")
        new.write_text(json.dumps({"accounts": [{"name": name, "keys": keys} for name, keys in accounts.items()]}))
        new.rename(self.config)

    def replace(self, accounts):
        """Returns when the server knows."""
        self.write(accounts)
        self.times_read += 1
        ends = time.monotonic() + TIMEOUT_S
        while self.server.log().count("accounts read again") < self.times_read:
            self.assertLess(time.monotonic(), ends, self.server.log())
            time.sleep(0.05)

    def log_on(self, key):
        connection = SMBConnection("kyanite", "127.0.0.1", sess_port=smb_port(self.server), preferredDialect=SMB2_DIALECT_21,
                                   timeout=TIMEOUT_S)
        connection.login("acme", key)
        return connection

    def refusal(self, call, *arguments, **named):
        with self.assertRaises(SessionError) as raised:
            call(*arguments, **named)
        return nt_errors.ERROR_MESSAGES[raised.exception.getErrorCode()][0]

    def test_sessions_end_with_their_key(self):
        url = f"http://{urllib.parse.urlsplit(self.server.url('File')).netloc}/acme"
        shares = ShareServiceClient(url, credential={"account_name": "acme", "account_key": "c2Vjb25k"})
        shares.create_share("data")
        first, second = self.log_on("Zmlyc3Q="), self.log_on("c2Vjb25k")
        trees = {each: each.connectTree("data") for each in (first, second)}
        first.createFile(trees[first], "f", shareMode=0)
        self.assertEqual(self.refusal(second.openFile, trees[second], "f"), "STATUS_SHARING_VIOLATION")

        self.replace({"acme": ["dGhpcmQ=", "c2Vjb25k"], OTHER: ["b3RoZXI="]})
        second.openFile(trees[second], "f")
        self.assertEqual(self.refusal(first.openFile, trees[first], "f"), "STATUS_USER_SESSION_DELETED")
        self.assertEqual(self.refusal(self.log_on, "Zmlyc3Q="), "STATUS_LOGON_FAILURE")
        self.log_on("dGhpcmQ=").connectTree("data")

        self.replace({"new": ["bmV3"], OTHER: ["b3RoZXI="]})
        self.assertEqual(self.refusal(second.openFile, trees[second], "f"), "STATUS_USER_SESSION_DELETED")


class SmbListener(unittest.TestCase):
    def test_it_can_be_switched_off(self):
        server = Server("--disableSmb")
        self.addCleanup(server.stop)
        self.assertNotIn("smb://", server.output)

    def test_the_mount_line_is_ready_to_be_pasted(self):
        server = Server()
        self.addCleanup(server.stop)
        self.assertIn(f"  mount -t cifs //127.0.0.1/SHARE /mnt -o port={smb_port(server)},username={ACCOUNT},password={KEY}\n",
                      server.output)


if __name__ == "__main__":
    unittest.main()
