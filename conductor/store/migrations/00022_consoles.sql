-- +goose Up
-- The few nodes whose console is enabled, for those who look for them again and again.
ALTER TABLE nodes ADD COLUMN console_enabled INTEGER NOT NULL DEFAULT 0;
UPDATE nodes SET console_enabled = 1 WHERE CASE WHEN json_valid(doc) THEN doc ->> '$.console_enabled' END;
CREATE INDEX nodes_console_enabled ON nodes (conductor_group, driver) WHERE console_enabled;
