"""The one binary in its archive: what it needs, that its symbols are apart, that it serves, and that it is made the same twice."""

import re
import tarfile

from packages import Folder, Process, made_again, newest, run, use


class Binary(Folder):
    architecture, loader, runner = "amd64", "ld-linux-x86-64.so.2", ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.archive = newest(f"kyanite-*-linux-{cls.architecture}.tar.gz")
        cls.symbols = newest(f"kyanite-*-linux-{cls.architecture}-symbols.tar.gz")
        for archive in (cls.archive, cls.symbols):
            with tarfile.open(archive) as packed:
                packed.extractall(cls.folder)
        [cls.program] = cls.folder.glob("*/bin/kyanite")

    def test_needs_glibc_2_36_and_nothing_else(self):
        dynamic = run("readelf", "-dW", self.program)
        needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", self.loader})
        self.assertNotIn("RUNPATH", dynamic)
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-VW", self.program))
        newest_version = max((int(major), int(minor)) for major, minor in versions)
        self.assertLessEqual(newest_version, (2, 36))

    def test_symbols_are_apart(self):
        sections = run("readelf", "-SW", self.program)
        self.assertNotIn(".debug_info", sections)
        self.assertNotIn(".symtab", sections)
        self.assertIn(".gnu_debuglink", sections)
        [symbols] = self.folder.glob("*-symbols/kyanite.debug")
        self.assertIn(".debug_info", run("readelf", "-SW", symbols))

        def build_id(path):
            return [line.split()[-1] for line in run("readelf", "-nW", path).splitlines() if "Build ID" in line]
        self.assertEqual(build_id(self.program), build_id(symbols))

    def test_small_and_protected(self):
        self.assertLess(self.program.stat().st_size, 30_000_000)
        kinds = run("readelf", "-hlW", self.program)
        self.assertIn("DYN", kinds)
        self.assertIn("GNU_RELRO", kinds)

    def test_it_serves_with_an_empty_environment(self):
        ports = [word for name in ("blob", "queue", "table", "file", "smb", "admin") for word in (f"--{name}Port", "0")]
        server = Process(self, [*self.runner, self.program, "-l", self.folder / "data", *ports], env={})
        use(server.until(r"^  Blob +(\S+)$")[1])
        self.assertEqual(server.stop(), 0)

    def test_made_again_it_is_the_same(self):
        made_again(self, "tar", self.archive, self.symbols, architecture=self.architecture)
