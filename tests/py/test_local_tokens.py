"""--https and --oauth local with Python: a program that uses DefaultAzureCredential, with nothing but its environment set; and az,
which trusts the authority by the same variable."""

import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest

import harness

PROGRAM = """
import os
from azure.identity import DefaultAzureCredential
from azure.storage.blob import BlobServiceClient
service = BlobServiceClient(os.environ["BLOB_URL"], DefaultAzureCredential(), retry_total=0)
container = service.create_container(os.environ["CONTAINER"])
container.upload_blob("b", b"by token")
print(container.download_blob("b").readall().decode())
"""


class LocalTokens(harness.ServerTestCase):
    flags = ("--https", "--oauth", "local", "--tokenPort", "0")

    def exported(self, name):
        """The line of the start-up text that sets this variable, and others, as a dictionary."""
        for line in re.findall(r"^  export (.*)$", self.server.output, re.MULTILINE):
            words = dict(word.split("=", 1) for word in line.split())
            if name in words:
                return words
        raise AssertionError(f"nothing sets {name}")

    def run_program(self, container, variables):
        ca = str(pathlib.Path(self.server.location) / "issuer" / "ca.pem")
        environment = {**os.environ, "REQUESTS_CA_BUNDLE": ca, "BLOB_URL": self.server.blob_url, "CONTAINER": container, **variables}
        return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)

    def test_as_an_application_and_as_a_managed_identity(self):
        for number, variable in enumerate(("AZURE_CLIENT_SECRET", "IDENTITY_HEADER", "AZURE_POD_IDENTITY_AUTHORITY_HOST")):
            with self.subTest(variable=variable):
                done = self.run_program(f"box{number}", self.exported(variable))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.strip(), "by token")

    def test_without_the_environment_there_is_no_token(self):
        self.assertNotEqual(self.run_program("never", {"IDENTITY_ENDPOINT": "http://127.0.0.1:1/", "IDENTITY_HEADER": "x"}).returncode, 0)


class Silent(unittest.TestCase):
    def test_the_lines_that_programs_need_are_printed_nevertheless(self):
        command = [harness.BINARY, *harness.FREE_PORTS, "--tokenPort", "0", "--inMemoryPersistence", "--https", "--oauth", "local", "--silent"]
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        guard = threading.Timer(60, server.kill)
        guard.start()
        self.addCleanup(guard.cancel)
        lines = [server.stdout.readline() for _ in range(4)]
        server.terminate()
        rest = server.communicate()[0]
        self.assertEqual((server.returncode, rest), (0, ""))
        self.assertTrue(lines[0].startswith("Tokens for DefaultAzureCredential"), lines)
        self.assertRegex(lines[2], r"^  export IDENTITY_ENDPOINT=http://127\.0\.0\.1:\d+/msi/token IDENTITY_HEADER=\S+\n$")


class Az(harness.AzTestCase):
    flags = ("--https",)

    def test_az_trusts_the_authority_by_its_variable(self):
        ca = str(pathlib.Path(self.server.location) / "issuer" / "ca.pem")
        os.environ["REQUESTS_CA_BUNDLE"] = ca
        self.addCleanup(os.environ.pop, "REQUESTS_CA_BUNDLE")
        self.assertTrue(self.az("container", "create", "-n", "box")["created"])
