-- +goose Up
-- Images that operators gave the conductor, by name. Their bytes are in folders of conductors.
CREATE TABLE images (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL UNIQUE,
    digest   TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);

CREATE INDEX images_digest ON images (digest);
