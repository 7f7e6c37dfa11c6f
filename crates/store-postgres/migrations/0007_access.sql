-- What a token is for, until when it is taken, and when it was used. Those there were are for sending.
ALTER TABLE token ADD COLUMN scope text NOT NULL DEFAULT 'ingest';
ALTER TABLE token ADD COLUMN expires_unix_ms bigint;
ALTER TABLE token ADD COLUMN used_unix_ms bigint;

-- Users. password: a hash with its parameters. project: the only one the user may read, none for all.
CREATE TABLE login_user (
    name            text COLLATE "C" PRIMARY KEY,
    role            text NOT NULL,
    project         text,
    password        text NOT NULL,
    created_unix_ms bigint NOT NULL
);

-- Sessions of users, which end with them. hash: of the id, which the browser alone has.
CREATE TABLE login_session (
    hash            bytea PRIMARY KEY,
    user_name       text COLLATE "C" NOT NULL REFERENCES login_user (name) ON DELETE CASCADE,
    created_unix_ms bigint NOT NULL,
    used_unix_ms    bigint NOT NULL
);
CREATE INDEX login_session_by_user ON login_session (user_name, used_unix_ms);
CREATE INDEX login_session_by_use ON login_session (used_unix_ms);

-- Who logged in, failed to, and changed who may do what. Numbers are used once.
CREATE TABLE access_log (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    unix_ms bigint NOT NULL,
    action  text NOT NULL,
    actor   text,
    subject text,
    address text
);
