-- Lists of the queries that have not finished, which are few, by anything else too: what they are filtered by is
-- decided here, so that only the rows that are shown are read. Made before the one it replaces is dropped, which
-- nobody can read beside.
CREATE INDEX query_by_state ON query
    (status, started_unix_ns, id, label, fingerprint, service, environment, host, project) WHERE status <> 1;
DROP INDEX query_by_status;
