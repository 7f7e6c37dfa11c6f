-- Issues: one for each query and kind. Project, service and label are terms; service is 0 for none. body: the issue as
-- JSON, what it is measured by included; the other columns are what lists filter and sort by.
CREATE TABLE issue (
    number              INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    project             INTEGER NOT NULL,
    service             INTEGER NOT NULL,
    label               INTEGER NOT NULL,
    kind                TEXT NOT NULL,
    state               TEXT NOT NULL,
    wall_ms_a_day       REAL NOT NULL,
    moved_unix_ns       INTEGER NOT NULL,
    muted_until_unix_ns INTEGER,
    body                TEXT NOT NULL,
    UNIQUE (label, project, service, kind)
);
CREATE INDEX issue_by_cost ON issue (wall_ms_a_day DESC, id);
CREATE INDEX issue_by_state ON issue (state, wall_ms_a_day DESC, id);
CREATE INDEX issue_by_mute ON issue (muted_until_unix_ns) WHERE muted_until_unix_ns IS NOT NULL;

-- Each move of an issue, numbered from 1. by_name and comment: what a person gave.
CREATE TABLE issue_transition (
    issue      INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    unix_ns    INTEGER NOT NULL,
    from_state TEXT,
    to_state   TEXT NOT NULL,
    actor      TEXT NOT NULL,
    by_name    TEXT,
    reason     TEXT NOT NULL,
    comment    TEXT,
    change     TEXT,
    PRIMARY KEY (issue, number)
) WITHOUT ROWID;

-- What people wrote to issues, numbered from 1.
CREATE TABLE issue_note (
    issue   INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    unix_ns INTEGER NOT NULL,
    by_name TEXT,
    text    TEXT NOT NULL,
    PRIMARY KEY (issue, number)
) WITHOUT ROWID;
