package agentapi

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// InspectedDisks is the key of a node's driver_internal_info with which a conductor sends the disks that the last
// inspection saw, a list of Disk. It is Ferrite's own, and other agents ignore it.
const InspectedDisks = "ferrite_inspected_disks"

// MaxInspectedDisks is far more than a machine has.
const MaxInspectedDisks = 4096

// madeOfDisks matches devices that software makes, and drives with removable media: an inspection by
// ironic-python-agent lists some of them as disks.
var madeOfDisks = regexp.MustCompile(`^/dev/(md|dm-|mapper/|loop|ram|zram|nbd|sr|fd)`)

// IsMachinePart reports whether a disk of an inventory is a part of the machine that stays in it.
func (d Disk) IsMachinePart() bool { return d.Size > 0 && !madeOfDisks.MatchString(d.Name) }

// ReadInspectedDisks reads InspectedDisks; nil where a conductor sends none.
func ReadInspectedDisks(internal map[string]any) ([]Disk, error) {
	value, ok := internal[InspectedDisks]
	if !ok || value == nil {
		return nil, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("driver_internal_info.%s: %w", InspectedDisks, err)
	}
	var disks []Disk
	if err := json.Unmarshal(raw, &disks); err != nil {
		return nil, fmt.Errorf("driver_internal_info.%s: expected a list of disks: %w", InspectedDisks, err)
	}
	if len(disks) > MaxInspectedDisks {
		return nil, fmt.Errorf("driver_internal_info.%s: it has %d disks, at most %d are compared", InspectedDisks,
			len(disks), MaxInspectedDisks)
	}
	return disks, nil
}

// MissingDisks are the disks that an inspection saw and that are not among those there are now. Names count for
// nothing, since every boot gives them anew. A disk is known by its WWN; where one side has none, by its serial; where
// it has neither, by its place; else by model and size, as many of which must be there as were seen.
func MissingDisks(inspected, now []Disk) (missing []Disk) {
	taken := make([]bool, len(now))
	for _, d := range inspected {
		if d.IsMachinePart() && !found(d, now, taken) {
			missing = append(missing, d)
		}
	}
	return missing
}

func found(d Disk, now []Disk, taken []bool) bool {
	for i, c := range now {
		switch {
		case d.WWN != "" && c.WWN != "":
			if d.WWN == c.WWN && d.WWNVendorExtension == c.WWNVendorExtension {
				return true // perhaps by another path
			}
		case taken[i] || d.Serial != c.Serial:
		case d.Serial == "" && d.ByPath != "" && c.ByPath != "" && d.ByPath != c.ByPath:
		case d.Serial != "" || d.Size == c.Size && d.Model == c.Model:
			taken[i] = true
			return true
		}
	}
	return false
}
