package host

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// importedHint is a hint of Ironic's that a host's document has, too, with the one
// operator it is compared by there.
type importedHint struct {
	key      string
	operator string
	set      func(*hostapi.RootDeviceHints, string)
}

// importedHints is all of them; size and rotational are no texts.
func importedHints() []importedHint {
	const equal, part = "s==", "<in>"
	return []importedHint{
		{"name", equal, func(h *hostapi.RootDeviceHints, v string) { h.DeviceName = v }},
		{"by_path", equal, func(h *hostapi.RootDeviceHints, v string) { h.DeviceName = v }},
		{"hctl", equal, func(h *hostapi.RootDeviceHints, v string) { h.HCTL = v }},
		{"serial", equal, func(h *hostapi.RootDeviceHints, v string) { h.SerialNumber = v }},
		{"wwn", equal, func(h *hostapi.RootDeviceHints, v string) { h.WWN = v }},
		{"wwn_with_extension", equal, func(h *hostapi.RootDeviceHints, v string) { h.WWNWithExtension = v }},
		{"wwn_vendor_extension", equal, func(h *hostapi.RootDeviceHints, v string) { h.WWNVendorExtension = v }},
		{"model", part, func(h *hostapi.RootDeviceHints, v string) { h.Model = v }},
		{"vendor", part, func(h *hostapi.RootDeviceHints, v string) { h.Vendor = v }},
	}
}

// rootDevice says the node's root device hints as a document does; nil for none.
// A hint that has no counterpart is refused: without it another disk could be meant.
func (i *importing) rootDevice() (*hostapi.RootDeviceHints, error) {
	hints, err := rootdevice.From(i.node.InstanceInfo, i.node.Properties)
	if err != nil || len(hints) == 0 {
		return nil, err
	}
	if err := hints.Validate(); err != nil {
		return nil, err
	}
	if hints["name"] != nil && hints["by_path"] != nil {
		return nil,
			fmt.Errorf("its root device hints name and by_path have one counterpart, spec.rootDeviceHints.deviceName: take " +
				"one of them away")
	}
	h := &hostapi.RootDeviceHints{}
	for _, key := range output.Sorted(hints) {
		if err := takeHint(h, key, hints[key]); err != nil {
			return nil, fmt.Errorf("its root device hint %s = %v has no counterpart in a host's document: %w; "+
				"change or remove it (ferrite node root-device NODE), then import again", key, hints[key], err)
		}
	}
	return h, nil
}

func takeHint(h *hostapi.RootDeviceHints, key string, value any) error {
	text := strings.TrimSpace(fmt.Sprint(value))
	switch key {
	case "size":
		return takeSize(h, text)
	case "rotational":
		turns := strings.ContainsAny(strings.ToLower(text[:1]), "ty1") || strings.EqualFold(text, "on")
		h.Rotational = &turns
		return nil
	}
	if plain, err := url.PathUnescape(text); err == nil { // Ironic keeps them quoted
		text = plain
	}
	for _, known := range importedHints() {
		if known.key != key {
			continue
		}
		operator, rest := "s==", text // without an operator
		for _, op := range []string{"<all-in>", "<in>", "<or>", "s==", "s!=", "s>=", "s<=", "s>", "s<", "==", "!=", ">=",
			"<=", "=", ">", "<"} {
			if after, has := strings.CutPrefix(text, op); has {
				operator, rest = op, strings.TrimSpace(after)
				break
			}
		}
		if operator != known.operator {
			return fmt.Errorf("it is compared by %s, and a document's by %s alone", operator, known.operator)
		}
		known.set(h, rest)
		return nil
	}
	return fmt.Errorf("there is no such field")
}

// takeSize reads a least size: a document knows no other.
func takeSize(h *hostapi.RootDeviceHints, text string) error {
	rest, least := strings.CutPrefix(text, ">=")
	if !least {
		rest, least = strings.CutPrefix(text, "=") // at least, for reasons of history
		least = least && !strings.HasPrefix(rest, "=")
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
	if !least || err != nil || n != math.Trunc(n) {
		return fmt.Errorf("a document has a least size alone, in whole gigabytes, as >= 100")
	}
	h.MinSizeGigabytes = int(n)
	return nil
}
