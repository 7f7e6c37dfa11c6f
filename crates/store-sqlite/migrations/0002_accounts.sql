-- How many events have been stored of a query, without those `running` counts; null when a version stored it that
-- did not count.
ALTER TABLE query ADD COLUMN events INTEGER;

-- How many events have been stored of a query since its row was last written.
ALTER TABLE running ADD COLUMN events INTEGER NOT NULL DEFAULT 0;

-- How many events that have been seen of a stream are no query's: of none, or of one that was deleted. Null when a
-- version began the stream that did not count.
ALTER TABLE stream ADD COLUMN unkept INTEGER;

-- Events that a repair found to be lost, by query.
CREATE TABLE loss (
    query  INTEGER PRIMARY KEY,
    events INTEGER NOT NULL
);
