// Package configdrive makes the config drives of nodes out of the forms in which operators give them.
package configdrive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/configdrive"
)

// building is held while a drive is made: one of 40 MiB takes 400 MiB in its forms on the way.
var building sync.Mutex

// Encoder is the conductor's maker of config drives.
type Encoder struct{}

// Encode passes on a URL or a drive that is made already (base64 of a gzipped
// ISO, checked), and makes one of an object with meta_data, user_data,
// network_data and vendor_data. A drive without a hostname gets the node's
// name.
func (Encoder) Encode(drive any, n node.Node) (string, error) {
	switch d := drive.(type) {
	case string:
		if strings.HasPrefix(d, "http://") || strings.HasPrefix(d, "https://") {
			return d, nil
		}
		building.Lock()
		defer building.Unlock()
		if configdrive.Packed(d) {
			return d, configdrive.Check(d)
		}
		image, err := configdrive.Decode(d) // ironic-python-agent takes gzip alone
		if err != nil {
			return "", err
		}
		return configdrive.Encode(image)
	case map[string]any:
		building.Lock()
		defer building.Unlock()
		return build(d, n)
	default:
		return "", fmt.Errorf("expected a string or an object, found %T", drive)
	}
}

func build(drive map[string]any, n node.Node) (string, error) {
	raw, err := json.Marshal(drive)
	if err != nil {
		return "", err
	}
	d, err := configdrive.Parse(raw)
	if err != nil {
		return "", err
	}
	d, err = d.WithDefaults(cmp.Or(n.InstanceUUID, n.UUID), n.Name)
	if err != nil {
		return "", err
	}
	iso, err := d.ISO()
	if err != nil {
		return "", err
	}
	return configdrive.Encode(iso)
}
