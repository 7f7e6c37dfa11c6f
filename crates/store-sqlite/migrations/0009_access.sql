-- What a token is for, until when it is taken, and when it was used. Those there were are for sending.
ALTER TABLE token ADD COLUMN scope TEXT NOT NULL DEFAULT 'ingest';
ALTER TABLE token ADD COLUMN expires_unix_ms INTEGER;
ALTER TABLE token ADD COLUMN used_unix_ms INTEGER;

-- Users. password: a hash with its parameters. project: the only one the user may read, none for all.
CREATE TABLE login_user (
    name            TEXT PRIMARY KEY,
    role            TEXT NOT NULL,
    project         TEXT,
    password        TEXT NOT NULL,
    created_unix_ms INTEGER NOT NULL
) WITHOUT ROWID;

-- Sessions of users. hash: of the id, which the browser alone has.
CREATE TABLE login_session (
    hash            BLOB PRIMARY KEY,
    user            TEXT NOT NULL,
    created_unix_ms INTEGER NOT NULL,
    used_unix_ms    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_session_by_user ON login_session (user, used_unix_ms);
CREATE INDEX login_session_by_use ON login_session (used_unix_ms);

-- Who logged in, failed to, and changed who may do what. Numbers are used once.
CREATE TABLE access_log (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    unix_ms INTEGER NOT NULL,
    action  TEXT NOT NULL,
    actor   TEXT,
    subject TEXT,
    address TEXT
);
