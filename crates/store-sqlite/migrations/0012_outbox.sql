-- Transitions of issues that somebody may have to be told of; written with the transition. done: 1 once deliveries were
-- made of it. body: the transition and its issue, as JSON.
CREATE TABLE notice (
    number     INTEGER PRIMARY KEY,
    issue      TEXT NOT NULL,
    transition INTEGER NOT NULL,
    unix_ns    INTEGER NOT NULL,
    done       INTEGER NOT NULL DEFAULT 0,
    body       TEXT NOT NULL,
    UNIQUE (issue, transition)
);
CREATE INDEX notice_by_done ON notice (done, number);
CREATE INDEX notice_by_time ON notice (unix_ns);

-- Messages to routes, and what became of them. key: what no other message of the route has. body: the message as JSON,
-- the same at each attempt.
CREATE TABLE delivery (
    number             INTEGER PRIMARY KEY,
    route              TEXT NOT NULL,
    key                TEXT NOT NULL,
    created_unix_ns    INTEGER NOT NULL,
    state              TEXT NOT NULL,
    attempts           INTEGER NOT NULL DEFAULT 0,
    due_unix_ns        INTEGER NOT NULL,
    ended_unix_ns      INTEGER,
    last_error         TEXT,
    last_error_unix_ns INTEGER,
    body               TEXT NOT NULL,
    UNIQUE (route, key)
);
CREATE INDEX delivery_by_wait ON delivery (route, due_unix_ns, number) WHERE state = 'waiting';
CREATE INDEX delivery_by_time ON delivery (created_unix_ns);
CREATE INDEX delivery_by_end ON delivery (ended_unix_ns) WHERE state <> 'waiting';
CREATE INDEX delivery_of_route ON delivery (route, number) WHERE state <> 'waiting';
