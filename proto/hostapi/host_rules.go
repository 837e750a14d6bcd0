package hostapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hostRule is one thing that must hold between the fields of a host.
type hostRule struct {
	name  string // for people, and for the tests: there is one for each
	check func(h *Host, add report)
}

// hostRules are the rules of Metal3's webhook, and further ones for mistakes that would fail later there.
func hostRules() []hostRule {
	return []hostRule{
		{"a host's name is no UUID, which nodes are found by", checkHostName},
		{"the address of the BMC is one that a driver takes", checkBMCAddress},
		{"drivers that cannot report the machine's addresses need its boot MAC", checkBootMAC},
		{"the BMC's driver can set up the secure boot and RAID of the host", checkDriver},
		{"a reference to a secret names one", checkReferences},
		{"an image has a URL that can be fetched, and a checksum unless none is needed", checkImage},
		{"a device is named in /dev or by path", checkDeviceName},
		{"volumes are of a controller or of the kernel", checkRAID},
		{"annotations say what they must", checkAnnotations},
		{"a machine that is never powered off is on", checkPower},
		{"a network card is named or has an address, and is there once", checkNetworkInterfaces},
	}
}

func checkHostName(h *Host, add report) {
	if uuidForm().MatchString(h.Name) {
		add(Problem{Path: "metadata.name", Value: h.Name, Reason: "a host's name cannot be a UUID"})
	}
}

func uuidForm() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
}

func checkBMCAddress(h *Host, add report) {
	if h.Spec.BMC.Address == "" {
		return
	}
	if _, err := bmcScheme(h.Spec.BMC.Address); err != nil {
		add(Problem{Path: "spec.bmc.address", Value: h.Spec.BMC.Address, Reason: err.Error()})
	}
	if u, err := url.Parse(h.Spec.BMC.Address); err == nil && u.User != nil {
		add(Problem{Path: "spec.bmc.address", Forbidden: true,
			Reason: "credentials belong into the secret that credentialsName names, not into the address"})
	}
}

func checkBootMAC(h *Host, add report) {
	if h.Spec.BMC.Address == "" || h.Spec.BootMACAddress != "" {
		return
	}
	s, err := bmcScheme(h.Spec.BMC.Address)
	if err == nil && (s.NeedsMAC || h.Uninspected()) {
		add(Problem{
			Path: "spec.bootMACAddress", Reason: "it is required for " + s.Name + ", and for hosts that are not inspected",
			Missing: true,
		})
	}
}

func checkDriver(h *Host, add report) {
	s, err := bmcScheme(h.Spec.BMC.Address)
	if h.Spec.BMC.Address == "" || err != nil {
		return
	}
	if h.Spec.BootMode == UEFISecureBoot && !s.SecureBoot {
		add(Problem{
			Path: "spec.bootMode", Value: string(h.Spec.BootMode), Reason: "a BMC of " + s.Name + " cannot set secure boot",
		})
	}
	if h.Spec.RAID != nil && len(h.Spec.RAID.HardwareRAIDVolumes) > 0 && !s.RAID {
		add(Problem{Path: "spec.raid.hardwareRAIDVolumes", Reason: "a BMC of " + s.Name + " cannot make volumes",
			Forbidden: true})
	}
}

// checkReferences leaves a secret of another namespace to its use, which refuses it: see Warnings.
func checkReferences(h *Host, add report) {
	for _, r := range []struct {
		name string
		ref  *SecretReference
	}{{"userData", h.Spec.UserData}, {"networkData", h.Spec.NetworkData}, {"metaData", h.Spec.MetaData}} {
		if r.ref != nil && r.ref.Name == "" {
			add(Problem{Path: "spec." + r.name + ".name", Reason: "the name of a Secret is required", Missing: true})
		}
	}
}

func checkImage(h *Host, add report) { checkImageAt("spec.image", h.Spec.Image, add) }

