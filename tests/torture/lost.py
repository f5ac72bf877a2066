"""Lost parts: something of the data directory vanishes, is cut short, or is put back as it was some time ago, with the server down. A
start must refuse, say what is wrong and harm nothing; with the part put right everything is there."""

import os
import pathlib
import shutil

import harness
from mode import Mode
from owner import Wrong

WAY_OUT = "ACCEPT_LOSS"
PARTS = ("records", "IDENTITY", "LOGS")


def copy(source, target):
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


class LostParts(Mode):
    name = "lost-parts"

    def __init__(self, seed):
        super().__init__(seed)
        self.older = self.run.scratch / "older"  # Parts as they were after some earlier kill.
        self.saved = self.run.scratch / "saved"

    @property
    def location(self):
        return pathlib.Path(self.run.location)

    def newest_log(self):
        """The one that has something written to it."""
        logs = sorted((self.location / "records").glob("*.log"))
        return max(logs, key=lambda path: (len(path.read_bytes().rstrip(b"\0")) > 0, path.name))

    def damages(self):
        """What to call each, which parts it touches, and what does it."""
        records = self.location / "records"
        yield "records removed", ["records"], lambda: remove(records)
        yield "records emptied", ["records"], lambda: (remove(records), records.mkdir())
        yield "CURRENT removed", ["records"], lambda: (records / "CURRENT").unlink()
        yield "a log removed", ["records"], lambda: self.newest_log().unlink()
        yield "a log cut", ["records"], self.cut_log
        yield "a log zeroed at its end", ["records"], self.zero_log
        yield "IDENTITY removed", ["IDENTITY"], lambda: (self.location / "IDENTITY").unlink()
        yield "LOGS removed", ["LOGS"], lambda: (self.location / "LOGS").unlink()
        yield "extents removed", ["extents"], lambda: remove(self.location / "extents")
        if self.older.exists():
            yield "older records", ["records"], lambda: self.put_back("records")
            yield "all but the extents older", list(PARTS), lambda: self.put_back(*PARTS)

    def put_back(self, *parts):
        for part in parts:
            remove(self.location / part)
            copy(self.older / part, self.location / part)

    def cut_log(self):
        log = self.newest_log()
        os.truncate(log, self.random.randrange(len(log.read_bytes().rstrip(b"\0"))))

    def zero_log(self):
        log, size = self.newest_log(), self.newest_log().stat().st_size
        self.cut_log()
        os.truncate(log, size)

    async def cycle(self):
        problems = await self.run.load_and_kill()
        self.report.cycles += 1
        what, parts, damage = self.random.choice(list(self.damages()))
        self.lose(what, parts, damage)
        if not self.older.exists() or self.random.random() < 0.2:
            remove(self.older)
            self.older.mkdir()
            for part in PARTS:
                copy(self.location / part, self.older / part)
        self.run.start()
        return problems + await self.run.verify()

    def lose(self, what, parts, damage):
        """Raises when the server starts all the same. The parts are as before afterwards."""
        remove(self.saved)
        self.saved.mkdir()
        for part in parts:
            copy(self.location / part, self.saved / part)
        damage()
        try:
            self.run.start()
            self.run.server.kill()
            raise Wrong(f"the server started: {what}")
        except harness.NotStarted as error:
            if error.code < 0 or WAY_OUT not in str(error):
                raise Wrong(f"{what}: the server ended with {error.code} and said: {error}") from error
        self.note(what)
        for part in parts:
            remove(self.location / part)
            copy(self.saved / part, self.location / part)

    async def self_test(self):
        """A server that starts in spite of what is lost, because it was told to, must be noticed; then its clients must notice."""
        problems = await self.cycle()
        await self.run.load_and_kill()
        (self.location / WAY_OUT).touch()
        try:
            self.lose("a log cut", ["records"], lambda: os.truncate(self.newest_log(), 0))
            started = None
        except Wrong as error:
            started = str(error)
        print(f"   a start without a log: {started or 'NOT NOTICED'}", flush=True)
        self.run.start()
        missed = await self.run.verify()
        print(f"   what was in it: {missed[0][:150] if missed else 'NOT NOTICED'}", flush=True)
        return problems + ([] if started else ["a start without a log went unnoticed"]) + ([] if missed else ["what was lost went unnoticed"])
