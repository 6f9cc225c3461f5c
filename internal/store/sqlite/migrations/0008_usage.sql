-- How often an owner used an operation on a day of Madrid, as YYYY-MM-DD.
CREATE TABLE use_count (
    owner     TEXT    NOT NULL,
    day       TEXT    NOT NULL,
    operation TEXT    NOT NULL,
    n         INTEGER NOT NULL,
    PRIMARY KEY (owner, day, operation)
) WITHOUT ROWID;

CREATE INDEX use_count_day ON use_count (day);
