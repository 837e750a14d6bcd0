-- +goose Up
-- What machines logged, of conductors that share the database; one that has it for itself has files. A text is in
-- pieces, each at a place in bytes from the beginning.
CREATE TABLE boot_logs (
    node_uuid TEXT COLLATE "C" NOT NULL CONSTRAINT "boot_logs.node_uuid" REFERENCES nodes (uuid) ON DELETE CASCADE,
    number    BIGINT NOT NULL,
    boot      TEXT COLLATE "C" NOT NULL,
    at        BIGINT NOT NULL,
    piece     BYTEA NOT NULL,
    CONSTRAINT "boot_logs.at" PRIMARY KEY (node_uuid, number, at)
);
