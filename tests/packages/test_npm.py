"""The npm package, installed from its tarball: each of its names runs, signals get through, and an older system is told why not."""

import json
import os
import signal
import subprocess

from packages import Folder, Process, made_again, newest, run, use

PORTS = ["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"]


class Npm(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tarball = newest("kyanite-*.tgz")
        (cls.folder / "package.json").write_text("{}")
        run("npm", "install", "--offline", "--no-audit", "--no-fund", cls.tarball, cwd=cls.folder)
        cls.bin = cls.folder / "node_modules" / ".bin"

    def test_npx_kyanite_is_used(self):
        ports = [*PORTS, "--filePort", "0", "--smbPort", "0", "--adminPort", "0"]
        server = Process(self, ["npx", "--offline", "kyanite", "azurite", "-l", self.folder / "data", *ports], cwd=self.folder,
                         start_new_session=True)
        use(server.until(r"^  Blob +(\S+)$")[1])
        server.until("Ready")
        # As a terminal does: npx and whatever it has started get it, and each passes it on. The server must take it for one.
        os.killpg(server.process.pid, signal.SIGINT)
        server.process.wait(30)
        server.until("Azurite Table service successfully closed", running=False)

    def test_azurite_is_azurite(self):
        server = Process(self, [self.bin / "azurite", "--silent", "--inMemoryPersistence", *PORTS], cwd=self.folder)
        use(server.until(r"^Azurite Blob service is successfully listening at (http://\S+)$")[1] + "/devstoreaccount1")
        server.until(r"^Azurite Table service is successfully listening")
        self.assertEqual(server.stop(), 0)
        self.assertIn("Azurite Queue service successfully closed", server.output())

    def test_the_others_and_the_exit_code(self):
        for name in ("blob", "queue", "table"):
            server = Process(self, [self.bin / f"azurite-{name}", "--silent", "--inMemoryPersistence", *PORTS])
            server.until(rf"^Azurite {name.title()} service successfully")
            self.assertEqual(server.stop(), 0)
        wrong = subprocess.run([self.bin / "kyanite", "--nosuch"], capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("unknown flag --nosuch", wrong.stderr)

    def test_an_older_system_gets_a_sentence(self):
        cases = [
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "2.36"}}, None),
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "3.0"}}, None),
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "2.35"}}, "glibc 2.35"),
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "2.4"}}, "glibc 2.4,"),
            ({"platform": "linux", "arch": "x64", "header": {}}, "musl"),
            ({"platform": "linux", "arch": "mips", "header": {"glibcVersionRuntime": "2.36"}}, "processor mips"),
            ({"platform": "darwin", "arch": "arm64", "header": {}}, "darwin"),
        ]
        script = ("const {obstacle} = require(process.argv[1]);"
                  "console.log(obstacle({...JSON.parse(process.argv[2]), exists: require('fs').existsSync}) ?? '')")
        for case, part in cases:
            said = run("node", "-e", script, self.folder / "node_modules" / "kyanite" / "run.js", json.dumps(case)).strip()
            self.assertIn(part, said) if part else self.assertEqual(said, "")

    def test_made_again_it_is_the_same(self):
        both = (self.folder / "node_modules" / "kyanite" / "linux-arm64").exists()
        made_again(self, "npm", self.tarball, architecture="arm64" if both else "amd64")
