"""Mounts a share with the SMB client of the Linux kernel and does with it what programs do (kernel_guest.py, kernel_rare.py).

  kernel.py [ONLY]     prints how each check ended; only those whose "WAY.CHECK" contains ONLY

The client is Debian's User Mode Linux, a kernel that runs as a process, so that neither a virtual machine nor modules of this
kernel are needed. It and the server are in a network namespace of their own, joined by a tap device: nothing else is reached.
Needs root and /dev/net/tun."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "py"))

from kernel_guest import CHECKS  # noqa: E402
from kernel_mount import QUOTA_GIB, SERVER, SHARE  # noqa: E402

TOTAL_S = 780
SILENCE_S = 180  # A guest that says nothing for so long has stalled.
KERNEL = "/usr/bin/linux.uml"
# An account besides the one that nearly all is done with, whose key is replaced.
OTHER, OTHER_KEY = "other", "b3RoZXI="
READ_AGAIN = "accounts read again"


def why_not():
    """Why this machine cannot do it; empty if it can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces and tap devices"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    if not os.path.exists(KERNEL):
        return "user-mode-linux is not installed"
    if " amx_tile" in pathlib.Path("/proc/cpuinfo").read_text():
        return "user-mode-linux 6.1 cannot set the registers of a processor that has AMX"
    return ""


class Host:
    """The server, and what the guest asks for. In the namespace."""

    def __init__(self):
        from harness import ACCOUNT, KEY, Server  # Azure's packages are not needed outside.
        from azure.storage.fileshare import ShareServiceClient
        self.location = tempfile.mkdtemp(prefix="kyanite-kernel-")
        self.account, self.key = ACCOUNT, KEY
        self.config = pathlib.Path(self.location) / "config.json"
        self.write_accounts(OTHER_KEY)
        flags = ["--smbHost", SERVER, "--smbPort", "445", "--setting", "smbEncryption=allowed", "--config", str(self.config)]
        self.start_server = lambda: Server(*flags, location=self.location + "/data")
        self.server = self.start_server()

        def connect(share=SHARE, account=ACCOUNT, key=KEY, snapshot=None):
            url = self.server.url("File").rpartition("/")[0] + "/" + account
            return ShareServiceClient(url, retry_total=0,
                                      credential={"account_name": account, "account_key": key}).get_share_client(share, snapshot)
        self.connect = connect
        self.connect().create_share(quota=QUOTA_GIB)
        self.connect(account=OTHER, key=OTHER_KEY).create_share(quota=QUOTA_GIB)

    def write_accounts(self, key_of_other):
        """The well-known account is served on other addresses than loopback only if it is asked for."""
        new = self.config.with_suffix(".new")
        accounts = {self.account: self.key, OTHER: key_of_other}
        new.write_text(json.dumps({"accounts": [{"name": name, "keys": [key]} for name, key in accounts.items()]}))
        new.rename(self.config)

    def answer(self, line):
        """What the guest asks for: a word, and for some of them a path and a text. The code of an error where REST refuses it."""
        word, *rest = line.split(" ", 2)
        try:
            return getattr(self, "do_" + word, lambda *_: "unknown")(*rest)
        except Exception as error:  # The check that asked compares it.
            return str(getattr(error, "error_code", None) or error).replace("\n", " ")

    def do_kill(self):
        self.server.kill()
        self.server = self.start_server()
        return "done"

    def do_get(self, path):
        return self.connect().get_file_client(path).download_file().readall().decode()

    def do_hash(self, path):
        return hashlib.sha256(self.connect().get_file_client(path).download_file().readall()).hexdigest()

    def do_put(self, path, text):
        self.connect().get_file_client(path).upload_range(text.encode(), 0, len(text))
        return "done"

    def do_delete(self, path):
        self.connect().get_file_client(path).delete_file()
        return "done"

    def do_snapshot(self):
        """The second it shows."""
        self.shown = self.connect().create_snapshot()["snapshot"]
        return self.shown[:19]

    def do_forget(self):
        """The last snapshot."""
        self.connect(snapshot=self.shown).delete_share()
        return "done"

    def do_share(self, name):
        self.connect(name).create_share(quota=QUOTA_GIB)
        return "done"

    def do_unshare(self, name):
        self.connect(name).delete_share()
        return "done"

    def do_quota(self, gib):
        self.connect().set_share_quota(int(gib))
        return "done"

    def do_rekey(self, key):
        """Of the other account. Returns when the server knows."""
        before = self.server.log().count(READ_AGAIN)
        self.write_accounts(key)
        end = time.monotonic() + 30
        while self.server.log().count(READ_AGAIN) == before and time.monotonic() < end:
            time.sleep(0.05)
        return "done" if self.server.log().count(READ_AGAIN) > before else "the accounts were not read again"

    def stop(self):
        try:
            self.server.stop()
        finally:
            shutil.rmtree(self.location, ignore_errors=True)


