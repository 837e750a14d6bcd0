-- +goose Up
-- The documents of hosts. Owners are UIDs with a space on either side of each.
CREATE TABLE objects (
    kind      TEXT    NOT NULL,
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    uid       TEXT    NOT NULL UNIQUE,
    revision  INTEGER NOT NULL,
    owners    TEXT    NOT NULL,
    doc       BLOB    NOT NULL,
    PRIMARY KEY (kind, namespace, name)
);
CREATE INDEX objects_owned ON objects (namespace, owners) WHERE owners <> '';
CREATE TABLE objects_revision (revision INTEGER NOT NULL);
INSERT INTO objects_revision VALUES (0);
