package inventory

import (
	"context"
	"io/fs"
	"log/slog"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// Skipped is one item of a list that is set aside, and why: no item of a list fails the
// list, or the inspection.
type Skipped = agentapi.SkippedDisk

// noteSkipped names the items of each list that are set aside.
func (h Host) noteSkipped(ctx context.Context, lists map[string][]Skipped) {
	for kind, list := range lists {
		for _, s := range list {
			level := slog.LevelInfo
			if s.Reason == agentapi.NotHardware { // loops and the like, by the dozen
				level = slog.LevelDebug
			}
			h.Log.Log(ctx, level, "left out of the inventory", "kind", kind, "name", s.Name, "reason", s.Reason)
		}
	}
}

// withoutAddress are the interfaces that neither a lookup nor a port is made of. They stay
// in the inventory.
func withoutAddress(list []agentapi.Interface) (none []Skipped) {
	for _, i := range list {
		if placeholder.MAC(i.MACAddress) == "" {
			none = append(none, Skipped{Name: i.Name, Reason: "its address " + i.MACAddress + " is none of a network card"})
		}
	}
	return none
}

// damaged says where the SMBIOS table of the machine cannot be read any more.
func damaged(fsys fs.FS) []Skipped {
	if _, damage := smbios(fsys); damage != "" {
		return []Skipped{{Name: "the rest of the table", Reason: damage}}
	}
	return nil
}
