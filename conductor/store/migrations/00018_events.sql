-- +goose Up
-- Changes as they were committed, for those who follow them. An id is never used twice: it is the
-- position of the event. They outlive the nodes that they tell of.
CREATE TABLE events (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    at              INTEGER NOT NULL,
    type            TEXT    NOT NULL,
    node_uuid       TEXT    NOT NULL,
    conductor_group TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    lessee          TEXT    NOT NULL,
    doc             TEXT    NOT NULL
);
-- One row: the name of this database, and the position up to which events are deleted.
CREATE TABLE event_log (
    id   TEXT    NOT NULL,
    gone INTEGER NOT NULL
);
INSERT INTO event_log VALUES (lower(hex(randomblob(16))), 0);
