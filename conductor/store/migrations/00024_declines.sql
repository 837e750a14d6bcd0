-- +goose Up
-- Addresses that a machine found in use by another (DHCPDECLINE), and that nobody is offered until then.
CREATE TABLE declines (
    subnet   TEXT    NOT NULL,
    ip       TEXT    NOT NULL,
    mac      TEXT    NOT NULL,
    stranger INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    PRIMARY KEY (subnet, ip)
);
