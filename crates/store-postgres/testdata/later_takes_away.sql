-- What a version after that may do once no program reads or writes it any more: take away. Stands for a column whose
-- loss the programs of format 1 would notice late or never.
ALTER TABLE stream DROP COLUMN senders;
