-- +goose Up
CREATE TABLE deploy_templates (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);

CREATE TABLE runbooks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);
