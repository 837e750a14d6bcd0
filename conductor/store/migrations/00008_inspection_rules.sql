-- +goose Up
CREATE TABLE inspection_rules (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    phase    TEXT,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);
