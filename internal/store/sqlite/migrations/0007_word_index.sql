-- The index of the words in documents, which takes the place of the table word. Only
-- the program can read it. A segment is the index of some documents: see package
-- document/index.
CREATE TABLE word_segment (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    state      INTEGER NOT NULL, -- 0: being written, 1: in use, 2: replaced
    token      INTEGER NOT NULL, -- random: see store.Segment
    newest     INTEGER,          -- the id of the newest segment that was merged into it; NULL: its own
    documents  INTEGER NOT NULL DEFAULT 0,
    changed_at INTEGER NOT NULL DEFAULT 0, -- of states 0 and 2
    head       BLOB    NOT NULL DEFAULT x''
);

CREATE INDEX word_segment_state ON word_segment (state, changed_at);

-- The blocks of segments: the segment's id times 2^24, and the block's number.
CREATE TABLE word_block (
    id   INTEGER PRIMARY KEY,
    body BLOB NOT NULL
);

DROP TABLE word;
ALTER TABLE document DROP COLUMN parts;

-- Texts that were stored before are indexed by a running program.
ALTER TABLE document ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX document_unindexed ON document (sha256) WHERE NOT indexed;

-- Since when no report has had the document; NULL: one has, or that is not known yet.
ALTER TABLE document ADD COLUMN unused_since INTEGER;
CREATE INDEX document_unused ON document (unused_since) WHERE unused_since IS NOT NULL;
