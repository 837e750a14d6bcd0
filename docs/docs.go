// Package docs holds the pages of this folder, for a program that prints them.
package docs

import "embed"

// Pages are all pages, by their path below docs.
//
//go:embed *.md */*.md
var Pages embed.FS
