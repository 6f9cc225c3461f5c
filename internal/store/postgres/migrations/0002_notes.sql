-- The newest revision of a note, one row. Writers of notes lock it before
-- anything else, as Append locks log_head, and for the same reason.
CREATE TABLE note_head (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    revision bigint NOT NULL
);
INSERT INTO note_head (revision) VALUES (0);

-- Texts that processes share. One that was taken away stays, empty, so that
-- readers learn of it. Names are compared by their bytes, whatever language
-- the database is set to.
CREATE TABLE note (
    name     text COLLATE "C" PRIMARY KEY,
    text     text NOT NULL,
    revision bigint NOT NULL
);

CREATE UNIQUE INDEX note_revision ON note (revision);
