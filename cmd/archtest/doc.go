// Package archtest holds the rules of the layout: who may import whom, which packages are pure, the top-level folders
// and the names of files. It has no code of its own. The rules are tables in its tests, and TestGenerated writes them
// into ARCHITECTURE.md and .golangci.yml.
package archtest
