-- Rows of the result, bytes spilled, peak memory and warnings, each an array of u16 as in `cpu`: one where all runs have the
-- same, none where of no run it is known. `cpu` and `bytes_read` are kept so, too. Copies that are there, and those an
-- earlier version makes from now on, have none: they are not read, and made anew.
ALTER TABLE segment ADD COLUMN result_rows bytea, ADD COLUMN spilled_bytes bytea, ADD COLUMN peak_memory_bytes bytea,
    ADD COLUMN warnings bytea;

DROP TRIGGER segment_changed ON query;
CREATE TRIGGER segment_changed
AFTER UPDATE OF id, project, service, environment, host, label, fingerprint, rules, engine_version, program_version,
    status, started_unix_ns, wall_ms, cpu_ms, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings ON query
FOR EACH ROW WHEN (
    (OLD.id, OLD.project, OLD.service, OLD.environment, OLD.host, OLD.label, OLD.fingerprint, OLD.rules,
        OLD.engine_version, OLD.program_version, OLD.status, OLD.started_unix_ns, OLD.wall_ms, OLD.cpu_ms, OLD.result_rows,
        OLD.bytes_read, OLD.spilled_bytes, OLD.peak_memory_bytes, OLD.warnings)
        IS DISTINCT FROM
    (NEW.id, NEW.project, NEW.service, NEW.environment, NEW.host, NEW.label, NEW.fingerprint, NEW.rules,
        NEW.engine_version, NEW.program_version, NEW.status, NEW.started_unix_ns, NEW.wall_ms, NEW.cpu_ms, NEW.result_rows,
        NEW.bytes_read, NEW.spilled_bytes, NEW.peak_memory_bytes, NEW.warnings))
EXECUTE FUNCTION segment_of_row_changes();

-- When the text of a note was edited last, and by whom; null where it never was, and where an earlier version edited it.
ALTER TABLE query_note ADD COLUMN edited_unix_ns bigint;
ALTER TABLE query_note ADD COLUMN edited_by text;
