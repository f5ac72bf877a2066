"""Draws docs/terminal.svg: a terminal in which a server is started, written to, killed and started again. Every line of output is from
a real run, made here and now:

    python3 tools/terminal.py --binary build/release/kyanite [--write]

Ports and the folder are replaced by the usual ones. Of the server's first words the line for drives is left out, and the second time
all but the first and the last."""

import argparse
import html
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "terminal.svg"
COLUMNS = 104
FONT_PX, LINE_PX, CHAR_PX, MARGIN_PX = 14, 19, 8.43, 16

# What is typed, as a reader would type it, and run by bash with az's environment.
SESSION = [
    "kyanite -l data &",
    "az storage container create -n box --query created",
    "echo 'worth keeping' > note.txt",
    "az storage blob upload -c box -n note -f note.txt -o none && echo stored",
    "az storage blob upload -c box -n note -f note.txt --overwrite --if-none-match '*' 2>&1 | grep ErrorCode",
    "kill -9 %1",
    "kyanite -l data &",
    "az storage blob download -c box -n note -f back.txt -o none && cat back.txt",
]


class Server:
    """The server that is typed to run in the background."""

    def __init__(self, binary, folder):
        ports = [word for name in ("blob", "queue", "table", "file", "smb", "admin") for word in (f"--{name}Port", "0")]
        self.process = subprocess.Popen([binary, "-l", "data", *ports], cwd=folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.startswith("Ready."):
                break
        else:
            raise RuntimeError("the server did not start")
        self.output = "".join(lines)
        self.connection = re.search(r"^  (DefaultEndpointsProtocol=.*)$", self.output, re.M)[1]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def shown(output, folder):
    """A server's first words, with the ports it has unless told otherwise, and without the drive's line."""
    defaults = {"Blob": 10000, "Queue": 10001, "Table": 10002, "File": 10003, "SMB": 10445, "Admin": 10010}
    for name, port in defaults.items():
        found = re.search(rf"^  {name} +\w+://[\d.]+:(\d+)", output, re.M)
        output = output.replace(f":{found[1]}", f":{port}")
    output = output.replace(str(folder), "/home/you")
    return [line for line in output.splitlines() if not line.startswith(("Share SHARE", "  mount"))]


def play(binary):
    """(typed or not, line) of the whole session."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="kyanite-terminal-") as name:
        folder, server = pathlib.Path(name), None
        try:
            for command in SESSION:
                lines.append((True, command))
                if command.startswith("kyanite"):
                    again, server = server is not None, Server(binary, folder)
                    words = shown(server.output, folder)
                    lines += [(False, line) for line in (words[:1] + words[-1:] if again else words)]
                elif command.startswith("kill"):
                    server.kill()
                else:
                    environment = {**os.environ, "AZURE_STORAGE_CONNECTION_STRING": server.connection,
                                   "AZURE_CONFIG_DIR": str(folder / "az"), "AZURE_CORE_COLLECT_TELEMETRY": "false",
                                   "AZURE_CORE_ONLY_SHOW_ERRORS": "true"}
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
                    if done.returncode != 0:
                        raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
                    lines += [(False, line) for line in done.stdout.splitlines()]
        finally:
            if server is not None:
                server.kill()
    return lines


def wrapped(lines):
    """No line is wider than the terminal; what goes on is marked as a shell does. Output that is too long ends in dots."""
    for typed, line in lines:
        if not typed:
            yield typed, True, line if len(line) <= COLUMNS else line[:COLUMNS - 3] + "..."
            continue
        first, line = True, "$ " + line
        while len(line) > COLUMNS:
            cut = line.rfind(" ", 0, COLUMNS - 1)
            yield typed, first, line[:cut] + " \\"
            first, line = False, "    " + line[cut + 1:]
        yield typed, first, line


def draw(lines):
    rows = list(wrapped(lines))
    width, height = round(COLUMNS * CHAR_PX + 2 * MARGIN_PX), len(rows) * LINE_PX + 2 * MARGIN_PX
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>A server is started, written to, killed and started again; the data is there</title>",
        "<style>",
        f"text {{ font: {FONT_PX}px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; fill: #c9d1d9; }}",
        ".typed { fill: #7ee787; }",
        # Lines come one after the other, once, and stay. Who wants no motion sees all of them.
        "@media (prefers-reduced-motion: no-preference) { text { opacity: 0; animation: come 0.01s linear forwards; } }",
        "@keyframes come { to { opacity: 1; } }",
        "</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
    ]
    at_s = 0.5
    for number, (typed, first, line) in enumerate(rows):
        at_s += (1.2 if first else 0.1) if typed else 0.12
        y = MARGIN_PX + number * LINE_PX + FONT_PX
        kind = ' class="typed"' if typed else ""
        out.append(f'<text x="{MARGIN_PX}" y="{y}"{kind} style="animation-delay: {at_s:.2f}s" xml:space="preserve">'
                   f"{html.escape(line, quote=False)}</text>")
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "kyanite"))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    picture = draw(play(str(pathlib.Path(arguments.binary).resolve())))
    if arguments.write:
        PICTURE.write_text(picture)
    else:
        sys.stdout.write(picture)


if __name__ == "__main__":
    main()
