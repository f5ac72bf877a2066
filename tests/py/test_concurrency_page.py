"""docs/CONCURRENCY.md: its tables are what a server does, and its snippets in JavaScript, Python and curl run and print what they
say they print."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from azure.storage.fileshare import ShareServiceClient
from impacket.smb3structs import FILE_READ_DATA, FILE_WRITE_DATA, SMB2_DIALECT_30
from impacket.smbconnection import SMBConnection

import operation_conditions
from harness import ACCOUNT, KEY, Server

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = operation_conditions.PAGE_FILE
FENCE = re.compile(r"^```(\w+)( preamble)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTS = re.compile(r"(?://|#) prints: (.*)$", re.MULTILINE)
COMMANDS = {"js": ["node", "--input-type=module", "-e"], "python": [sys.executable, "-c"], "bash": ["bash", "-u", "-c"]}
SNIPPET_TIMEOUT_S = 120


def snippets():
    """The preambles by language, and (pattern, language, code) of every other snippet."""
    preambles, patterns = {}, []
    text = PAGE.read_text()
    headings = [(match.start(), match[1]) for match in re.finditer(r"^### (.*)$", text, re.MULTILINE)]
    for match in FENCE.finditer(text):
        language, preamble, code = match.groups()
        if preamble:
            preambles[language] = code
        else:
            patterns.append(([name for start, name in headings if start < match.start()][-1], language, code))
    return preambles, patterns


PREAMBLES, PATTERNS = snippets()


class Tables(unittest.TestCase):
    def test_no_operation_is_forgotten(self):
        for service in operation_conditions.SERVICES:
            self.assertEqual(operation_conditions.forgotten(service), set(), service)

    def test_they_are_what_the_server_does(self):
        page = PAGE.read_text()
        made = operation_conditions.with_tables(page, operation_conditions.tables())
        self.assertEqual(page, made, "run python3 tests/py/operation_conditions.py --write")


class Snippets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        drive = ShareServiceClient(cls.server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY})
        drive.create_share("drive").get_file_client("plan.txt").upload_file(b"plan")

    def run_snippet(self, language, code):
        said = PRINTS.search(code)
        self.assertIsNotNone(said, "a snippet says what it prints")
        environment = {**os.environ, "AZURE_STORAGE_CONNECTION_STRING": self.server.connection_string}
        with tempfile.TemporaryDirectory() as empty:  # Modules of JavaScript are looked for from where it runs.
            where = ROOT / "tests" / "js" if language == "js" else empty
            done = subprocess.run([*COMMANDS[language], PREAMBLES[language] + code], cwd=where, env=environment,
                                  capture_output=True, text=True, timeout=SNIPPET_TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), said[1].strip(), done.stderr)

    def hold_plan_until_refusal(self):
        """Somebody has plan.txt open over SMB and shares nothing, until the server has refused somebody else for it."""
        port = int(re.search(r"^  SMB +smb://127\.0\.0\.1:(\d+)/SHARE$", self.server.output, re.MULTILINE)[1])
        smb = SMBConnection("127.0.0.1", "127.0.0.1", sess_port=port, preferredDialect=SMB2_DIALECT_30)
        smb.login(ACCOUNT, KEY)
        tree = smb.connectTree("drive")
        smb.openFile(tree, "plan.txt", desiredAccess=FILE_READ_DATA | FILE_WRITE_DATA, shareMode=0)
        refusals = self.server.log().count("SharingViolation")

        def wait_and_close():
            end = time.monotonic() + SNIPPET_TIMEOUT_S
            while time.monotonic() < end and self.server.log().count("SharingViolation") == refusals:
                time.sleep(0.05)
            smb.close()

        closer = threading.Thread(target=wait_and_close)
        closer.start()
        self.addCleanup(closer.join)

    def test_every_pattern_has_every_language(self):
        for pattern in {pattern for pattern, _, _ in PATTERNS}:
            self.assertEqual([language for name, language, _ in PATTERNS if name == pattern], ["js", "python", "csharp", "bash"])
        self.assertEqual(len(PATTERNS), 4 * 7)


def add_test(pattern, language, code):
    def run(self):
        if pattern == "A file that one side locks":
            self.hold_plan_until_refusal()
        self.run_snippet(language, code)

    name = "test_" + re.sub(r"\W+", "_", f"{pattern} {language}").lower()
    setattr(Snippets, name, run)


for each in PATTERNS:
    if each[1] in COMMANDS:
        add_test(*each)


if __name__ == "__main__":
    unittest.main()
