-- How often an owner used an operation on a day of Madrid, as YYYY-MM-DD.
CREATE TABLE use_count (
    owner     text COLLATE "C",
    day       text COLLATE "C",
    operation text COLLATE "C",
    n         bigint NOT NULL,
    PRIMARY KEY (owner, day, operation)
) WITH (fillfactor = 70); -- the rows of today change every few seconds, and stay on their pages

CREATE INDEX use_count_day ON use_count (day);
