package redfish

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// mediaTypes are Redfish's words for what eject_vmedia calls a boot device.
var mediaTypes = map[string]string{"cd": "CD", "dvd": "DVD", "usb": "USBStick", "floppy": "Floppy"}

func checkEject(args map[string]any) error {
	device, ok := args["boot_device"].(string)
	if args["boot_device"] == nil || ok && (device == "" || mediaTypes[strings.ToLower(device)] != "") {
		return nil
	}
	return node.Refuse(node.Invalid, "Boot device %v is not a valid value: it is one of cd, dvd, usb, floppy", args["boot_device"])
}

// ejectVendorMedia does eject_vmedia: it empties the drives of one kind, or
// all. An empty drive stays empty.
func ejectVendorMedia(s *session, args map[string]any) (any, error) {
	device, _ := args["boot_device"].(string)
	links, err := s.systemLinks()
	if err != nil {
		return nil, err
	}
	for _, path := range paths(links.Links.ManagedBy) {
		var m struct{ VirtualMedia reference }
		if _, err := s.get(path, &m); err != nil {
			return nil, err
		}
		drives, err := s.members(m.VirtualMedia.Path)
		if err != nil {
			return nil, err
		}
		for _, drive := range drives {
			if err := s.eject(drive, mediaTypes[strings.ToLower(device)]); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// eject empties one drive, if it takes media of a kind; "" for any. BMCs from
// before VirtualMedia v1.2 have no action for it, and take an empty Image.
func (s *session) eject(path, kind string) error {
	var drive struct {
		MediaTypes []string
		Inserted   bool
		Image      *string
		Actions    struct {
			Eject struct {
				Target string `json:"target"`
			} `json:"#VirtualMedia.EjectMedia"`
		}
	}
	if _, err := s.get(path, &drive); err != nil {
		return err
	}
	empty := !drive.Inserted && (drive.Image == nil || *drive.Image == "")
	if empty || kind != "" && !slices.Contains(drive.MediaTypes, kind) {
		return nil
	}
	if drive.Actions.Eject.Target == "" {
		return s.patch(path, map[string]any{"Image": nil, "Inserted": false})
	}
	_, err := s.ask(http.MethodPost, drive.Actions.Eject.Target, map[string]any{})
	return err
}
