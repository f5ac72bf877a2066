"""The tool's end of the fault library (faults/): loads it before the server, sets what is to go wrong, reads what it counted."""

import ctypes
import mmap
import pathlib

import harness
from owner import Wrong

LIBRARY = pathlib.Path(harness.BINARY).resolve().parent / "libkyanite_faults.so"
# As in faults/state.h. The first half is set here, the second counted there.
FIELDS = ("lie", "full", "read_error_ppm", "flip_ppm", "read_kinds", "clock_offset_ns", "seed", "spoil_sent",
          "writes", "syncs", "refused_writes", "read_errors", "flips", "clock_readings", "unseen")
EXTENT, TABLE, LOG, OTHER = 1, 2, 4, 8
NO_GROWTH, NO_WRITES, NO_SYNCS = 1, 2, 3
SECOND_NS = 1_000_000_000


class Faults:
    def __init__(self, run, journal=False):
        if not LIBRARY.exists():
            raise Wrong(f"{LIBRARY} is missing: it is built with everything else, but not with sanitizers")
        self.place = run.scratch / "faults"
        self.keep, self.journal = self.place / "keep", self.place / "journal"
        self.keep.mkdir(parents=True)
        if journal:
            self.journal.touch()
        control = self.place / "control"
        control.write_bytes(bytes(mmap.PAGESIZE))
        with control.open("r+b") as file:
            self._control = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self["seed"] = run.random.getrandbits(62)
        run.environment.update(LD_PRELOAD=str(LIBRARY), KYANITE_FAULTS_DATA=str(run.location),
                               KYANITE_FAULTS_PLACE=str(self.place))

    def _word(self, field):
        """Read and written at once: the server looks at any time."""
        return ctypes.c_int64.from_buffer(self._control, 8 * FIELDS.index(field))

    def __getitem__(self, field):
        return self._word(field).value

    def __setitem__(self, field, value):
        self._word(field).value = value

    def set(self, **fields):
        for field, value in fields.items():
            self[field] = value
