"""The servers that ./dev bench starts: Kyanite, and what it is measured against. Each on a port that was free a moment before,
with data that vanishes with it."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

START_TIMEOUT_S = 30
POLL_S = 0.0005


def free_port():
    """A port nobody listens on. A forgotten server on it would share the load and spoil the figures."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode} instead of starting")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(POLL_S)
    raise RuntimeError(f"{process.args[0]} did not start")


def pinned(core, command):
    """On two cores or more a server is given one of them and its clients another."""
    return ["taskset", "-c", str(core), *command] if core is not None and os.cpu_count() > 1 else command


def cpu_seconds(pid):
    """What all threads of a process have used, in nanosecond steps."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


GONE = (FileNotFoundError, ProcessLookupError)  # What asking for a process that has ended raises.


def with_descendants(pid):
    """Of those that end meanwhile nothing is left to be asked."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except GONE:
        return []
    return [pid, *(below for child in children for below in with_descendants(int(child)))]


def group_cpu_seconds(pid):
    """Of a process with all threads that it ever had, in steps of the scheduler's clock (10 ms); 0 of one that has ended."""
    try:
        after_name = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except GONE:
        return 0
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def disk_written_bytes():
    """What the disk with the temporary files has written. Of everybody: newer kernels charge a process for the whole folio,
    up to a megabyte, when it changes one page, so what /proc/PID/io says is of no use."""
    device = os.stat(tempfile.gettempdir()).st_dev
    counters = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat")
    return int(counters.read_text().split()[6]) * 512 if counters.exists() else 0


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


class Running:
    """A process with a directory of its own."""

    def __init__(self, prefix):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"kyanite-bench-{prefix}-"))
        self.port = free_port()
        self.process = None

    def launch(self, command, ports, **options):
        """Starts it and waits until it listens. What does not start leaves nothing behind."""
        try:
            with (self.directory / "log").open("w") as log:
                self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory,
                                                **options)
            for port in ports:
                wait_for(port, self.process)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(START_TIMEOUT_S)
        shutil.rmtree(self.directory)

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Nginx(Running):
    """One worker, static files, sendfile, open files cached, no log."""

    CONFIGURATION = """
daemon off; master_process on; worker_processes 1; pid {0}/pid; error_log {0}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 1h;
  open_file_cache max=100; open_file_cache_valid 1h;
  client_body_temp_path {0}/a; proxy_temp_path {0}/b; fastcgi_temp_path {0}/c; uwsgi_temp_path {0}/d; scgi_temp_path {0}/e;
  server {{ listen 127.0.0.1:{1} backlog=1024; root {0}/files; }}
}}
"""

    def __init__(self, files, core):
        super().__init__("nginx")
        self.directory.chmod(0o755)  # The worker is another user.
        (self.directory / "files").mkdir()
        for name, content in files.items():
            (self.directory / "files" / name).write_bytes(content)
        configuration = self.directory / "nginx.conf"
        configuration.write_text(self.CONFIGURATION.format(self.directory, self.port))
        self.launch(pinned(core, ["nginx", "-c", str(configuration), "-p", str(self.directory)]), [self.port])

    def cpu_seconds(self):
        """Of the worker; the master only watches."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return sum(cpu_seconds(child) for child in children)


class Kyanite(Running):
    def __init__(self, binary, core=None, flags=(), under=()):
        """`under`: a command that runs the server."""
        super().__init__("kyanite")
        self.ports = {"blob": self.port, **{name: free_port() for name in ("queue", "table", "file")}}
        self.smb_port = free_port()
        ports = [word for name, port in {**self.ports, "smb": self.smb_port, "admin": 0}.items()
                 for word in (f"--{name}Port", str(port))]
        command = [*under, str(binary), "--silent", "--location", str(self.directory / "data"), *ports, *flags]
        began = time.monotonic()
        self.launch(pinned(core, command), [self.port])
        self.start_s = time.monotonic() - began
        for port in (*self.ports.values(), self.smb_port):
            wait_for(port, self.process)

    def resident_mib(self):
        return resident_mib(self.process.pid)


class Azurite(Running):
    """The emulator that most people use, from npm, as it comes: on disk, without its debug log."""

    def __init__(self, script):
        super().__init__("azurite")
        self.ports = {"blob": self.port, "queue": free_port(), "table": free_port()}
        ports = [word for name, port in self.ports.items() for word in (f"--{name}Port", str(port))]
        self.launch(["node", str(script), "--silent", "--skipApiVersionCheck", "--disableTelemetry", "--location",
                     str(self.directory), *ports], self.ports.values())


class Beanstalkd(Running):
    """With its log on disk, synced on every write."""

    def __init__(self):
        super().__init__("beanstalkd")
        self.launch(["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port), "-b", str(self.directory), "-f", "0"], [self.port])


class Samba(Running):
    """A share "bench" with its data, users, state and log in a directory of its own. It can only be started by root, whose
    name is also the user's. Signatures are demanded, as we do."""

    CONFIGURATION = """
[global]
server role = standalone server
interfaces = 127.0.0.1
bind interfaces only = yes
smb ports = {1}
disable netbios = yes
disable spoolss = yes
load printers = no
passdb backend = tdbsam:{0}/private/passdb.tdb
private dir = {0}/private
state directory = {0}/state
lock directory = {0}/state
cache directory = {0}/state
pid directory = {0}/state
ncalrpc dir = {0}/state/ncalrpc
log file = {0}/log
server signing = mandatory
{2}
[bench]
path = {0}/data
read only = no
{3}
"""

    def __init__(self, user, password, core=None, encrypts=False, syncs=False):
        super().__init__("samba")
        for name in ("private", "state", "data"):
            (self.directory / name).mkdir(mode=0o700)
        self.smb_port = self.port
        configuration = self.directory / "smb.conf"
        configuration.write_text(self.CONFIGURATION.format(
            self.directory, self.port, "smb encrypt = required" if encrypts else "",
            "strict sync = yes\nsync always = yes" if syncs else ""))
        try:
            subprocess.run(["smbpasswd", "-c", str(configuration), "-a", "-s", user], input=f"{password}\n{password}\n",
                           text=True, check=True, capture_output=True)
            # It ends its process group when it ends. A session of its own, in which it would have a group of its own, gets
            # a share of the processors of its own on many machines.
            self.launch(pinned(core, ["smbd", "--foreground", "--no-process-group", "-s", str(configuration)]), [self.port],
                        process_group=0)
        except (OSError, subprocess.CalledProcessError) as error:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise RuntimeError(f"Samba: {getattr(error, 'stderr', '') or error}") from error

    def cpu_seconds(self):
        """Of the process and of those it started, one for each connection, with threads that have ended."""
        return sum(group_cpu_seconds(pid) for pid in with_descendants(self.process.pid))
