-- The hashes of the leaves of the Merkle tree over the log, 32 bytes each: one row
-- for each transaction that appended, with the seq of its last change. Hashes cannot
-- be compressed.
CREATE TABLE leaf (
    seq    bigint PRIMARY KEY,
    hashes bytea NOT NULL
);
ALTER TABLE leaf ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- Up to which seq there are hashes. It is behind the log while changes that an
-- older program appended are not hashed yet.
ALTER TABLE log_head ADD COLUMN leaves bigint NOT NULL DEFAULT 0;
