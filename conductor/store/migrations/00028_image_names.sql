-- +goose Up
-- A name of an image is unique in its project, not among all: owner_name is the project and the name, "/name" for the
-- images of all. SQLite cannot take a UNIQUE away from a column: the table is made anew.
CREATE TABLE images_new (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid       TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    owner_name TEXT    NOT NULL UNIQUE,
    digest     TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    doc        TEXT    NOT NULL
);
INSERT INTO sqlite_sequence (name, seq) SELECT 'images_new', seq FROM sqlite_sequence WHERE name = 'images';
INSERT INTO images_new (id, uuid, name, owner_name, digest, revision, doc)
    SELECT id, uuid, name, coalesce(CASE WHEN json_valid(doc) THEN doc ->> '$.owner' END, '') || '/' || name,
        digest, revision, doc FROM images;
DROP TABLE images;
ALTER TABLE images_new RENAME TO images;
CREATE INDEX images_digest ON images (digest);
CREATE INDEX images_name ON images (name);
