-- Recordings in packs: of a run whose recording is in one, the bytes before it and its own; `sealed_version` is then the
-- number of the pack. Null for a recording of its own, as all are so far.
ALTER TABLE query ADD COLUMN pack_offset bigint, ADD COLUMN pack_bytes bigint;

-- How many runs point to a pack. One of none is given up: none ever will.
CREATE TABLE pack (
    day bigint NOT NULL,
    number bigint NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (day, number)
);
