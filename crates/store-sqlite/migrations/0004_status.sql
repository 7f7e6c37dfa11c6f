-- Lists of the queries that have not finished, which are few, by anything else too: what they are filtered by is
-- decided here, so that only the rows that are shown are read.
DROP INDEX query_by_status;
CREATE INDEX query_by_status ON query
    (status, started_unix_ns, id, label, fingerprint, service, environment, host, project) WHERE status <> 1;
