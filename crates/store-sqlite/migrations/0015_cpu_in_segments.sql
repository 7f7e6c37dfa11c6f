-- CPU time in nanoseconds: a u16, 0 for none, else one more than a number of 11 binary digits. Copies without it are made
-- anew.
DELETE FROM segment;
ALTER TABLE segment ADD COLUMN cpu BLOB NOT NULL DEFAULT x'';

DROP TRIGGER segment_changed;
CREATE TRIGGER segment_changed
AFTER UPDATE OF project, service, environment, host, label, fingerprint, rules, engine_version, program_version, status,
    started_unix_ns, wall_ms, cpu_ms ON query
BEGIN
    DELETE FROM segment WHERE first = (SELECT max(first) FROM segment WHERE first <= old.id) AND last >= old.id;
END;
