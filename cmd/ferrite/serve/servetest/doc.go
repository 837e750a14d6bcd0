// Package servetest runs `ferrite serve` inside a test, and calls it. It is for tests alone.
package servetest