func checkImageAt(path string, i *Image, add report) {
	if i == nil || i.URL == "" { // the tags report that
		return
	}
	u, err := url.Parse(i.URL)
	named := err == nil && u.Scheme == "image" && u.Opaque != "" // image:NAME
	if err != nil || !named && (!slices.Contains([]string{"http", "https", "file", "oci"}, u.Scheme) ||
		u.Host == "" && u.Path == "") {
		add(Problem{Path: path + ".url", Value: i.URL,
			Reason: "expected a URL of http, https, file or oci, or image:NAME for an image of the conductor"})
		return
	}
	switch {
	case named: // the conductor knows its checksum
	case u.Scheme == "oci" && i.Checksum != "":
		add(Problem{Path: path + ".checksum", Reason: "images of a container registry bring their own", Forbidden: true})
	case u.Scheme == "oci", i.Format != nil && *i.Format == LiveISO:
	case i.Checksum == "":
		add(Problem{Path: path + ".checksum", Missing: true,
			Reason: "it is required for images that are written: its hexadecimal digits, or a URL of a file with them"})
	}
}

func checkDeviceName(h *Host, add report) {
	if hints := h.Spec.RootDeviceHints; hints != nil {
		checkDevice("spec.rootDeviceHints.deviceName", hints.DeviceName, add)
	}
	if h.Spec.RAID == nil {
		return
	}
	for i, v := range h.Spec.RAID.SoftwareRAIDVolumes {
		for j, d := range v.PhysicalDisks {
			checkDevice(fmt.Sprintf("spec.raid.softwareRAIDVolumes[%d].physicalDisks[%d].deviceName", i, j), d.DeviceName, add)
		}
	}
}

func checkDevice(path, name string, add report) {
	if name == "" {
		return
	}
	rest, dev := strings.CutPrefix(name, "/dev/")
	rest = strings.TrimPrefix(rest, "disk/by-path/")
	if !dev || rest == "" || strings.Contains(rest, "/") {
		add(Problem{
			Path: path, Value: name, Reason: "expected a name like /dev/sda or /dev/disk/by-path/pci-0000:00:1f.2-ata-1",
		})
	}
}

func checkRAID(h *Host, add report) {
	r := h.Spec.RAID
	if r == nil {
		return
	}
	if len(r.HardwareRAIDVolumes) > 0 && len(r.SoftwareRAIDVolumes) > 0 {
		add(Problem{Path: "spec.raid", Reason: "volumes are a controller's or the kernel's, not both", Forbidden: true})
	}
	for i, v := range r.HardwareRAIDVolumes {
		path := fmt.Sprintf("spec.raid.hardwareRAIDVolumes[%d].", i)
		if len(v.PhysicalDisks) > 0 && v.Controller == "" {
			add(Problem{Path: path + "controller", Reason: "it is required where physicalDisks are named", Missing: true})
		}
		if n := v.NumberOfPhysicalDisks; n != nil && len(v.PhysicalDisks) > 0 && *n != len(v.PhysicalDisks) {
			add(Problem{Path: path + "numberOfPhysicalDisks", Value: strconv.Itoa(*n),
				Reason: fmt.Sprintf("expected %d, as many as physicalDisks are named", len(v.PhysicalDisks))})
		}
	}
	checkRootVolume(h, r.SoftwareRAIDVolumes, add)
}

// checkRootVolume: the volume that is started from survives the loss of a disk.
func checkRootVolume(h *Host, volumes []SoftwareRAIDVolume, add report) {
	roots := 0
	for i, v := range volumes {
		if !v.RootVolume {
			continue
		}
		path := fmt.Sprintf("spec.raid.softwareRAIDVolumes[%d].", i)
		if roots++; roots > 1 {
			add(Problem{Path: path + "rootVolume", Reason: "there is one root volume at the most", Forbidden: true})
		}
		if v.Level != "1" {
			add(Problem{Path: path + "level", Value: v.Level, Reason: "expected 1 of the root volume"})
		}
	}
	if roots > 0 && h.Spec.RootDeviceHints != nil {
		add(Problem{Path: "spec.rootDeviceHints", Reason: "a root volume leaves nothing to choose", Forbidden: true})
	}
}

