-- +goose Up
-- Nobody looks for allocations by these, which are in the document too.
ALTER TABLE allocations DROP COLUMN resource_class;
ALTER TABLE allocations DROP COLUMN owner;
