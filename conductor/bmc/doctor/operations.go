package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// notOffered is an operation that a BMC lacks by its own documents.
type notOffered struct{ reason string }

func (e notOffered) Error() string { return e.reason }

func lacks(format string, args ...any) (string, error) {
	return "", notOffered{fmt.Sprintf(format, args...)}
}

// operation is one thing that Ferrite wants of a BMC. look changes nothing; exercise, where there is one, changes
// something and puts it back.
type operation struct {
	name     string
	need     Need
	look     func(ctx context.Context, v *visit) (detail string, err error)
	exercise func(ctx context.Context, v *visit) (detail string, err error)
	quirk    []redfish.Quirk // those that are about it
}

// redfishOperations are in the order of a machine's life.
var redfishOperations = []operation{
	{name: "login", need: Must, look: login},
	{name: "inspect", need: Should, look: inspect},
	{name: "parts", need: May, look: parts},
	{name: "power", need: Must, look: power, exercise: exercisePower},
	{name: "boot device", need: Must, look: bootDevice, exercise: exerciseBootDevice,
		quirk: []redfish.Quirk{redfish.FullBootRequest, redfish.VirtualCDIsUSB, redfish.VirtualCDIsAttribute}},
	{name: "boot mode", need: Should, look: bootMode},
	{name: "health", need: Should, look: health},
	{name: "sensors", need: May, look: sensors},
	{name: "virtual media", need: May, look: virtualMedia, exercise: exerciseMedia,
		quirk: []redfish.Quirk{redfish.VirtualCDIsUSB, redfish.VirtualCDIsAttribute}},
	{name: "secure boot", need: May, look: secureBoot},
	{name: "BIOS settings", need: May, look: biosSettings},
	{name: "firmware list", need: May, look: firmwareList},
	{name: "firmware update", need: May, look: firmwareUpdate},
	{name: "indicators", need: May, look: indicators},
	{name: "serial console", need: May, look: serialConsole},
}

// Operations names the operations that Examine looks at behind Redfish, in their order.
func Operations() (names []string) {
	for _, op := range redfishOperations {
		names = append(names, op.name)
	}
	return names
}

func login(ctx context.Context, v *visit) (string, error) {
	offer, err := v.redfish.Offer(ctx, v.node)
	if err != nil {
		return "", err
	}
	v.offer = offer
	if v.basic() {
		return "by credentials with each request: no session is to be had", nil
	}
	return "by session", nil
}

func inspect(ctx context.Context, v *visit) (string, error) {
	s, err := v.driver.System(ctx, v.node)
	if err != nil {
		return "", err
	}
	v.system = s
	var has, missing []string
	for _, part := range []struct {
		name, text string
		there      bool
	}{
		{"maker", s.Manufacturer, s.Manufacturer != ""},
		{"UUID", "UUID", s.UUID != ""},
		{"memory", fmt.Sprintf("%d GiB", s.MemoryMB/1024), s.MemoryMB > 0},
		{"processors", fmt.Sprintf("%d CPUs", s.CPUs), s.CPUs > 0},
		{"architecture", s.Architecture, s.Architecture != ""},
		{"network cards", fmt.Sprintf("%d MAC addresses", len(s.MACs)), len(s.MACs) > 0},
	} {
		if part.there {
			has = append(has, part.text)
		} else {
			missing = append(missing, part.name)
		}
	}
	detail := strings.Join(has, ", ")
	if len(missing) > 0 {
		detail += "; not reported: " + strings.Join(missing, ", ")
	}
	return strings.TrimPrefix(detail, "; "), nil
}

// parts counts the machine's parts. Of all operations it takes the most requests.
func parts(ctx context.Context, v *visit) (string, error) {
	p, err := v.redfish.Parts(ctx, v.node)
	if err != nil {
		return "", err
	}
	v.note(p.Incomplete)
	var has, missing []string
	for _, kind := range []struct {
		name  string
		count int
	}{
		{"network ports", len(p.Cards)}, {"disks", len(p.Disks)}, {"memory modules", len(p.Memory)},
		{"PCI functions", len(p.PCI)},
	} {
		if kind.count == 0 {
			missing = append(missing, kind.name)
			continue
		}
		has = append(has, fmt.Sprintf("%s: %d", kind.name, kind.count))
	}
	if len(has) == 0 {
		return lacks("the BMC lists no parts: the agent will")
	}
	detail := strings.Join(has, ", ")
	if len(missing) > 0 {
		detail += "; not listed: " + strings.Join(missing, ", ")
	}
	return detail, nil
}

func power(ctx context.Context, v *visit) (string, error) {
	p, err := v.driver.PowerState(ctx, v.node)
	if err != nil {
		return "", err
	}
	detail := string(p)
	if resets := v.offer.Resets; len(resets) > 0 {
		detail += "; takes " + strings.Join(resets, ", ")
		if !slices.Contains(resets, "ForceOff") || !slices.Contains(resets, "On") {
			return lacks("%s: On and ForceOff are needed", detail)
		}
	}
	return detail, nil
}

