-- CPU time in nanoseconds: a u16, 0 for none, else one more than a number of 11 binary digits. Copies that are there, and
-- those an earlier version makes from now on, have none: they are not read, and made anew.
ALTER TABLE segment ADD COLUMN cpu bytea;

DROP TRIGGER segment_changed ON query;
CREATE TRIGGER segment_changed
AFTER UPDATE OF id, project, service, environment, host, label, fingerprint, rules, engine_version, program_version,
    status, started_unix_ns, wall_ms, cpu_ms ON query
FOR EACH ROW WHEN (
    (OLD.id, OLD.project, OLD.service, OLD.environment, OLD.host, OLD.label, OLD.fingerprint, OLD.rules,
        OLD.engine_version, OLD.program_version, OLD.status, OLD.started_unix_ns, OLD.wall_ms, OLD.cpu_ms)
        IS DISTINCT FROM
    (NEW.id, NEW.project, NEW.service, NEW.environment, NEW.host, NEW.label, NEW.fingerprint, NEW.rules,
        NEW.engine_version, NEW.program_version, NEW.status, NEW.started_unix_ns, NEW.wall_ms, NEW.cpu_ms))
EXECUTE FUNCTION segment_of_row_changes();
