-- Which of the failed runs were cancelled: of each its place among the runs of the copy, an array of u16. Copies without it
-- are made anew.
DELETE FROM segment;
ALTER TABLE segment ADD COLUMN cancelled BLOB NOT NULL DEFAULT x'';