func bootDevice(ctx context.Context, v *visit) (string, error) {
	device, persistent, err := v.driver.BootDevice(ctx, v.node)
	if err != nil {
		return "", err
	}
	detail := "no override is set"
	if device != "" {
		detail = device + " is set for one boot"
		if persistent {
			detail = device + " is set until further notice"
		}
	}
	devices, lasts := v.offer.BootDevices, v.offer.BootLasts
	if len(devices) > 0 {
		detail += "; takes " + strings.Join(devices, ", ")
		if !slices.Contains(devices, "Pxe") {
			return lacks("%s: Pxe is needed, unless the machine boots from virtual media", detail)
		}
	}
	if len(lasts) > 0 && !slices.Contains(lasts, "Continuous") {
		detail += "; for one boot only: it is set again before each start"
	}
	return detail, nil
}

func bootMode(ctx context.Context, v *visit) (string, error) {
	mode, err := v.driver.BootMode(ctx, v.node)
	if err != nil {
		return "", err
	}
	if mode == "" {
		return lacks("the BMC does not say which boot mode the machine has: the agent will")
	}
	if modes := v.offer.BootModes; len(modes) > 0 {
		mode += "; takes " + strings.Join(modes, ", ")
	}
	return mode, nil
}

func health(ctx context.Context, v *visit) (string, error) {
	vitals, err := v.redfish.Vitals(ctx, v.node)
	if err == nil && vitals.Health == "" {
		return lacks("the BMC does not report the machine's health")
	}
	return vitals.Health, err
}

func sensors(ctx context.Context, v *visit) (string, error) {
	r, err := v.driver.Sensors(ctx, v.node)
	if err != nil {
		return "", err
	}
	if len(r.Sensors) == 0 {
		return lacks("no sensor is reported")
	}
	v.note(r.Incomplete)
	detail := fmt.Sprintf("%d sensors, from %s", len(r.Sensors), cmp.Or(r.Source, "the health of parts"))
	for _, s := range r.Unwell("Critical") {
		detail += fmt.Sprintf("; %s %s is critical", s.Group, s.Name)
	}
	return detail, nil
}

func virtualMedia(ctx context.Context, v *visit) (string, error) {
	slots, err := v.redfish.MediaSlots(ctx, v.node)
	if err != nil {
		return "", err
	}
	if len(slots) == 0 {
		off, err := v.redfish.MediaSwitchedOff(ctx, v.node)
		if err == nil && !off {
			return lacks("no virtual drive is reported: a license may be missing, or remote media switched off on the BMC")
		}
		return "remote media are switched off: the driver switches them on when it inserts an image", err
	}
	var all []string
	cd := false
	for _, s := range slots {
		one := strings.Join(s.Types, "/")
		if s.Inserted {
			one += " (in use)"
		}
		cd = cd || slices.Contains(s.Types, "CD") || slices.Contains(s.Types, "DVD")
		all = append(all, one)
	}
	if !cd {
		return lacks("drives: %s; none is for a CD", strings.Join(all, ", "))
	}
	return "drives: " + strings.Join(all, ", "), nil
}

func secureBoot(ctx context.Context, v *visit) (string, error) {
	on, err := v.redfish.SecureBoot(ctx, v.node)
	switch {
	case err != nil:
		return "", err
	case on == nil:
		return lacks("the BMC does not report secure boot")
	case *on:
		return "on", nil
	}
	return "off", nil
}

func biosSettings(ctx context.Context, v *visit) (string, error) {
	r, err := v.report(ctx)
	if err != nil {
		return "", err
	}
	if len(r.BIOS) == 0 {
		return lacks("no BIOS settings are reported")
	}
	described := 0
	for _, s := range r.BIOS {
		if s.AttributeType != "" {
			described++
		}
	}
	detail := fmt.Sprintf("%d settings; the BMC says of %d which values they take", len(r.BIOS), described)
	if !v.offer.BIOSWritable {
		detail += "; the BMC has no settings object: changes are sent to the settings that it shows"
	}
	return detail, nil
}

func firmwareList(ctx context.Context, v *visit) (string, error) {
	r, err := v.report(ctx)
	if err != nil {
		return "", err
	}
	if len(r.Firmware) == 0 {
		return lacks("no firmware is reported")
	}
	var all []string
	for _, f := range r.Firmware[:min(len(r.Firmware), 3)] {
		all = append(all, f.Component+" "+f.CurrentVersion)
	}
	if more := len(r.Firmware) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", "), nil
}

func firmwareUpdate(_ context.Context, v *visit) (string, error) {
	if v.offer.Update == "" {
		return lacks("the BMC offers no SimpleUpdate")
	}
	return v.offer.Update, nil
}

func indicators(ctx context.Context, v *visit) (string, error) {
	all, err := v.redfish.Indicators(ctx, v.node)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return lacks("no indicator is reported")
	}
	return fmt.Sprintf("lights: %d", len(all)), nil
}

func serialConsole(ctx context.Context, v *visit) (string, error) {
	way, err := v.redfish.ConsoleWay(ctx, v.node)
	var none *redfish.NoConsoleError
	if errors.As(err, &none) {
		return lacks("%v", none)
	}
	return way, err
}

// verdictOf sorts an error. A refusal of the driver, for a thing that the BMC lacks, is no failure of the BMC.
func verdictOf(err error) (Verdict, string) {
	var lacking notOffered
	var refused *node.Refusal
	switch {
	case err == nil:
		return Works, ""
	case errors.As(err, &lacking):
		return NotOffered, lacking.reason
	case errors.As(err, &refused):
		return NotOffered, refused.Reason
	}
	return Fails, err.Error()
}
