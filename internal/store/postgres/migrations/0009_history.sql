-- Finds the changes of one report or issuer. Its order is that of bytes, whatever
-- language the database is set to: see relational.Base.ChangesOf. Appending waits
-- while the index is built, two or three seconds for a million changes.
CREATE INDEX change_subject ON change (subject COLLATE "C", seq);
