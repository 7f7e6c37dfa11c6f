-- Deploys that were posted, and versions that senders named (source). '' for no service,
-- environment, engine, commit and url.
-- unix_ns: as posted, or the first time a version was seen; last_unix_ns: the last.
CREATE TABLE deploy (
    id           TEXT PRIMARY KEY,
    project      TEXT NOT NULL,
    service      TEXT NOT NULL,
    environment  TEXT NOT NULL,
    source       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    engine       TEXT NOT NULL,
    version      TEXT NOT NULL,
    commit_id    TEXT NOT NULL,
    url          TEXT NOT NULL,
    unix_ns      INTEGER NOT NULL,
    last_unix_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX deploy_by_time ON deploy (unix_ns DESC, id);
CREATE INDEX deploy_by_service ON deploy (service, unix_ns DESC, id);
