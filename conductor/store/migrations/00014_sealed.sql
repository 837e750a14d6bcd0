-- +goose Up
-- The secrets of a record, sealed by package seal; NULL for none. The document beside
-- them is without. Open moves the secrets of existing rows.
ALTER TABLE nodes ADD COLUMN sealed BLOB;
ALTER TABLE effects ADD COLUMN sealed BLOB;
ALTER TABLE deploy_templates ADD COLUMN sealed BLOB;
ALTER TABLE runbooks ADD COLUMN sealed BLOB;
ALTER TABLE volume_targets ADD COLUMN sealed BLOB;
ALTER TABLE inspection_rules ADD COLUMN sealed BLOB;

-- The keys that rows are sealed with, by their ids. done: every row is sealed with this
-- key, and the file holds nothing older.
CREATE TABLE sealing (
    key  TEXT    PRIMARY KEY,
    done INTEGER NOT NULL
);
