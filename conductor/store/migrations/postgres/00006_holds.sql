-- +goose Up
-- A conductor whose database was restored from a backup acts on no machine until an operator resumes. One row or none.
CREATE TABLE holds (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    since  BIGINT NOT NULL,
    backup BIGINT NOT NULL
);
