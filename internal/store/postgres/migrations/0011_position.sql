-- The newest change of every position.
CREATE TABLE position (
    id  text PRIMARY KEY,
    seq bigint NOT NULL
);

-- The names of natural persons that positions have. The log has only the seal, which
-- is the SHA-256 of salt and name in hex, so that a name can be erased together with
-- its salt.
CREATE TABLE sealed_name (
    sealed text COLLATE "C" PRIMARY KEY,
    salt   bytea NOT NULL,
    name   text NOT NULL
);
