-- The newest change of every position.
CREATE TABLE position (
    id  TEXT    PRIMARY KEY,
    seq INTEGER NOT NULL REFERENCES change (seq)
) WITHOUT ROWID;

-- The names of natural persons that positions have. The log has only the seal, which
-- is the SHA-256 of salt and name in hex, so that a name can be erased together with
-- its salt.
CREATE TABLE sealed_name (
    sealed TEXT PRIMARY KEY,
    salt   BLOB NOT NULL,
    name   TEXT NOT NULL
) WITHOUT ROWID;
