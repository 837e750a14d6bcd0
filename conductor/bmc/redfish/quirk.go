package redfish

import (
	"path"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// Quirk is a BMC's departure from the standard, or from its usual reading, that its answers do not show.
type Quirk string

// The quirks that there are.
const (
	// FullBootRequest is a BMC that takes a boot override only whole: device, how long, and mode.
	FullBootRequest Quirk = "full-boot-request"
	// VirtualCDIsUSB is a BMC with a virtual CD under the boot source UsbCd; Cd is a real drive.
	VirtualCDIsUSB Quirk = "virtual-cd-is-usb"
	// VirtualCDIsAttribute is a BMC that boots a virtual CD only by an attribute of its own; Cd is a real drive.
	VirtualCDIsAttribute Quirk = "virtual-cd-is-attribute"
)

// QuirkRow names the machines that have a quirk. Patterns are for path.Match, in lower case, "" for any; the firmware
// is the Manager's.
type QuirkRow struct {
	Manufacturer, Model, Firmware string
	Except                        string // models that do not have it
	Quirk                         Quirk
	Source                        string
}

// Quirks is the table. Nothing belongs in it that an answer of the BMC shows: see
// Adaptations.
func Quirks() []QuirkRow {
	const (
		full    = "ironic redfish/management.py, VENDORS_REQUIRING_FULL_BOOT_REQUEST"
		usbDisc = "sushy resources/system/system.py: X11 and X12 show virtual media as a USB CD"
		idrac   = "community.general 3423; dell/iDRAC-Redfish-Scripting 90; ironic redfish/boot.py: from 6.00.00.00 on, Cd"
	)
	return []QuirkRow{
		{Manufacturer: "american megatrends*", Quirk: FullBootRequest, Source: full},
		{Manufacturer: "ami", Quirk: FullBootRequest, Source: full},
		{Manufacturer: "asrockrack*", Quirk: FullBootRequest, Source: full},
		{Manufacturer: "asrock rack*", Quirk: FullBootRequest, Source: full},
		{Manufacturer: "supermicro*", Except: "ars-111gl-nhr*", Quirk: VirtualCDIsUSB, Source: usbDisc},
		{Manufacturer: "super micro*", Except: "ars-111gl-nhr*", Quirk: VirtualCDIsUSB, Source: usbDisc},
		{Manufacturer: "dell*", Firmware: "[3-5].*", Quirk: VirtualCDIsAttribute, Source: idrac},
	}
}

// matches reports whether a row is of a machine.
func (q QuirkRow) matches(manufacturer, model, firmware string) bool {
	if q.Except != "" && fits(q.Except, model) {
		return false
	}
	return fits(q.Manufacturer, manufacturer) && fits(q.Model, model) && fits(q.Firmware, firmware)
}

func fits(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	ok, err := path.Match(pattern, strings.ReplaceAll(text, "/", "-"))
	return ok && err == nil
}

// QuirksOf lists the rows that apply to a machine; an unknown part is "".
func QuirksOf(rows []QuirkRow, manufacturer, model, firmware string) (all []QuirkRow) {
	for _, q := range rows {
		if q.matches(manufacturer, model, firmware) {
			all = append(all, q)
		}
	}
	return all
}

// quirks reports which quirks the machine has. Some systems name no manufacturer or model,
// and the Manager does; its firmware is read only where a row asks for it.
func (s *session) quirks(sys *schemas.ComputerSystem) (func(Quirk) bool, error) {
	manufacturer, model, firmware := label(sys.Manufacturer), label(sys.Model), ""
	wanted := slices.ContainsFunc(s.rows, func(q QuirkRow) bool {
		return q.Firmware != "" && fits(q.Manufacturer, manufacturer) && fits(q.Model, model)
	})
	if wanted || manufacturer == "" {
		m, err := s.managerOf(sys)
		if err != nil {
			return nil, err
		}
		if manufacturer == "" {
			manufacturer = label(m.Manufacturer)
		}
		firmware = label(m.FirmwareVersion)
	}
	rows := QuirksOf(s.rows, manufacturer, model, firmware)
	return func(q Quirk) bool {
		return slices.ContainsFunc(rows, func(r QuirkRow) bool { return r.Quirk == q })
	}, nil
}

// managerOf reads the BMC that manages the system. It returns a zero manager where the system names none, or where it
// cannot be read.
func (s *session) managerOf(sys *schemas.ComputerSystem) (m manager, err error) {
	var l systemLinks
	if err := s.reread(sys, &l); err != nil || len(l.Links.ManagedBy) == 0 {
		return m, nil
	}
	if _, err := s.get(l.Links.ManagedBy[0].Path, &m); err != nil {
		return manager{}, s.optional("the manager", err)
	}
	return m, nil
}
