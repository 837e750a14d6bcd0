-- +goose Up
CREATE TABLE erase_reports (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    of_node  TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);
CREATE INDEX erase_reports_of_node ON erase_reports (of_node);
