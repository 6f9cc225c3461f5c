-- The texts of documents, by the hash of their bytes. PutDocument locks
-- its row here first.
CREATE TABLE document (
    sha256 text COLLATE "C" PRIMARY KEY,
    bytes  bigint NOT NULL,
    head   text NOT NULL, -- JSON, but kept to the byte
    pages  text[] NOT NULL
);

-- The words of documents, a row for each part. They come folded, and are cast
-- to what they are: no dictionary, language or stop word has a say. Stems are
-- among them without a position, each with a ~ before it. They hardly shrink
-- when compressed, and are read often. Statistics of them are long to gather, and
-- nobody uses them: searches go by the index in any case.
CREATE TABLE document_part (
    sha256 text COLLATE "C",
    part   integer,
    words  tsvector NOT NULL,
    PRIMARY KEY (sha256, part)
);
ALTER TABLE document_part ALTER words SET STORAGE EXTERNAL, ALTER words SET STATISTICS 0;

CREATE INDEX document_part_words ON document_part USING gin (words);

-- The bytes of documents, where they are kept. They are compressed as they are.
CREATE TABLE original (
    sha256 text COLLATE "C" PRIMARY KEY,
    body   bytea NOT NULL
);
ALTER TABLE original ALTER body SET STORAGE EXTERNAL;

-- Which filing has which document: what the newest change of the filing says,
-- where it can be asked for from the other end. It may come before the document.
-- Append writes it, under the lock of log_head.
CREATE TABLE filed_document (
    report text PRIMARY KEY,
    sha256 text COLLATE "C" NOT NULL
);

CREATE INDEX filed_document_sha256 ON filed_document (sha256, report); -- searches need no more than it has
