-- +goose Up
-- The few nodes whose console is enabled, for those who look for them again and again.
ALTER TABLE nodes ADD COLUMN console_enabled BOOLEAN NOT NULL DEFAULT false;
UPDATE nodes SET console_enabled = true WHERE CASE WHEN strpos(doc, '"console_enabled":true') > 0
    THEN (replace(doc, '\u0000', '\ufffd')::json ->> 'console_enabled')::boolean END;
CREATE INDEX nodes_console_enabled ON nodes (conductor_group, driver) WHERE console_enabled;
