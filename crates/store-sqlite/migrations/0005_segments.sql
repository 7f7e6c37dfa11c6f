-- Copies of stretches of `query`, column by column: what a start reads in place of rows. They say what the rows say:
-- a row that changes takes the copy of its stretch out in the same transaction, and a row that is new is none of a
-- stretch that has one. The arrays are of little-endian numbers.
CREATE TABLE segment (
    first           INTEGER PRIMARY KEY, -- rows with ids from here ...
    last            INTEGER NOT NULL,    -- ... to here, both included
    origins         BLOB NOT NULL,       -- where its queries ran: project, service, environment, host, each an i64; 0 for none
    plans           BLOB NOT NULL,       -- what its queries ran: label, fingerprint, rules, each an i64; 0 for none
    row             BLOB NOT NULL,       -- of each query its id less `first`, a u16
    origin          BLOB NOT NULL,       -- which of `origins`, a u16
    plan            BLOB NOT NULL,       -- which of `plans`, a u16
    status          BLOB NOT NULL,       -- a u8
    started_unix_ns BLOB NOT NULL,       -- an i64
    wall_ms         BLOB NOT NULL        -- an f64, NaN for none
);

CREATE TRIGGER segment_changed
AFTER UPDATE OF project, service, environment, host, label, fingerprint, rules, status, started_unix_ns, wall_ms ON query
BEGIN
    DELETE FROM segment WHERE first = (SELECT max(first) FROM segment WHERE first <= old.id) AND last >= old.id;
END;

CREATE TRIGGER segment_deleted AFTER DELETE ON query
BEGIN
    DELETE FROM segment WHERE first = (SELECT max(first) FROM segment WHERE first <= old.id) AND last >= old.id;
END;
