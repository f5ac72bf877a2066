"""What is made of the table of flags: the manual page, completions, and the file of variables."""

import json
import re
import subprocess
import unittest

from packages import ROOT, Folder, run

import pages

PROGRAM = ROOT / "build" / "release" / "kyanite"


class Pages(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run("python3", ROOT / "packaging" / "pages.py", PROGRAM, cls.folder)
        cls.flags = pages.flags_of(json.loads(run(PROGRAM, "--describeFlags")))

    def test_help_has_every_flag(self):
        shown = run(PROGRAM, "--help")
        for flag in self.flags:
            self.assertRegex(shown, rf"--{flag['name']}\b")

    def test_the_manual_page_is_right_and_complete(self):
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", self.folder / "kyanite.1"], capture_output=True,
                              text=True, check=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.stderr, "")
        text = re.sub(r".\x08", "", done.stdout)
        for flag in self.flags:
            self.assertIn(f"--{flag['name']}", text)
            self.assertIn(flag.get("variable", ""), text)
        for command in ("check", "backup", "restore", "migrate", "import"):
            for line in run(PROGRAM, command, "--help").split("\n"):
                self.assertIn(line, text.replace("\n       ", "\n"))

    def complete(self, *words):
        script = (f'source {self.folder / "kyanite.bash"}; COMP_WORDS=({" ".join(words)} ""); '
                  f'COMP_WORDS[{len(words) - 1}]="{words[-1]}"; COMP_CWORD={len(words) - 1}; _kyanite; printf "%s\\n" "${{COMPREPLY[@]}}"')
        return run("bash", "-c", script, cwd=self.folder).split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("kyanite", "--blobP"), ["--blobPort"])
        self.assertEqual(self.complete("azurite", "--location", "/et"), ["/etc"])
        self.assertEqual(self.complete("azurite", "--blobPort", "1"), [])
        self.assertIn("kyanite.1", self.complete("kyanite", "--cert", "kyanite."))
        self.assertEqual(self.complete("kyanite", "re"), ["restore"])
        self.assertEqual(self.complete("azurite", "re"), [])
        self.assertEqual(self.complete("kyanite", "check", "--r"), ["--rate"])
        self.assertIn("kyanite.1", self.complete("kyanite", "backup", "kyanite."))

    def test_zsh_and_fish_take_theirs(self):
        for shell, page in (("zsh", "_kyanite"), ("fish", "kyanite.fish")):
            with self.subTest(shell=shell):
                try:
                    run(shell, "-n", self.folder / page)
                except FileNotFoundError:
                    self.skipTest(f"no {shell} here")

    def test_variables_are_read(self):
        """Each line of the file, taken in, is a setting that the server knows: it says nothing of misspelt ones."""
        variables = re.findall(r"^#(KYANITE_\w+)=", (self.folder / "default").read_text(), re.MULTILINE)
        self.assertGreater(len(variables), 30)
        # The unit says where data and accounts are, and a password is not for a file that everybody may read.
        self.assertEqual(set(variables), {flag["variable"] for flag in self.flags if "variable" in flag}
                         - {"KYANITE_LOCATION", "KYANITE_CONFIG", "KYANITE_PWD"})


if __name__ == "__main__":
    unittest.main()
