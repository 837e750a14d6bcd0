-- +goose Up
-- How far those who have a place of their own have read the events.
CREATE TABLE event_readers (
    name     TEXT    PRIMARY KEY,
    position INTEGER NOT NULL
);
