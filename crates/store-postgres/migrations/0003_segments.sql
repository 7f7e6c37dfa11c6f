-- Copies of stretches of `query`, column by column: what a start reads in place of rows. They say what the rows say: a
-- transaction that puts in, changes or takes out a row takes the copy of its stretch out. The arrays are of
-- little-endian numbers.
-- mark: which attempt at a copy this is. Its arrays are null until it is made; it is taken out as one that is made.
CREATE TABLE segment (
    first           bigint NOT NULL,    -- rows with ids from here ...
    last            bigint PRIMARY KEY, -- ... to here, both included
    mark            uuid NOT NULL,
    marked          timestamptz NOT NULL DEFAULT now(),
    origins         bytea,              -- where its queries ran: project, service, environment, host, each an i64; 0 for none
    plans           bytea,              -- what its queries ran: label, fingerprint, rules, each an i64; 0 for none
    row             bytea,              -- of each query its id less `first`, a u16
    origin          bytea,              -- which of `origins`, a u16
    plan            bytea,              -- which of `plans`, a u16
    status          bytea,              -- a u8
    started_unix_ns bytea,              -- an i64
    wall_ms         bytea               -- an f64, NaN for none
);

-- Nearly all rows that are written are newer than every copy: by the index of the last rows, which a table this small
-- would be read without, that is one step. It is also they who write through a path of schemas of their own.
CREATE FUNCTION segments_of_rows_change() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM segment WHERE last >= (SELECT min(id) FROM changed)
        AND EXISTS (SELECT FROM changed WHERE id BETWEEN segment.first AND segment.last);
    RETURN NULL;
END $$;
CREATE FUNCTION segment_of_row_changes() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM segment WHERE last >= OLD.id AND first <= OLD.id;
    RETURN NULL;
END $$;

CREATE TRIGGER segment_inserted AFTER INSERT ON query
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION segments_of_rows_change();
CREATE TRIGGER segment_deleted AFTER DELETE ON query
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION segments_of_rows_change();
-- A recording that is made known, which is one statement a query, changes none of these.
CREATE TRIGGER segment_changed
AFTER UPDATE OF id, project, service, environment, host, label, fingerprint, rules, status, started_unix_ns, wall_ms ON query
FOR EACH ROW WHEN (
    (OLD.id, OLD.project, OLD.service, OLD.environment, OLD.host, OLD.label, OLD.fingerprint, OLD.rules, OLD.status,
        OLD.started_unix_ns, OLD.wall_ms) IS DISTINCT FROM
    (NEW.id, NEW.project, NEW.service, NEW.environment, NEW.host, NEW.label, NEW.fingerprint, NEW.rules, NEW.status,
        NEW.started_unix_ns, NEW.wall_ms))
EXECUTE FUNCTION segment_of_row_changes();
