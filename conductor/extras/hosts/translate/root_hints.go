package translate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// HintsWanted are the document's root device hints: nil where one of its RAID volumes is the root disk.
func (s Source) HintsWanted() *hostapi.RootDeviceHints {
	if raid := s.Host.Spec.RAID; raid != nil && hasRootVolume(raid) {
		return nil
	}
	if s.Host.Spec.RootDeviceHints != nil {
		hints := *s.Host.Spec.RootDeviceHints
		return &hints
	}
	hints := profiles[s.Host.Status.HardwareProfile]
	return &hints
}

// RootDevice writes hints as Ironic has them: operator and value.
func RootDevice(h *hostapi.RootDeviceHints) map[string]any {
	out := map[string]any{}
	if h == nil {
		return out
	}
	device := "name"
	if strings.HasPrefix(h.DeviceName, "/dev/disk/by-path/") {
		device = "by_path"
	}
	for _, hint := range []struct{ key, operator, value string }{
		{device, "s==", h.DeviceName},
		{"hctl", "s==", h.HCTL},
		{"model", "<in>", h.Model},
		{"vendor", "<in>", h.Vendor},
		{"serial", "s==", h.SerialNumber},
		{"wwn", "s==", h.WWN},
		{"wwn_with_extension", "s==", h.WWNWithExtension},
		{"wwn_vendor_extension", "s==", h.WWNVendorExtension},
	} {
		if hint.value != "" {
			out[hint.key] = hint.operator + " " + hint.value
		}
	}
	if h.MinSizeGigabytes > 0 {
		out["size"] = fmt.Sprintf(">= %d", h.MinSizeGigabytes)
	}
	if h.Rotational != nil {
		out["rotational"] = strconv.FormatBool(*h.Rotational)
	}
	return out
}
