-- What a later version may do while earlier ones go on: add what these neither read nor write.
ALTER TABLE query ADD COLUMN spilled_bytes bigint;
ALTER TABLE stream ADD COLUMN senders integer NOT NULL DEFAULT 1;
CREATE INDEX query_by_spilled ON query (spilled_bytes) WHERE spilled_bytes IS NOT NULL;
CREATE TABLE spill (
    query bigint PRIMARY KEY,
    files integer NOT NULL
);
