// Package docs holds the pages of this folder, and their pictures, for a program that shows them.
package docs

import "embed"

// Pages are all pages and the files that they show, by their path below docs.
//
//go:embed *.md */*.md images monitoring
var Pages embed.FS
