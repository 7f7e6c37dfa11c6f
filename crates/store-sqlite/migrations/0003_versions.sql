-- Version in the name of the sealed recording, where it has one: the 64 bits of the number, as a signed integer.
ALTER TABLE query ADD COLUMN sealed_version INTEGER;
