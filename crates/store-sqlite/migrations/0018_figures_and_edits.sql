-- Rows of the result, bytes spilled, peak memory and warnings, each an array of u16 as in `cpu`: one where all runs have the
-- same, none where of no run it is known. `cpu` and `bytes_read` are kept so, too. Copies without these are made anew.
DELETE FROM segment;
ALTER TABLE segment ADD COLUMN result_rows BLOB NOT NULL DEFAULT x'';
ALTER TABLE segment ADD COLUMN spilled_bytes BLOB NOT NULL DEFAULT x'';
ALTER TABLE segment ADD COLUMN peak_memory_bytes BLOB NOT NULL DEFAULT x'';
ALTER TABLE segment ADD COLUMN warnings BLOB NOT NULL DEFAULT x'';

DROP TRIGGER segment_changed;
CREATE TRIGGER segment_changed
AFTER UPDATE OF project, service, environment, host, label, fingerprint, rules, engine_version, program_version, status,
    started_unix_ns, wall_ms, cpu_ms, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings ON query
BEGIN
    DELETE FROM segment WHERE first = (SELECT max(first) FROM segment WHERE first <= old.id) AND last >= old.id;
END;

-- When the text of a note was edited last, and by whom; null where it never was, and where an earlier version edited it.
ALTER TABLE query_note ADD COLUMN edited_unix_ns INTEGER;
ALTER TABLE query_note ADD COLUMN edited_by TEXT;
