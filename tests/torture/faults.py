"""Faults of the disk and the clock of a run's server."""

import fault_library
from owner import Wrong

EXTENT, TABLE, LOG, OTHER = 1, 2, 4, 8
NO_GROWTH, NO_WRITES, NO_SYNCS, LIMITED = 1, 2, 3, 4


class Faults(fault_library.Control):
    def __init__(self, run, journal=False):
        if not fault_library.LIBRARY.exists():
            raise Wrong(f"{fault_library.LIBRARY} is missing: it is built with everything else, but not with sanitizers")
        self.place = run.scratch / "faults"
        self.keep, self.journal = self.place / "keep", self.place / "journal"
        self.keep.mkdir(parents=True)
        if journal:
            self.journal.touch()
        super().__init__(self.place)
        self["seed"] = run.random.getrandbits(62)
        run.environment.update(self.environment, KYANITE_FAULTS_DATA=str(run.location))
