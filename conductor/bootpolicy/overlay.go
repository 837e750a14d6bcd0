package bootpolicy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/u-root/u-root/pkg/cpio"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// overlayAlignment is what an archive's length is a multiple of: the kernel looks for the
// next one at multiples of 4.
const overlayAlignment = 512

// overlay is the archive of a node's files for its ramdisk: its network_data. It is ""
// for a node without. It goes before the ramdisk, since only there its place is certain to be
// aligned.
func overlay(n node.Node) (string, error) {
	if len(n.NetworkData) == 0 {
		return "", nil
	}
	text, err := json.Marshal(n.NetworkData)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	w := cpio.Newc.Writer(&out)
	var records []cpio.Record
	file := strings.TrimPrefix(netconfig.Path, "/")
	for i, c := range file {
		if c == '/' {
			records = append(records, cpio.Directory(file[:i], 0o755))
		}
	}
	records = append(records, cpio.StaticFile(path.Clean(file), string(text), 0o444))
	if err := cpio.WriteRecords(w, records); err != nil {
		return "", fmt.Errorf("write the archive: %w", err)
	}
	if err := cpio.WriteTrailer(w); err != nil {
		return "", fmt.Errorf("write the archive: %w", err)
	}
	return out.String() + strings.Repeat("\x00", -out.Len()&(overlayAlignment-1)), nil
}
