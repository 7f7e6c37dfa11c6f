-- Deploys that were posted, and versions that senders named (source). '' for no service,
-- environment, engine, commit and url.
-- unix_ns: as posted, or the first time a version was seen; last_unix_ns: the last.
CREATE TABLE deploy (
    id           text COLLATE "C" PRIMARY KEY,
    project      text COLLATE "C" NOT NULL,
    service      text COLLATE "C" NOT NULL,
    environment  text COLLATE "C" NOT NULL,
    source       text NOT NULL,
    subject      text NOT NULL,
    engine       text COLLATE "C" NOT NULL,
    version      text COLLATE "C" NOT NULL,
    commit_id    text NOT NULL,
    url          text NOT NULL,
    unix_ns      bigint NOT NULL,
    last_unix_ns bigint NOT NULL
);
CREATE INDEX deploy_by_time ON deploy (unix_ns DESC, id);
CREATE INDEX deploy_by_service ON deploy (service, unix_ns DESC, id);
