"""What the history asks its tables. `tests/history` checks that each of these is answered from an index."""

from __future__ import annotations

from assay.record.session_files.session_kind import BASELINES

_ORDINARY = "session.kind IN (" + ", ".join(f"'{kind}'" for kind in BASELINES) + ")"

RECORDS_OF_SESSION = """SELECT body.record FROM run JOIN body ON body.run = run.id
    WHERE run.session = (SELECT id FROM session WHERE name = ?) ORDER BY run.started, run.id"""

LAST_COMPARABLE = f"""SELECT run.session FROM run JOIN session ON session.id = run.session
    WHERE run.fingerprint = ? AND run.started < ? AND run.counts AND run.outcome = 'passed' AND {_ORDINARY}
    ORDER BY run.started DESC LIMIT 1"""

RUNS_OF_SERIES_IN_SESSION = """SELECT body.record FROM run JOIN body ON body.run = run.id
    WHERE run.fingerprint = ?1 AND +run.session = ?2 AND run.started < ?3 AND counts AND outcome = 'passed'
    AND run.started >= (SELECT started FROM session WHERE id = ?2) ORDER BY run.started"""

PREVIOUS_SESSION = f"""SELECT session.started, session.name FROM run JOIN session ON session.id = run.session
    WHERE run.fingerprint = ? AND run.started < ? AND run.counts AND run.outcome = 'passed' AND {_ORDINARY}
    ORDER BY run.started DESC LIMIT 1"""

SESSION = """SELECT id, name, folder, started, finished, status, git_commit, git_branch, git_dirty, machine, host,
    reason, planned, kind FROM session"""

RUN = """SELECT run.run_id, session.name, run.entry, run.fingerprint, run.started, run.outcome, run.counts,
    run.exec_time_s, run.git_commit FROM run JOIN session ON session.id = run.session"""

TRACKS = """SELECT fingerprint.key, fingerprint.entry, fingerprint.params, fingerprint.workload, fingerprint.machine,
    run.run_id, session.name, run.entry, run.fingerprint, run.started, run.outcome, run.counts, run.exec_time_s,
    run.git_commit
    FROM fingerprint JOIN run ON run.id = (SELECT latest.id FROM run AS latest
        JOIN session AS its ON its.id = latest.session
        WHERE latest.fingerprint = fingerprint.key AND latest.counts AND its.kind IN ('run', 'import')
        ORDER BY latest.started DESC LIMIT 1)
    JOIN session ON session.id = run.session"""

ENTRY_TAGS = """SELECT DISTINCT tag FROM tag WHERE session = (SELECT id FROM session WHERE name = ?)
    AND (entry = ? OR entry = '') ORDER BY tag"""

ENVIRONMENTS = """SELECT session.name, session.environment FROM session
    WHERE session.name IN (SELECT value FROM json_each(?)) ORDER BY session.started"""

FOUND = r"""session.id IN (SELECT one.id FROM session AS one WHERE one.name || char(10) || coalesce(one.reason, '')
    || char(10) || one.host || char(10) || coalesce(one.git_branch, '') || char(10)
    || coalesce((SELECT group_concat(tag, char(10)) FROM tag WHERE tag.session = one.id), '') LIKE ? ESCAPE '\')"""
"""Sessions that hold a text. Every one is looked at, but not its runs."""

SERIES = """SELECT series.id, series.fingerprint, series.entry, series.metric, series.unit, series.better,
    (SELECT count(*) FROM point WHERE point.series = series.id),
    (SELECT value FROM point WHERE point.series = series.id ORDER BY started DESC, run DESC LIMIT 1),
    (SELECT max(started) FROM point WHERE point.series = series.id)
    FROM series"""

SERIES_OF = f"{SERIES} WHERE series.fingerprint = ? ORDER BY series.id"

TREND = """SELECT point.started, point.value, run.run_id, session.name, run.git_commit
    FROM point JOIN run ON run.id = point.run JOIN session ON session.id = run.session
    WHERE point.series = ? AND point.started < ? ORDER BY point.started DESC, point.run DESC LIMIT ?"""

LEVELS = """SELECT run.session, point.value FROM point JOIN run ON run.id = point.run
    WHERE point.series = ? AND point.started < ? ORDER BY point.started DESC, point.run DESC LIMIT ?"""

EXPORT = """SELECT session.name, run.run_id, run.entry, run.started, run.git_commit, run.outcome, run.fingerprint,
    fingerprint.params, fingerprint.workload, fingerprint.machine, series.metric, series.unit, series.better,
    point.value
    FROM series JOIN point ON point.series = series.id JOIN run ON run.id = point.run
    JOIN session ON session.id = run.session JOIN fingerprint ON fingerprint.key = run.fingerprint
    ORDER BY series.id, point.started"""

COMPARISON = """SELECT series.entry, series.metric, series.fingerprint, series.unit, series.better,
    run.run_id, point.value
    FROM run JOIN point ON point.run = run.id JOIN series ON series.id = point.series
    WHERE run.session = (SELECT id FROM session WHERE name = ?)"""
