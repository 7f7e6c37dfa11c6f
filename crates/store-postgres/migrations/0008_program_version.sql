-- Version of the program, as a term; null where the process does not say it, and where an earlier version stored the query.
ALTER TABLE query ADD COLUMN program_version bigint;

-- Versions of the program of `origins`, each an i64; 0 for none. Empty where all are none, as in all copies so far. Null
-- in a copy an earlier version makes from now on, which does not know whether a query has one: it is not read.
ALTER TABLE segment ADD COLUMN program_versions bytea;
UPDATE segment SET program_versions = '' WHERE origins IS NOT NULL;

DROP TRIGGER segment_changed ON query;
CREATE TRIGGER segment_changed
AFTER UPDATE OF id, project, service, environment, host, label, fingerprint, rules, engine_version, program_version,
    status, started_unix_ns, wall_ms ON query
FOR EACH ROW WHEN (
    (OLD.id, OLD.project, OLD.service, OLD.environment, OLD.host, OLD.label, OLD.fingerprint, OLD.rules,
        OLD.engine_version, OLD.program_version, OLD.status, OLD.started_unix_ns, OLD.wall_ms) IS DISTINCT FROM
    (NEW.id, NEW.project, NEW.service, NEW.environment, NEW.host, NEW.label, NEW.fingerprint, NEW.rules,
        NEW.engine_version, NEW.program_version, NEW.status, NEW.started_unix_ns, NEW.wall_ms))
EXECUTE FUNCTION segment_of_row_changes();
