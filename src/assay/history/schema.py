"""The tables. All of it can be made anew from session folders, so a change of schema may be a rebuild; a column that
older rows have a true value for is added in place (`UPGRADES`), since the folders of old sessions may be pruned.

A series is one metric of one fingerprint. Its points lie together in one B-tree, in order of time, which makes a trend
one range scan; a run's points are found by the index on `run`. Bodies (whole records) stand apart, so that scans
over runs do not page through them.
"""

from __future__ import annotations

VERSION = 3

_TAGS = """CREATE TABLE tag (
    session INTEGER NOT NULL REFERENCES session (id),
    entry TEXT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (session, entry, tag)
) WITHOUT ROWID;
CREATE INDEX tag_by_word ON tag (tag, session)"""
"""What sessions (entry '') and entries are found by."""

TABLES = f"""
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    folder TEXT,
    started INTEGER NOT NULL,
    finished INTEGER,
    status TEXT NOT NULL,
    git_commit TEXT,
    git_branch TEXT,
    git_dirty INTEGER,
    machine TEXT NOT NULL,
    host TEXT NOT NULL,
    reason TEXT,
    planned INTEGER NOT NULL,
    environment TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'run'
);
CREATE INDEX session_by_start ON session (started);
CREATE INDEX session_by_commit ON session (git_commit, started);

{_TAGS};

CREATE TABLE fingerprint (
    key TEXT PRIMARY KEY,
    entry TEXT NOT NULL,
    params TEXT NOT NULL,
    workload TEXT NOT NULL,
    machine TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX fingerprint_by_entry ON fingerprint (entry);

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES session (id),
    entry TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    started INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    counts INTEGER NOT NULL,
    exec_time_s REAL NOT NULL,
    git_commit TEXT
);
CREATE INDEX run_by_session ON run (session, started);
CREATE INDEX run_by_fingerprint ON run (fingerprint, started);
CREATE INDEX run_by_entry ON run (entry, started);
CREATE INDEX run_by_start ON run (started);
CREATE INDEX run_by_outcome ON run (outcome, started);

CREATE TABLE body (
    run INTEGER PRIMARY KEY REFERENCES run (id),
    record BLOB NOT NULL
);

CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    entry TEXT NOT NULL,
    metric TEXT NOT NULL,
    unit TEXT,
    better TEXT,
    UNIQUE (fingerprint, metric)
);
CREATE INDEX series_by_entry ON series (entry, metric);

CREATE TABLE point (
    series INTEGER NOT NULL,
    started INTEGER NOT NULL,
    run INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (series, started, run)
) WITHOUT ROWID;
CREATE INDEX point_by_run ON point (run);
"""

UPGRADES = {
    1: """
ALTER TABLE session ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';
UPDATE session SET kind = 'rerun' WHERE reason LIKE 'rerun of %';
UPDATE session SET kind = 'import' WHERE reason LIKE 'imported from %'
""",
    2: _TAGS,
}
"""Statements that upgrade from the version that is the key to the next one."""
