-- Bytes that a run read and spilled, and the most memory it used at a time; null where its sender does not say it, while it
-- runs, and where an earlier version stored the query.
ALTER TABLE query ADD COLUMN bytes_read INTEGER;
ALTER TABLE query ADD COLUMN spilled_bytes INTEGER;
ALTER TABLE query ADD COLUMN peak_memory_bytes INTEGER;

-- Bytes read, each a u16 as in `cpu`. Null where of no run this is known, as in all copies so far.
ALTER TABLE segment ADD COLUMN bytes_read BLOB;

DROP TRIGGER segment_changed;
CREATE TRIGGER segment_changed
AFTER UPDATE OF project, service, environment, host, label, fingerprint, rules, engine_version, program_version, status,
    started_unix_ns, wall_ms, cpu_ms, bytes_read ON query
BEGIN
    DELETE FROM segment WHERE first = (SELECT max(first) FROM segment WHERE first <= old.id) AND last >= old.id;
END;