def run_inside(only):
    for command in ("ip link set lo up", "ip tuntap add dev tap0 mode tap", f"ip address add {SERVER}/24 dev tap0",
                    "ip link set tap0 up"):
        subprocess.run(command.split(), check=True)
    host = Host()
    scratch = tempfile.mkdtemp(prefix="kyanite-uml-")
    guest = subprocess.Popen(
        [KERNEL, "mem=256M", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "con=null", "con0=fd:0,fd:1", "ssl=null",
         "eth0=tuntap,tap0", f"uml_dir={scratch}", f"KYANITE_ACCOUNT={host.account}", f"KYANITE_KEY={host.key}",
         f"OTHER_ACCOUNT={OTHER}", f"OTHER_KEY={OTHER_KEY}",
         f"KYANITE_ONLY={only}", "PYTHONDONTWRITEBYTECODE=1", "init=/usr/bin/python3", "--", str(HERE / "kernel_guest.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace", env={**os.environ, "TMPDIR": scratch},
        start_new_session=True)

    def end_guest():
        try:
            os.killpg(guest.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    whole = threading.Timer(TOTAL_S, end_guest)
    whole.start()
    silence = threading.Timer(SILENCE_S, end_guest)
    silence.start()
    try:
        for line in guest.stdout:
            silence.cancel()
            silence = threading.Timer(SILENCE_S, end_guest)
            silence.start()
            line = line.strip()
            if line.startswith("ask "):
                guest.stdin.write(host.answer(line[4:]) + "\n")
                guest.stdin.flush()
            elif line:
                print(line, flush=True)
    finally:
        whole.cancel()
        silence.cancel()
        end_guest()
        guest.wait()
        shutil.rmtree(scratch, ignore_errors=True)
        host.stop()


def run(only="", told=lambda line: None):
    """How each check ended, by (way, check): "ok" or why it did not; and all that the guest said."""
    command = ["unshare", "--net", sys.executable, str(HERE / "kernel.py"), "--inside", only]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    ended, lines = {}, []
    for line in process.stdout:
        told(line.rstrip())
        lines.append(line)
        word, _, rest = line.strip().partition(" ")
        way, _, check = rest.partition(" ")
        name, _, why = check.partition(":")
        if word in ("ok", "FAIL") and (way, name.split(" ")[0]) in CHECKS:
            ended[way, name.split(" ")[0]] = "ok" if word == "ok" else why.strip()
    process.wait()
    return ended, "".join(lines)


def main():
    if sys.argv[1:2] == ["--inside"]:
        return run_inside(sys.argv[2])
    if why_not():
        print(why_not())
        return 1
    ended, _ = run(*sys.argv[1:2], told=print)
    failed = [each for each, how in ended.items() if how != "ok"]
    print(f"{len(ended) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not ended else 0


if __name__ == "__main__":
    sys.exit(main())
