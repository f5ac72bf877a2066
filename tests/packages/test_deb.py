"""The Debian package: what it holds, and its whole life in a fresh Debian root: installed, started by its unit's words, used,
removed, purged."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from packages import ROOT, Folder, Process, free_ports, made_again, newest, run, use

MOST_EXPOSURE = 1.5
BASE = ROOT / "build" / "package-tests" / "bookworm"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}


def calls_of(name):
    """The system calls of a set of systemd's, or a call itself."""
    if not name.startswith("@"):
        return {name}
    lines = [line.strip() for line in run("systemd-analyze", "syscall-filter", name).splitlines()]
    return set().union(*(calls_of(line) for line in lines if line and not line.startswith("#") and line != name))


class Contents(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.package = newest("kyanite_*_amd64.deb")
        run("dpkg-deb", "-R", cls.package, cls.folder / "deb")

    def test_lintian_finds_nothing(self):
        done = subprocess.run(["lintian", "--fail-on", "warning", "--allow-root", self.package, newest("kyanite-dbgsym_*_amd64.deb")],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_the_unit_is_hardened_and_right(self):
        unit = self.folder / "deb" / "lib" / "systemd" / "system" / "kyanite.service"
        shown = run("systemd-analyze", "security", "--offline=true", unit)
        exposure = float(re.search(r"Overall exposure level.*: ([0-9.]+)", shown)[1])
        self.assertLessEqual(exposure, MOST_EXPOSURE)
        text = unit.read_text()
        for line in ("Type=notify", "WatchdogSec=", "LimitNOFILE=", "StateDirectory=kyanite", "LoadCredential=kyanite.accounts:"):
            self.assertIn(f"\n{line}", text)

    def test_the_unit_allows_every_call_that_the_server_makes(self):
        unit = (self.folder / "deb" / "lib" / "systemd" / "system" / "kyanite.service").read_text()
        allowed = set()
        for line in re.findall(r"^SystemCallFilter=(.*)$", unit, re.MULTILINE):
            named = set().union(*(calls_of(name) for name in line.lstrip("~").split()))
            allowed = allowed - named if line.startswith("~") else allowed | named
        counts = self.folder / "calls"
        ports = [word for name in ("blob", "queue", "table", "file", "smb", "admin") for word in (f"--{name}Port", "0")]
        program = self.folder / "deb" / "usr" / "bin" / "kyanite"
        server = Process(self, ["strace", "-f", "-c", "-o", counts, program, "-l", self.folder / "data", *ports])
        use(server.until(r"^  Blob +(\S+)$")[1])
        server.until("^Ready")
        child = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()[0]
        os.kill(int(child), signal.SIGTERM)
        server.process.wait(60)
        made = {line.split()[-1] for line in counts.read_text().splitlines()[2:] if "---" not in line} - {"total"}
        self.assertGreater(len(made), 30)
        # The first is strace's own doing.
        self.assertEqual(made - allowed - {"execve"}, set())

    def test_its_files(self):
        names = {str(path.relative_to(self.folder / "deb")) for path in (self.folder / "deb").rglob("*")}
        for name in ("usr/bin/kyanite", "usr/bin/azurite-table", "usr/share/man/man1/azurite.1.gz", "usr/lib/sysusers.d/kyanite.conf",
                     "usr/share/bash-completion/completions/kyanite", "usr/share/zsh/vendor-completions/_kyanite",
                     "usr/share/fish/vendor_completions.d/kyanite.fish"):
            self.assertIn(name, names)
        conffiles = (self.folder / "deb" / "DEBIAN" / "conffiles").read_text().split()
        self.assertEqual(set(conffiles), {"/etc/kyanite/kyanite.json", "/etc/default/kyanite"})
        self.assertNotIn(".debug_info", run("readelf", "-SW", self.folder / "deb" / "usr" / "bin" / "kyanite"))

    def test_the_key_is_there_before_the_service_starts(self):
        """In the script as it was built, with what debhelper has put into it."""
        script = (self.folder / "deb" / "DEBIAN" / "postinst").read_text()
        steps = {step: script.find(step) for step in ("mv /etc/kyanite/accounts.new /etc/kyanite/accounts\n",
                                                      "deb-systemd-helper enable 'kyanite.service'", "deb-systemd-invoke $_dh_action 'kyanite.service'")}
        self.assertNotIn(-1, steps.values(), steps)
        self.assertEqual(sorted(steps.values()), list(steps.values()))

    def test_made_again_it_is_the_same(self):
        made_again(self, "deb", self.package)


class InRoot(Folder):
    """In a root that debootstrap made; it is kept for the next time, and each test has a copy."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not (BASE / "etc" / "debian_version").exists():
            shutil.rmtree(BASE, ignore_errors=True)
            partial = BASE.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            mirror = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Codename: bookworm").split()[0]
            run("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", partial, mirror, timeout=600)
            partial.rename(BASE)
        cls.root = cls.folder / "root"
        run("cp", "-a", BASE, cls.root)
        shutil.copy("/etc/resolv.conf", cls.root / "etc" / "resolv.conf")
        shutil.copy(newest("kyanite_*_amd64.deb"), cls.root / "opt" / "kyanite.deb")

    def inside(self, *words, **options):
        environment = {**ENVIRONMENT, **options.pop("env", {})}
        return run("chroot", self.root, *words, env=environment, timeout=300, **options)


class Life(InRoot):
    """Started by the words of the unit, which any machine can do."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "usr" / "sbin" / "policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (cls.root / "usr" / "sbin" / "policy-rc.d").chmod(0o755)

    def unit(self):
        """The settings of the unit that say what is run, as a service manager takes them."""
        text = (self.root / "lib" / "systemd" / "system" / "kyanite.service").read_text()
        return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))

    def start(self, account_file, **ports):
        """As the unit says: its user, its state directory, its credentials, its words; and somebody who listens for READY."""
        unit = self.unit()
        user = self.inside("id", "-u", unit["User"]).strip()
        state = self.root / "var" / "lib" / unit["StateDirectory"]
        state.mkdir(mode=0o700, exist_ok=True)
        os.chown(state, int(user), int(user))
        name, _, source = unit["LoadCredential"].partition(":")
        credentials = self.root / "run" / "credentials"
        credentials.mkdir(mode=0o755, exist_ok=True)
        self.assertEqual(source, account_file)
        shutil.copy(self.root / source.lstrip("/"), credentials / name)
        os.chown(credentials / name, int(user), -1)
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(notify.close)
        path = pathlib.Path(self.root, "run", "n")
        os.chdir(path.parent)  # Names of sockets are short.
        path.unlink(missing_ok=True)
        notify.bind("n")
        path.chmod(0o777)
        notify.settimeout(60)
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET": "/run/n", "CREDENTIALS_DIRECTORY": "/run/credentials", "WATCHDOG_USEC": "900000",
                       **{f"KYANITE_{name.upper()}_PORT": str(port) for name, port in ports.items()}}
        command = ["chroot", f"--userspec={unit['User']}:{unit['Group']}", self.root, *shlex.split(unit["ExecStart"])]
        return Process(self, command, env=environment), notify

    def test_installed_used_removed_and_purged(self):
        self.inside("apt-get", "update", "-qq")
        self.inside("apt-get", "install", "-qq", "-y", "--no-install-recommends", "/opt/kyanite.deb")
        keys = self.root / "etc" / "kyanite" / "accounts"
        self.assertEqual(keys.stat().st_mode & 0o777, 0o600)
        account, key = keys.read_text().strip().split(":")
        self.assertEqual((self.root / "etc" / "kyanite" / "kyanite.json").stat().st_mode & 0o777, 0o640)

        services = ("blob", "queue", "table", "file", "smb", "admin")
        ports = dict(zip(services, free_ports(len(services))))
        server, notify = self.start("/etc/kyanite/accounts", **ports)
        self.assertEqual(notify.recv(100), b"READY=1")
        self.assertEqual(notify.recv(100), b"WATCHDOG=1")
        box = use(f"http://127.0.0.1:{ports['blob']}/{account}", account, key)
        self.assertNotIn(key, server.output())
        # A server that hangs says nothing any more, and is killed by whoever listens.
        server.process.send_signal(signal.SIGSTOP)
        notify.settimeout(0)
        self.drain(notify)
        notify.settimeout(1.5)
        self.assertRaises(TimeoutError, notify.recv, 100)
        server.process.send_signal(signal.SIGCONT)
        server.process.terminate()
        notify.settimeout(60)
        while (told := notify.recv(100)) == b"WATCHDOG=1":
            pass
        self.assertEqual(told, b"STOPPING=1")
        self.assertEqual(server.process.wait(60), 0)

        # What was written is there after a restart.
        server, notify = self.start("/etc/kyanite/accounts", **ports)
        self.assertEqual(notify.recv(100), b"READY=1")
        self.assertEqual(len(box.download_blob("b").readall()), 70000)
        self.assertEqual(server.stop(), 0)

        self.inside("apt-get", "remove", "-qq", "-y", "kyanite")
        self.assertTrue(keys.exists())
        self.inside("dpkg", "--purge", "kyanite")
        data = self.root / "var" / "lib" / "kyanite"
        self.assertTrue(any(data.iterdir()))
        self.assertFalse((self.root / "etc" / "kyanite").exists())
        self.inside("dpkg", "--install", "/opt/kyanite.deb")
        self.inside("dpkg", "--purge", "kyanite", env={"KYANITE_PURGE_DATA": "yes"})
        self.assertFalse(data.exists())

    def drain(self, notify):
        try:
            while True:
                notify.recv(100)
        except BlockingIOError:
            return


