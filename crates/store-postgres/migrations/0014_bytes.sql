-- Bytes that a run read and spilled, and the most memory it used at a time; null where its sender does not say it, while it
-- runs, and where an earlier version stored the query.
ALTER TABLE query ADD COLUMN bytes_read bigint, ADD COLUMN spilled_bytes bigint, ADD COLUMN peak_memory_bytes bigint;

-- Bytes read, each a u16 as in `cpu`. Empty where of no run this is known, as in all copies so far. Null in a copy an
-- earlier version makes from now on, which does not know it: it is not read.
ALTER TABLE segment ADD COLUMN bytes_read bytea;
UPDATE segment SET bytes_read = '' WHERE origins IS NOT NULL;

DROP TRIGGER segment_changed ON query;
CREATE TRIGGER segment_changed
AFTER UPDATE OF id, project, service, environment, host, label, fingerprint, rules, engine_version, program_version,
    status, started_unix_ns, wall_ms, cpu_ms, bytes_read ON query
FOR EACH ROW WHEN (
    (OLD.id, OLD.project, OLD.service, OLD.environment, OLD.host, OLD.label, OLD.fingerprint, OLD.rules,
        OLD.engine_version, OLD.program_version, OLD.status, OLD.started_unix_ns, OLD.wall_ms, OLD.cpu_ms, OLD.bytes_read)
        IS DISTINCT FROM
    (NEW.id, NEW.project, NEW.service, NEW.environment, NEW.host, NEW.label, NEW.fingerprint, NEW.rules,
        NEW.engine_version, NEW.program_version, NEW.status, NEW.started_unix_ns, NEW.wall_ms, NEW.cpu_ms, NEW.bytes_read))
EXECUTE FUNCTION segment_of_row_changes();
