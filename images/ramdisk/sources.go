package ramdisk

import (
	"embed"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

//go:embed *.go
var sources embed.FS

// SourceHash identifies this version of the builder, for the cache keys of images that
// contain a ramdisk: SHA-256 in hex.
func SourceHash() (string, error) { return buildcache.HashSources(sources) }