class Booted(InRoot):
    """On a machine of its own with systemd, within this one: the unit with all that it forbids, an upgrade, removal, purge."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = {**ENVIRONMENT, "RUNLEVEL": "1"}
        run("chroot", cls.root, "apt-get", "update", "-qq", env=made, timeout=300)
        run("chroot", cls.root, "apt-get", "install", "-qq", "-y", "--no-install-recommends", "systemd-sysv", env=made, timeout=300)

    def boot(self):
        """It has no network but its own. Left out where the kernel or who started this does not let one boot."""
        machine = Process(self, ["systemd-nspawn", "--register=no", "--keep-unit", "--private-network", "--console=read-only", "-b",
                                 "-D", self.root])
        try:
            machine.until("Reached target.*(multi-user.target|Multi-User System)")
        except AssertionError:
            self.skipTest(f"no machine boots here: {machine.output()[-500:]}")
        [init] = pathlib.Path(f"/proc/{machine.process.pid}/task/{machine.process.pid}/children").read_text().split()
        self.entered = ["nsenter", "-t", init, "-a", "env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items())]
        self.network = ["nsenter", "-t", init, "-n"]
        self.addCleanup(machine.process.wait, 60)
        self.addCleanup(run, *self.entered, "systemctl", "poweroff")

    def told(self, *words):
        return run(*self.entered, *words, timeout=300).strip()

    def state(self):
        done = subprocess.run([*self.entered, "systemctl", "is-active", "kyanite"], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def newer(self):
        """The same package with a greater version."""
        run("dpkg-deb", "-R", self.root / "opt" / "kyanite.deb", self.folder / "newer")
        control = self.folder / "newer" / "DEBIAN" / "control"
        control.write_text(re.sub(r"(?m)^Version: .*$", "Version: 99.0", control.read_text()))
        run("dpkg-deb", "--root-owner-group", "-b", self.folder / "newer", self.root / "opt" / "newer.deb")

    def use(self):
        account, key = (self.root / "etc" / "kyanite" / "accounts").read_text().strip().split(":")
        script = "import sys; sys.path.insert(0, sys.argv[1]); import packages; packages.use(*sys.argv[2:])"
        run(*self.network, sys.executable, "-c", script, ROOT / "tests" / "packages", f"http://127.0.0.1:10000/{account}", account, key)

    def test_installed_upgraded_removed_and_purged(self):
        self.newer()
        self.inside("apt-get", "install", "-qq", "-y", "--no-install-recommends", "/opt/kyanite.deb")
        self.boot()
        self.assertEqual(self.state(), "active")
        self.use()
        shown = self.told("systemctl", "show", "kyanite", "-p", "NRestarts", "-p", "User", "-p", "MainPID")
        self.assertLessEqual({"NRestarts=0", "User=kyanite"}, set(shown.splitlines()))
        exposure = re.search(r"exposure level.*: ([0-9.]+)", self.told("systemd-analyze", "--no-pager", "security", "kyanite"))
        self.assertLessEqual(float(exposure[1]), MOST_EXPOSURE)
        # Beside the server, as root.
        self.assertIn(": 0 damages.", self.told("kyanite", "check", "-l", "/var/lib/kyanite"))
        self.told("kyanite", "backup", "/root/backup", "-l", "/var/lib/kyanite")
        key = (self.root / "etc" / "kyanite" / "accounts").read_text()

        self.told("dpkg", "-i", "/opt/newer.deb")
        self.assertEqual(self.state(), "active")
        self.assertNotIn(self.told("systemctl", "show", "kyanite", "-p", "MainPID"), shown.splitlines())
        self.assertEqual((self.root / "etc" / "kyanite" / "accounts").read_text(), key)
        self.use()
        # Another key, for whoever restarts it.
        (self.root / "etc" / "kyanite" / "accounts").write_text("local:c2Vjb25k\n")
        self.told("systemctl", "restart", "kyanite")
        self.use()

        self.told("dpkg", "--remove", "kyanite")
        self.assertEqual(self.state(), "inactive")
        self.told("dpkg", "-i", "/opt/newer.deb")
        self.assertEqual(self.state(), "active")
        self.use()
        self.told("dpkg", "--purge", "kyanite")
        self.assertEqual(self.state(), "inactive")
        self.assertTrue(any((self.root / "var" / "lib" / "kyanite").iterdir()))
        self.assertFalse((self.root / "etc" / "kyanite").exists())
        self.assertEqual(self.told("systemctl", "--failed", "--no-legend"), "")
