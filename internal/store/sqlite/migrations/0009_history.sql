-- Finds the changes of one report or issuer, in order of seq, which SQLite adds to
-- every index.
CREATE INDEX change_subject ON change (subject);
