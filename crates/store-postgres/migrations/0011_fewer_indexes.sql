-- Lists by these are read from the columns in memory, which hold every query: each of these indexes cost an entry for
-- every query that is stored. Earlier versions find the same queries without them, by the index of the starts.
DROP INDEX query_by_project;
DROP INDEX query_by_environment;
DROP INDEX query_by_service;
DROP INDEX query_by_host;
DROP INDEX query_by_fingerprint;
