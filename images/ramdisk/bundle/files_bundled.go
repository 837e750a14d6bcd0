//go:build bundled

package bundle

import "embed"

// files are made by `make release`.
//
//go:embed files/*.zst
var files embed.FS
