-- What a later version may do while earlier ones go on: add what these neither read nor write.
ALTER TABLE query ADD COLUMN spill_files integer;
ALTER TABLE stream ADD COLUMN senders integer NOT NULL DEFAULT 1;
CREATE INDEX query_by_spill_files ON query (spill_files) WHERE spill_files IS NOT NULL;
CREATE TABLE spill (
    query bigint PRIMARY KEY,
    files integer NOT NULL
);