func checkAnnotations(h *Host, add report) {
	for _, name := range sortedKeys(h.Annotations) {
		value, path := h.Annotations[name], "metadata.annotations["+name+"]"
		var into any
		switch {
		case IsReboot(name):
			checkReboot(path, value, add)
			continue
		case name == AnnotationInspect && value != "" && value != InspectDisabled:
			add(Problem{Path: path, Value: value, Reason: `expected nothing or "disabled"`})
			continue
		case name == AnnotationStatus:
			into = &HostStatus{}
		case name == AnnotationHardware:
			into = &Hardware{}
			if value != "" && !h.Uninspected() {
				add(Problem{Path: path, Reason: "hardware is set only for a host whose inspection is disabled", Forbidden: true})
			}
		default:
			continue
		}
		if err := strictly(value, into); err != nil {
			add(Problem{Path: path, Value: value, Reason: "expected JSON: " + err.Error()})
		}
	}
}

func checkReboot(path, value string, add report) {
	r := Reboot{}
	if strictly(value, &r) != nil || !slices.Contains([]RebootMode{"", RebootHard, RebootSoft}, r.Mode) {
		add(Problem{
			Path: path, Value: value,
			Reason: `expected nothing, or JSON like {"mode": "hard", "force": true}; modes are hard and soft`,
		})
	}
}

// strictly reads JSON without unknown fields; nothing is well, too.
func strictly(text string, into any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func checkPower(h *Host, add report) {
	if h.Spec.DisablePowerOff && !h.Spec.Online {
		add(Problem{Path: "spec.online", Reason: "expected true of a host with disablePowerOff", Value: "false"})
	}
}

func checkNetworkInterfaces(h *Host, add report) {
	seen := map[string]bool{}
	for i, n := range h.Spec.NetworkInterfaces {
		path, key := fmt.Sprintf("spec.networkInterfaces[%d]", i), strings.ToLower(n.Name+n.MACAddress)
		switch {
		case key == "":
			add(Problem{Path: path, Reason: "a name or a macAddress is required", Missing: true})
		case n.Name != "" && n.MACAddress != "":
			add(Problem{Path: path, Reason: "a name and a macAddress exclude each other", Forbidden: true})
		case seen[key]:
			add(Problem{Path: path, Value: n.Name + n.MACAddress, Reason: "another entry names this card already"})
		}
		seen[key] = true
	}
}

// checkHostChange protects a machine's identity while something depends on it.
func checkHostChange(old, next *Host, add report) {
	state := old.Status.Provisioning.State
	if was, is := old.Spec.BMC.Address, next.Spec.BMC.Address; was != "" && was != is &&
		old.Status.OperationalStatus != StatusDetached &&
		!slices.Contains([]State{StateNone, StateUnmanaged, StateRegistering}, state) {
		add(Problem{Path: "spec.bmc.address", Value: is,
			Reason: fmt.Sprintf("it can be changed while a host is registering or detached; this one is %s, with %s",
				state, was)})
	}
	if was, is := old.Spec.BootMACAddress, next.Spec.BootMACAddress; was != "" && !strings.EqualFold(was, is) &&
		(is == "" || patterns()["mac"].MatchString(is)) { // any other value is refused for itself
		add(Problem{Path: "spec.bootMACAddress", Value: is, Reason: "it cannot be changed after the creation of the " +
			"host, and is " + was + ": delete the host and create it anew"})
	}
	free := slices.Contains([]State{StateNone, StateUnmanaged, StateRegistering, StateAvailable}, state.Canonical())
	if !old.Spec.ExternallyProvisioned && next.Spec.ExternallyProvisioned && !free {
		add(Problem{
			Path: "spec.externallyProvisioned", Value: "true",
			Reason: fmt.Sprintf("it can be set of an available host; this one is %s", state),
		})
	}
}
