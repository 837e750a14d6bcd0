package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// PCIAlias is a name for PCI devices. Their number becomes a capability of the node, by which Nova chooses nodes
// (Ironic's inspection hook pci-devices).
type PCIAlias struct {
	Vendor  string `json:"vendor_id"` // four hexadecimal digits
	Product string `json:"product_id"`
	Name    string `json:"name"`
}

var (
	pciID          = regexp.MustCompile(`^[0-9a-f]{4}$`)
	capabilityName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// ParsePCIAliases reads objects in the form of Ironic's [inspector]pci_device_alias. A map of a YAML file comes as the
// words KEY=VALUE.
func ParsePCIAliases(entries []string) (all []PCIAlias, err error) {
	for _, entry := range entries {
		raw := []byte(entry)
		if !strings.HasPrefix(strings.TrimSpace(entry), "{") {
			words := map[string]string{}
			for _, word := range strings.Fields(entry) {
				key, value, _ := strings.Cut(word, "=")
				words[key] = value
			}
			if raw, err = json.Marshal(words); err != nil {
				return nil, fmt.Errorf("%q: %w", entry, err)
			}
		}
		var a PCIAlias
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&a); err != nil || decoder.More() {
			return nil, fmt.Errorf(`%q: expected an object such as {"vendor_id": "10de", "product_id": "2331", "name": "h100"}`,
				entry)
		}
		a.Vendor, a.Product = strings.ToLower(a.Vendor), strings.ToLower(a.Product)
		switch {
		case !pciID.MatchString(a.Vendor) || !pciID.MatchString(a.Product):
			return nil, fmt.Errorf("%q: expected four hexadecimal digits for vendor_id and product_id", entry)
		case !capabilityName.MatchString(a.Name):
			return nil, fmt.Errorf("%q: the name becomes a capability: expected letters, digits, and any of _ . -", entry)
		case slices.ContainsFunc(all, func(o PCIAlias) bool { return o.Vendor == a.Vendor && o.Product == a.Product }):
			return nil, fmt.Errorf("%q: %s:%s has a name already", entry, a.Vendor, a.Product)
		}
		all = append(all, a)
	}
	return all, nil
}

// countPCI sets the capabilities of PCI aliases. A capability of devices that are gone is removed.
func (d *decision) countPCI(devices []agentapi.PCIDevice) {
	aliases := d.f.Settings.Inspection.PCIAliases
	if len(aliases) == 0 {
		return
	}
	if len(devices) == 0 {
		d.note("WARNING", "inspection brought no list of PCI devices, so the capabilities of PCI aliases stay: in band it "+
			"takes --kernel-append ipa-inspection-collectors=default,pci-devices")
		return
	}
	count := map[string]int{}
	for _, a := range aliases {
		for _, is := range devices {
			if strings.EqualFold(is.VendorID, a.Vendor) && strings.EqualFold(is.ProductID, a.Product) {
				count[a.Name]++
			}
		}
	}
	was := capabilityLine(d.n.Properties)
	caps := was
	for _, a := range aliases {
		if n := count[a.Name]; n > 0 {
			caps = node.SetCapability(caps, a.Name, strconv.Itoa(n))
		} else {
			caps = node.UnsetCapability(caps, a.Name)
		}
	}
	if caps != was {
		d.n.Properties["capabilities"] = caps
	}
}
