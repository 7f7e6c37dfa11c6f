-- Texts that repeat from query to query, stored once: names of projects, services, environments, hosts and
-- engines, labels, fingerprints, error texts, and rule lists (as JSON).
CREATE TABLE term (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

-- Engines that events have named, as terms.
CREATE TABLE engine (
    term INTEGER PRIMARY KEY
);

CREATE TABLE stream (
    id           INTEGER PRIMARY KEY,
    stream_id    BLOB NOT NULL UNIQUE,
    project      INTEGER NOT NULL,
    process_line TEXT NOT NULL
);

-- What has been seen of a stream, as disjoint ranges that do not touch.
CREATE TABLE seen (
    stream INTEGER NOT NULL,
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    PRIMARY KEY (stream, first)
) WITHOUT ROWID;

-- status: 0 running, 1 finished, 2 failed, 3 unfinished. known: 0 guess, 1 started, 2 finished.
-- sealed_day: UTC day (since 1970-01-01) under which the sealed recording lies, null where there is none.
CREATE TABLE query (
    id              INTEGER PRIMARY KEY,
    query_id        BLOB NOT NULL,
    stream          INTEGER NOT NULL,
    project         INTEGER NOT NULL,
    service         INTEGER,
    environment     INTEGER,
    host            INTEGER NOT NULL,
    engine          INTEGER,
    label           INTEGER,
    fingerprint     INTEGER,
    status          INTEGER NOT NULL,
    known           INTEGER NOT NULL,
    started_unix_ns INTEGER NOT NULL,
    wall_ms         REAL,
    cpu_ms          REAL,
    result_rows     INTEGER,
    failed          INTEGER,
    warnings        INTEGER NOT NULL,
    rules           INTEGER,
    sealed_day      INTEGER
);
CREATE UNIQUE INDEX query_by_id ON query (query_id);
CREATE INDEX query_by_start ON query (started_unix_ns);
CREATE INDEX query_by_label ON query (label, started_unix_ns);
CREATE INDEX query_by_fingerprint ON query (fingerprint, started_unix_ns);
CREATE INDEX query_by_host ON query (host, started_unix_ns);
CREATE INDEX query_by_service ON query (service, started_unix_ns);
CREATE INDEX query_by_environment ON query (environment, started_unix_ns);
CREATE INDEX query_by_project ON query (project, started_unix_ns);
-- Nearly all queries are finished: to list those the index by start serves as well.
CREATE INDEX query_by_status ON query (status, started_unix_ns) WHERE status <> 1;

CREATE INDEX query_by_error ON query (failed, started_unix_ns) WHERE failed IS NOT NULL;

CREATE TABLE running (
    query         INTEGER PRIMARY KEY,
    heard_unix_ms INTEGER NOT NULL
);

-- Events that are not in a sealed recording yet: one gzip member a query and batch.
CREATE TABLE chunk (
    id        INTEGER PRIMARY KEY,
    query     INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    gzip      BLOB NOT NULL
);
CREATE INDEX chunk_by_query ON chunk (query, first_seq);

CREATE TABLE token (
    name            TEXT PRIMARY KEY,
    project         TEXT NOT NULL,
    hash            BLOB NOT NULL UNIQUE,
    created_unix_ms INTEGER NOT NULL
) WITHOUT ROWID;
