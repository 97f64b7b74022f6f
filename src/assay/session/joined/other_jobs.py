from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from assay.record import Record
from assay.record.joined.job_folder import JobFolder

POLL_S = 0.25


class OtherJobs:
    """What other jobs of the session run of this job's plan: data setups, and entries that its own ones need.

    Jobs cannot wait for each other in a circle: each goes through its plan in the order of the files, and one result of
    an entry is enough to go on.
    """

    def __init__(self, folder: JobFolder, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say

    def results(self, entry: str, give_up: Callable[[], bool]) -> Sequence[Record]:
        jobs, job = self._folder.jobs, self._folder.job
        said = ""
        while not give_up():
            holder = jobs.take(entry, job)
            if holder == job.id:
                return ()
            found = [record for record in self._folder.records() if record.name == entry and record.counts]
            if found:
                return found
            if holder != said:
                other = jobs.find(holder)
                self._say(f"\tWaiting for {entry}, which {other.words if other else holder} runs")
                said = holder
            time.sleep(POLL_S)
        return ()

    def have_left(self, give_up: Callable[[], bool]) -> bool:
        """Waits until all that this job was asked for is done; True if a job that was at some of it has ended before.

        Only for a job that has nothing more to run itself: nobody waits for it.
        """
        jobs, job = self._folder.jobs, self._folder.job
        while not give_up():
            left = [entry for entry in jobs.open_entries() if entry.name in job.asked]
            if not left:
                return False
            if any(not entry.running for entry in left):
                return True
            time.sleep(POLL_S)
        return False
