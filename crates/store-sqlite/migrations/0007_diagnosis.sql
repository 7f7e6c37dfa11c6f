-- Version of the engine, as a term; null where no profile says it, and where an earlier version stored the query.
ALTER TABLE query ADD COLUMN engine_version INTEGER;

-- Versions of the engine of `plans`, each an i64; 0 for none. Null where all are none.
ALTER TABLE segment ADD COLUMN engine_versions BLOB;

DROP TRIGGER segment_changed;
CREATE TRIGGER segment_changed
AFTER UPDATE OF project, service, environment, host, label, fingerprint, rules, engine_version, status, started_unix_ns,
    wall_ms ON query
BEGIN
    DELETE FROM segment WHERE first = (SELECT max(first) FROM segment WHERE first <= old.id) AND last >= old.id;
END;

-- Physical plans that evaluated runs point to, each once. runs: how many evaluated runs do.
CREATE TABLE run_plan (
    id          INTEGER PRIMARY KEY,
    fingerprint BLOB NOT NULL UNIQUE,
    runs        INTEGER NOT NULL DEFAULT 0,
    packed      BLOB NOT NULL
);
CREATE INDEX run_plan_unused ON run_plan (id) WHERE runs = 0;

-- The inbox: runs that have ended and wait for their evaluation. seq: number of the event that ended the run.
CREATE TABLE pending_run (
    query INTEGER PRIMARY KEY,
    seq   INTEGER NOT NULL
);

-- Queries of which runs were evaluated. Project, service and label are terms; service is 0 for none.
-- runs: how many rows of evaluated_run it has. saved: the state of its detector.
CREATE TABLE evaluated_query (
    id      INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    service INTEGER NOT NULL,
    label   INTEGER NOT NULL,
    runs    INTEGER NOT NULL,
    saved   BLOB NOT NULL,
    UNIQUE (project, service, label)
);

-- The last evaluated runs of a query lie together, by start. A run may outlive its row of query.
CREATE TABLE evaluated_run (
    query           INTEGER NOT NULL,
    started_unix_ns INTEGER NOT NULL,
    query_id        BLOB NOT NULL,
    plan            INTEGER NOT NULL,
    features        BLOB NOT NULL,
    PRIMARY KEY (query, started_unix_ns, query_id)
) WITHOUT ROWID;

-- Changes of queries. Names are terms; service, environment and host are 0 for none. body: the change as JSON.
CREATE TABLE query_change (
    id                TEXT PRIMARY KEY,
    project           INTEGER NOT NULL,
    service           INTEGER NOT NULL,
    label             INTEGER NOT NULL,
    environment       INTEGER NOT NULL,
    host              INTEGER NOT NULL,
    kind              TEXT NOT NULL,
    state             TEXT NOT NULL,
    since_unix_ns     INTEGER NOT NULL,
    confirmed_unix_ns INTEGER NOT NULL,
    recovered_unix_ns INTEGER,
    wall_ms_a_day     REAL NOT NULL,
    body              TEXT NOT NULL
);
CREATE INDEX query_change_by_cost ON query_change (wall_ms_a_day DESC, id);
CREATE INDEX query_change_by_state ON query_change (state, wall_ms_a_day DESC, id);
CREATE INDEX query_change_by_label ON query_change (label, wall_ms_a_day DESC, id);

-- One row. brought_forward: whether queries of an earlier format, which have no features, were all evaluated.
CREATE TABLE evaluation (
    brought_forward INTEGER NOT NULL
);
INSERT INTO evaluation SELECT NOT EXISTS (SELECT 1 FROM query);
