-- Which of the failed runs were cancelled: of each its place among the runs of the copy, an array of u16. Copies that are
-- there, and those an earlier version makes from now on, have none: they are not read, and made anew.
ALTER TABLE segment ADD COLUMN cancelled bytea;
