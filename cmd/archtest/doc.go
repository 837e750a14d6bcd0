// Package archtest holds the rules of the layout: allowed imports, pure packages, the top-level folders, the names of
// files, and the words of comments. It has no code of its own. The rules are tables in its tests, and TestGenerated
// writes the pages ARCHITECTURE.md and docs/design/packages.md.
package archtest
