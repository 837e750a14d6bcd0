-- +goose Up
-- Addresses that a machine found in use by another (DHCPDECLINE), and that nobody is offered until then.
CREATE TABLE declines (
    subnet   TEXT    COLLATE "C" NOT NULL,
    ip       TEXT    COLLATE "C" NOT NULL,
    mac      TEXT    COLLATE "C" NOT NULL,
    stranger BOOLEAN NOT NULL,
    until    BIGINT  NOT NULL,
    CONSTRAINT "declines.ip" PRIMARY KEY (subnet, ip)
);
