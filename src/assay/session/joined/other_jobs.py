from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from assay.record import Record
from assay.record.joined.job_folder import JobFolder
from assay.session.elsewhere import Share

POLL_S = 0.25


class OtherJobs:
    """What other jobs of the session run of this job's plan: data setups, and entries that its own ones need.

    Jobs cannot wait for each other in a circle: each goes through its plan in the order of the files, and one result of
    an entry is enough to go on.
    """

    def __init__(self, folder: JobFolder, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._ours: set[str] = set()
        self._said: dict[str, str] = {}
        """The holder of an entry that was last named for it."""

    def share(self, entry: str, give_up: Callable[[], bool]) -> Share:
        jobs, job = self._folder.jobs, self._folder.job
        while not give_up():
            holder = jobs.take(entry, job)
            if holder == job.id:
                return Share(self._taken_over(entry))
            found = [record for record in self._recorded(entry) if record.counts]
            if found:
                self._tell(entry, holder, waits=False)
                return Share(found, runs_here=False)
            self._tell(entry, holder, waits=True)
            time.sleep(POLL_S)
        return Share()

    def _taken_over(self, entry: str) -> Sequence[Record]:
        """Return what a dead job recorded before this one took the entry over, which may be after this one began."""
        if entry in self._ours:
            return ()
        self._ours.add(entry)
        return self._recorded(entry)

    def _recorded(self, entry: str) -> list[Record]:
        return [record for record in self._folder.records() if record.name == entry]

    def _tell(self, entry: str, holder: str, *, waits: bool) -> None:
        """Say once who has an entry."""
        if self._said.get(entry) == holder:
            return
        self._said[entry] = holder
        jobs = self._folder.jobs
        other = jobs.find(holder)
        words = other.words if other else holder
        if waits:
            self._say(f"\tWaiting for {entry}, which {words} runs")
        else:
            self._say(f"\t{entry} {'was' if jobs.is_done(entry) else 'is'} run by {words}")

    def have_left(self, give_up: Callable[[], bool]) -> bool:
        """Waits until all that this job was asked for is done; True if a job that was at some of it has ended before.

        Only for a job that has nothing more to run itself: nobody waits for it.
        """
        jobs, job = self._folder.jobs, self._folder.job
        while not give_up():
            asked = [entry for entry in jobs.open_entries() if entry.name in job.asked]
            # What this job holds itself it has just gone through: going through it again would change nothing.
            left = [entry for entry in asked if entry.job is None or entry.job.id != job.id]
            if not left:
                return False
            if any(not entry.running for entry in left):
                return True
            time.sleep(POLL_S)
        return False
