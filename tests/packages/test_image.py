"""The image: what is in it, that tools for images take it, and that it runs: in a folder, as a user who is not root."""

import json
import os
import shutil
import subprocess
import tarfile

from packages import ROOT, Folder, Process, free_ports, made_again, newest, run, sha256, use


class Unpacked(Folder):
    architecture = "amd64"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = newest(f"kyanite-*-{cls.architecture}.image.tar")
        with tarfile.open(cls.path) as packed:
            packed.extractall(cls.folder / "layout")
        manifest = cls.blob(json.loads((cls.folder / "layout" / "index.json").read_text())["manifests"][0])
        cls.config = cls.blob(json.loads(manifest)["config"], loads=True)
        [layer] = json.loads(manifest)["layers"]
        cls.root = cls.folder / "root"
        with tarfile.open(cls.folder / "layout" / "blobs" / layer["digest"].replace(":", "/")) as packed:
            packed.extractall(cls.root, numeric_owner=True)
        cls.size = sum(path.stat().st_size for path in cls.root.rglob("*") if path.is_file() and not path.is_symlink())

    @classmethod
    def blob(cls, descriptor, loads=False):
        text = (cls.folder / "layout" / "blobs" / descriptor["digest"].replace(":", "/")).read_text()
        return json.loads(text) if loads else text


class Contents(Unpacked):
    def test_small_not_root_and_complete(self):
        self.assertLess(self.size, 60_000_000)
        config = self.config["config"]
        self.assertNotIn(config["User"].split(":")[0], ("", "0", "root"))
        self.assertEqual(config["Healthcheck"]["Test"], ["CMD", "kyanite", "--healthcheck"])
        self.assertEqual(config["StopSignal"], "SIGTERM")
        owned = [path for path in self.root.rglob("*") if path.lstat().st_uid != 0]
        self.assertEqual(sorted(owned), [self.root / "data", self.root / "workspace"])

    def test_tools_take_it(self):
        shown = json.loads(run("skopeo", "inspect", f"oci:{self.folder / 'layout'}:latest"))
        self.assertEqual(shown["Architecture"], self.architecture)
        for kind in ("docker-archive", "oci-archive"):
            self.assertEqual(len(json.loads(run("skopeo", "inspect", f"{kind}:{self.path}"))["Layers"]), 1)
        run("umoci", "raw", "unpack", "--image", f"{self.folder / 'layout'}:latest", self.folder / "umoci")
        self.assertEqual(sha256(self.folder / "umoci" / "usr" / "bin" / "kyanite"), sha256(self.root / "usr" / "bin" / "kyanite"))

    def test_made_again_it_is_the_same(self):
        made_again(self, "image", self.path, architecture=self.architecture)


# As a container has it: /proc is there, and nothing can be written but the volume. What is mounted is seen by this process alone.
CONTAINER = ("unshare", "--mount", "bash", "-c", """set -e
  mount --bind "$0" "$0"
  mount --bind "$0/data" "$0/data"
  mount --bind /proc "$0/proc"
  mount -o remount,bind,ro "$0"
  exec chroot "$@"
""")


class Runs(Unpacked):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "proc").mkdir()

    def setUp(self):
        """Each container has a volume of its own."""
        for entry in (self.root / "data").iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def inside(self, command, **environment):
        """The words to run a command as a container would: in its root, as its user, with its environment."""
        variables = [*self.config["config"]["Env"], *(f"{name}={value}" for name, value in environment.items())]
        user = f"--userspec={self.config['config']['User']}"
        return [*CONTAINER, self.root, user, self.root, "/bin/busybox", "env", "-i", *variables, *command]

    def start(self, command, **environment):
        return Process(self, self.inside(command, **environment))

    def some_ports(self):
        names = ("BLOB", "QUEUE", "TABLE", "FILE", "SMB", "ADMIN")
        return {f"KYANITE_{name}_PORT": port for name, port in zip(names, free_ports(len(names)))}

    def test_it_runs_is_well_and_drains(self):
        ports = self.some_ports()
        server = self.start(self.config["config"]["Cmd"], **ports)
        server.until("Azurite Table service is successfully listening at http://0.0.0.0:")
        self.assertRegex(server.output(), "Serving on 0.0.0.0 with the well-known account")
        use(f"http://127.0.0.1:{ports['KYANITE_BLOB_PORT']}/devstoreaccount1")
        run(*self.inside(["kyanite", "--healthcheck"], **ports))
        # What health checks of compose files for Azurite ask for.
        for asked in (f"nc -z 127.0.0.1 {ports['KYANITE_BLOB_PORT']}", f"wget -q -O - http://127.0.0.1:{ports['KYANITE_ADMIN_PORT']}/healthz"):
            run(*self.inside(["/bin/sh", "-c", asked]))
        written = subprocess.run(self.inside(["/bin/sh", "-c", "echo > /tmp/file"]), capture_output=True, text=True, check=False)
        self.assertIn("Read-only file system", written.stderr)
        self.assertEqual(server.stop(), 0)
        gone = subprocess.run(self.inside(["kyanite", "--healthcheck"], **ports), capture_output=True, check=False)
        self.assertEqual(gone.returncode, 1)

    def test_own_accounts_close_the_door(self):
        ports = self.some_ports()
        server = self.start(["azurite"], AZURITE_ACCOUNTS="acme:c2VjcmV0", **ports)
        server.until("Azurite Table service is successfully listening")
        self.assertNotIn("well-known", server.output())
        use(f"http://127.0.0.1:{ports['KYANITE_BLOB_PORT']}/acme", "acme", "c2VjcmV0")
        self.assertEqual(server.stop(), 0)

    def test_testcontainers_module_of_azurite(self):
        """The module as it is published, on a stand-in for what starts containers that runs them in this folder."""
        modules = self.folder / "node_modules"
        fetched = subprocess.run(["npm", "pack", "--silent", "@testcontainers/azurite@12.1.0"], cwd=self.folder, capture_output=True,
                                 text=True, check=False)
        if fetched.returncode != 0:
            self.skipTest("the module cannot be had from npm here")
        with tarfile.open(self.folder / fetched.stdout.strip()) as packed:
            packed.extractall(modules / "@testcontainers")
        shutil.move(modules / "@testcontainers" / "package", modules / "@testcontainers" / "azurite")
        (modules / "testcontainers").mkdir()
        shutil.copy(ROOT / "tests" / "packages" / "testcontainers.cjs", modules / "testcontainers" / "index.js")
        for name in ("@azure", "@typespec"):
            (modules / name).symlink_to(ROOT / "tests" / "js" / "node_modules" / name)
        for other in (ROOT / "tests" / "js" / "node_modules").iterdir():
            if not (modules / other.name).exists():
                (modules / other.name).symlink_to(other)
        shutil.copy(ROOT / "packaging" / "examples" / "testcontainers.mjs", self.folder)
        ports = {name: port for name, port in self.some_ports().items() if name[8:] not in ("BLOB_PORT", "QUEUE_PORT", "TABLE_PORT")}
        environment = dict(os.environ, RUN_IN_CONTAINER=json.dumps([str(word) for word in self.inside([], **ports)]))
        self.assertEqual(run("node", "testcontainers.mjs", cwd=self.folder, env=environment), "box\n")
