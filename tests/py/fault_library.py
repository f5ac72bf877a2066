"""The tools' end of the fault library (tests/torture/faults/): has it loaded before a server, sets what is to go wrong, reads
what it counted."""

import ctypes
import mmap
import pathlib

import harness

LIBRARY = pathlib.Path(harness.BINARY).resolve().parent / "libkyanite_faults.so"  # Not built with sanitizers.
# As in faults/state.h. The first half is set here, the second counted there.
FIELDS = ("lie", "full", "read_error_ppm", "flip_ppm", "read_kinds", "clock_offset_ns", "clock_pace", "clock_since_ns", "seed",
          "spoil_sent", "room", "writes", "syncs", "refused_writes", "read_errors", "flips", "clock_readings", "unseen")
SECOND_NS = 1_000_000_000


class Control:
    """`place` is a directory for what the library needs; `environment` is that of the server. By itself it meddles with the
    clock only."""

    def __init__(self, place):
        control = place / "control"
        control.write_bytes(bytes(mmap.PAGESIZE))
        with control.open("r+b") as file:
            self._control = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.environment = {"LD_PRELOAD": str(LIBRARY), "KYANITE_FAULTS_PLACE": str(place)}

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
