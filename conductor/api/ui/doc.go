// Package ui serves the web interface, which is inside the program, at /ui/. It answers with files alone: the interface
// in the browser is a client of the API like any other, and is shown no more than its user may see.
//
// The sources are in web, and `make ui` builds them into built, compressed. A program that is built without that has a
// page in its place that says how to build it. conductor/api/ui imports nothing of ours.
package ui
