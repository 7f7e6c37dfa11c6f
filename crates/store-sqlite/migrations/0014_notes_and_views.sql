-- Notes that people write about queries. '' for no service. unix_ns: the moment a note is about.
CREATE TABLE query_note (
    id              TEXT NOT NULL UNIQUE,
    project         TEXT NOT NULL,
    service         TEXT NOT NULL,
    label           TEXT NOT NULL,
    unix_ns         INTEGER NOT NULL,
    written_unix_ns INTEGER NOT NULL,
    by_name         TEXT,
    text            TEXT NOT NULL
);
CREATE INDEX query_note_by_query ON query_note (label, service, project);

-- Views that people share. search: the query of the page's address, '' for none.
CREATE TABLE shared_view (
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    search  TEXT NOT NULL,
    by_name TEXT,
    unix_ns INTEGER NOT NULL,
    PRIMARY KEY (project, name)
) WITHOUT ROWID;
