-- +goose Up
-- The machine that no other node may hold, by its BMC and system: see node.MachineKey;
-- '' for none. The next migration fills it, which SQL cannot: addresses are written in
-- many ways.
ALTER TABLE nodes ADD COLUMN machine TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX nodes_machine ON nodes (machine) WHERE machine <> '';
