-- The hashes of documents that are kept, or that a filing has. The number is for
-- the tables below, where the hash would make searches slow; it never changes.
CREATE TABLE document (
    number INTEGER PRIMARY KEY,
    sha256 TEXT    NOT NULL UNIQUE,
    parts  INTEGER NOT NULL DEFAULT 0 -- how many of its rows are in word
);

-- The texts of documents. They are apart since they are large.
CREATE TABLE document_text (
    document INTEGER PRIMARY KEY REFERENCES document (number),
    bytes    INTEGER NOT NULL,
    head     TEXT    NOT NULL,
    pages    TEXT    NOT NULL -- a JSON array
);

-- The words of documents, a row for each part: the document's number times 2^20,
-- and the part's. It is an index alone, of which nothing can be read back. Words
-- come folded; this tokenizer takes whatever is beyond ASCII for a letter, and
-- leaves it as it is. Stems stand behind the words, each with a ~ before it. What
-- was written is merged half as often as by default: everybody who writes waits
-- for it, and searches hardly feel it.
CREATE VIRTUAL TABLE word USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '~'", prefix = '2'
);
INSERT INTO word (word, rank) VALUES ('automerge', 8);

-- The bytes of documents, where they are kept.
CREATE TABLE original (
    number INTEGER PRIMARY KEY, -- of nothing else: long rows want a short key
    sha256 TEXT    NOT NULL UNIQUE,
    body   BLOB    NOT NULL
);

-- Which filing has which document: what the newest change of the filing says,
-- where it can be asked for from the other end. It may come before the text.
CREATE TABLE filed_document (
    report   TEXT    PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES document (number)
) WITHOUT ROWID;

CREATE INDEX filed_document_document ON filed_document (document);
