-- Version of the program, as a term; null where the process does not say it, and where an earlier version stored the query.
ALTER TABLE query ADD COLUMN program_version INTEGER;

-- Versions of the program of `origins`, each an i64; 0 for none. Null where all are none.
ALTER TABLE segment ADD COLUMN program_versions BLOB;

DROP TRIGGER segment_changed;
CREATE TRIGGER segment_changed
AFTER UPDATE OF project, service, environment, host, label, fingerprint, rules, engine_version, program_version, status,
    started_unix_ns, wall_ms ON query
BEGIN
    DELETE FROM segment WHERE first = (SELECT max(first) FROM segment WHERE first <= old.id) AND last >= old.id;
END;
