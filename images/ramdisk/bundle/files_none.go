//go:build !bundled

package bundle

import "embed"

// files is empty: this build has no programs with it.
var files embed.FS
