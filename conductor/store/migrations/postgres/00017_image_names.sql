-- +goose Up
-- A name of an image is unique in its project, not among all: owner_name is the project and the name, "/name" for the
-- images of all.
ALTER TABLE images ADD COLUMN owner_name TEXT COLLATE "C";
UPDATE images SET owner_name = coalesce(CASE WHEN strpos(doc, '"owner":') > 0
    THEN replace(doc, '\u0000', '\ufffd')::json ->> 'owner' END, '') || '/' || name;
ALTER TABLE images ALTER COLUMN owner_name SET NOT NULL, DROP CONSTRAINT "images.name",
    ADD CONSTRAINT "images.owner_name" UNIQUE (owner_name);
CREATE INDEX images_name ON images (name);
