-- Lists of the queries that have not finished, which are few, by anything else too: what they are filtered by is
-- decided in an index, so that only the rows that are shown are read. What a query ran has many values, of which most are
-- rare: those have an order of their own, for what has ended, so that a query that runs is in one of these alone.
-- All are made before the one they replace is dropped, which nobody can read beside.
CREATE INDEX query_by_state ON query
    (status, started_unix_ns, id, label, fingerprint, service, environment, host, project) WHERE status <> 1;
CREATE INDEX query_by_label_and_state ON query (label, status, started_unix_ns, id) WHERE status > 1;
CREATE INDEX query_by_fingerprint_and_state ON query (fingerprint, status, started_unix_ns, id) WHERE status > 1;
DROP INDEX query_by_status;
