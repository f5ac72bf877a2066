"""Makes the packages: .deb, .tar.gz, npm tarball and OCI image, into build/packages. The same commit gives the same bytes.

Called by ./dev package, which builds before. Options: --architecture of Debian's, --only KIND, --out FOLDER.
"""

import argparse
import datetime
import gzip
import io
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import image
import pages

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
BUILDS = {"amd64": ROOT / "build" / "release", "arm64": ROOT / "build" / "arm64"}  # of cmake
FETCHED = ROOT / "build" / "fetched"  # packages of Debian, of which images are made
TOOLS = {"amd64": "x86_64-linux-gnu-", "arm64": "aarch64-linux-gnu-"}
NPM_CPUS = {"amd64": "x64", "arm64": "arm64"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


class Version:
    """That of the sources if the commit has its tag, else one before it that names the commit."""

    def __init__(self):
        base = re.search(r'kVersion = "([^"]+)"', (ROOT / "src" / "server" / "options.h").read_text())[1]
        self.epoch = int(output("git", "log", "-1", "--format=%ct"))
        commit = output("git", "rev-parse", "--short=10", "HEAD")
        released = f"v{base}" in output("git", "tag", "--points-at", "HEAD").split()
        dirty = ".dirty" if output("git", "status", "--porcelain", "--untracked-files=no") else ""
        count = output("git", "rev-list", "--count", "HEAD")
        self.debian = base if released and not dirty else f"{base}~{count}.g{commit}{dirty}"
        self.npm = self.debian.replace("~", "-dev.")


class Build:
    """What was built for one architecture, and where its packages go."""

    def __init__(self, architecture, version, out):
        self.architecture, self.version, self.out = architecture, version, out
        self.folder, self.epoch = BUILDS[architecture], version.epoch
        self.work, self.pages = out / "work" / architecture, out / "work" / "pages"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def tool(self, name):
        return TOOLS[self.architecture] + name

    def split(self):
        """The one binary, stripped, and its symbols apart, each naming the other."""
        whole, stripped, symbols = self.folder / "kyanite_one", self.work / "kyanite", self.work / "kyanite.debug"
        subprocess.run([self.tool("objcopy"), "--only-keep-debug", "--compress-debug-sections=zlib", whole, symbols], check=True)
        subprocess.run([self.tool("strip"), "--strip-unneeded", "--remove-section=.comment", "-o", stripped, whole], check=True)
        subprocess.run([self.tool("objcopy"), f"--add-gnu-debuglink={symbols.name}", stripped.name], check=True, cwd=self.work)
        return stripped, symbols


def pack(path, entries, epoch):
    """A .tar.gz of (name, bytes or link target as str, mode), all of root and of one time."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content, mode in entries:
            info = tarfile.TarInfo(name)
            info.mtime, info.mode = epoch, mode
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=9) as zipped:
        zipped.write(packed.getvalue())


def make_tar(build):
    stripped, symbols = build.split()
    name = f"kyanite-{build.version.debian}-linux-{build.architecture}"
    entries = [(f"{name}/bin/kyanite", stripped.read_bytes(), 0o755)]
    entries += [(f"{name}/bin/{alias}", "kyanite", 0o777) for alias in pages.NAMES[1:]]
    entries += [(f"{name}/README.md", (HERE / "tar-README.md").read_bytes(), 0o644)]
    where = {"kyanite.1": "man/man1", "kyanite.bash": "bash-completion/completions", "_kyanite": "zsh/site-functions",
             "kyanite.fish": "fish/vendor_completions.d"}
    entries += [(f"{name}/share/{folder}/{page}", (build.pages / page).read_bytes(), 0o644) for page, folder in where.items()]
    pack(build.out / f"{name}.tar.gz", entries, build.epoch)
    pack(build.out / f"{name}-symbols.tar.gz", [(f"{name}-symbols/kyanite.debug", symbols.read_bytes(), 0o644)], build.epoch)


def make_deb(build):
    folder = build.work / "deb" / "kyanite"
    shutil.copytree(HERE / "debian", folder / "debian")
    shutil.copy(build.folder / "kyanite", folder / "kyanite")  # with Debian's libraries
    shutil.copy(HERE / "kyanite.json", folder)
    shutil.copytree(build.pages, folder / "pages")
    (folder / "bash").mkdir()
    shutil.copy(folder / "pages" / "kyanite.bash", folder / "bash" / "kyanite")
    shutil.copy(folder / "pages" / "default", folder / "debian" / "kyanite.default")
    date = datetime.datetime.fromtimestamp(build.epoch, datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
    maintainer = re.search(r"Maintainer: (.*)", (folder / "debian" / "control").read_text())[1]
    (folder / "debian" / "changelog").write_text(
        f"kyanite ({build.version.debian}) unstable; urgency=medium\n\n  * See the project's log.\n\n -- {maintainer}  {date}\n")
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(build.epoch), DEB_BUILD_OPTIONS="nocheck",
                       KYANITE_LIBRARIES=str(build.folder / "libraries"))
    subprocess.run(["dpkg-buildpackage", "--build=binary", "--no-sign", f"--host-arch={build.architecture}", "--no-check-builddeps"],
                   check=True, cwd=folder, env=environment)
    for made in folder.parent.glob("*.deb"):
        shutil.copy(made, build.out)


def make_npm(build):
    """With the program of this machine, and that of the architecture if it is another one: ./dev package has just built both."""
    manifest = (HERE / "npm" / "package.json").read_text().replace("0.0.0", build.version.npm)
    entries = [("package/package.json", manifest.encode(), 0o644)]
    for file in sorted(path for path in (HERE / "npm").rglob("*") if path.is_file() and path.name != "package.json"):
        mode = 0o755 if file.parent.name == "bin" else 0o644
        entries.append((f"package/{file.relative_to(HERE / 'npm')}", file.read_bytes(), mode))
    for architecture, cpu in NPM_CPUS.items():
        if architecture in ("amd64", build.architecture):
            stripped, _ = Build(architecture, build.version, build.out / "work" / "npm").split()
            entries.append((f"package/linux-{cpu}/kyanite", stripped.read_bytes(), 0o755))
    pack(build.out / f"kyanite-{build.version.npm}.tgz", entries, build.epoch)


def make_image(build):
    stripped, _ = build.split()
    image.make(build.out / f"kyanite-{build.version.debian}-{build.architecture}.image.tar", stripped, build.architecture,
               build.version.debian, build.epoch, FETCHED)


KINDS = {"tar": make_tar, "deb": make_deb, "npm": make_npm, "image": make_image}
# What each makes, by architecture.
NAMES = {"tar": ("kyanite-*-linux-{}.tar.gz", "kyanite-*-linux-{}-symbols.tar.gz"), "npm": ("kyanite-*.tgz",),
         "deb": ("kyanite_*_{}.deb", "kyanite-dbgsym_*_{}.deb"), "image": ("kyanite-*-{}.image.tar",)}


def remove_former(kind, architecture, out, before):
    """Packages of former versions go, so that the lines of README.md find one file each."""
    for pattern in NAMES[kind]:
        for path in out.glob(pattern.format(architecture)):
            if before.get(path) == path.stat().st_mtime_ns:
                path.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--architecture", choices=sorted(TOOLS), default="amd64")
    parser.add_argument("--only", choices=sorted(KINDS))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "packages")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    build = Build(arguments.architecture, Version(), arguments.out)
    # The table of flags is the same for all; the machine's own program is the one that can be asked.
    subprocess.run(["python3", HERE / "pages.py", BUILDS["amd64"] / "kyanite", build.pages], check=True)
    before = {path: path.stat().st_mtime_ns for path in arguments.out.iterdir()}
    for kind, make in KINDS.items():
        if arguments.only in (None, kind):
            make(build)
            remove_former(kind, arguments.architecture, arguments.out, before)
    for made in sorted(arguments.out.iterdir()):
        if made.is_file() and before.get(made) != made.stat().st_mtime_ns:
            print(f"{made.stat().st_size / 1e6:6.1f} MB  {made}")


if __name__ == "__main__":
    main()
