-- Notes that people write about queries. '' for no service. unix_ns: the moment a note is about.
CREATE TABLE query_note (
    id              text COLLATE "C" PRIMARY KEY,
    project         text COLLATE "C" NOT NULL,
    service         text COLLATE "C" NOT NULL,
    label           text COLLATE "C" NOT NULL,
    unix_ns         bigint NOT NULL,
    written_unix_ns bigint NOT NULL,
    by_name         text,
    text            text NOT NULL
);
CREATE INDEX query_note_by_query ON query_note (label, service, project);

-- Views that people share. search: the query of the page's address, '' for none.
CREATE TABLE shared_view (
    project text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    search  text NOT NULL,
    by_name text,
    unix_ns bigint NOT NULL,
    PRIMARY KEY (project, name)
);
