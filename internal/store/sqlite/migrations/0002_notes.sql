-- The counter of notes, as log_head is of the log.
CREATE TABLE note_head (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    revision INTEGER NOT NULL
);
INSERT INTO note_head (one, revision) VALUES (1, 0);

-- Texts that processes share. One that was taken away stays, empty, so that
-- readers learn of it.
CREATE TABLE note (
    name     TEXT    PRIMARY KEY,
    text     TEXT    NOT NULL,
    revision INTEGER NOT NULL
) WITHOUT ROWID;

CREATE UNIQUE INDEX note_revision ON note (revision);
