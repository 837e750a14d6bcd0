-- +goose Up
-- A conductor whose database was restored from a backup acts on no machine until an operator resumes. One row or none.
CREATE TABLE holds (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    since  INTEGER NOT NULL,
    backup INTEGER NOT NULL
);
