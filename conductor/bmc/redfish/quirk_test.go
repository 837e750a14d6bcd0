package redfish_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// patches gives a board a way of its own to take a change of Boot: a status of 400 and more
// refuses it, with a message.
func patches(b *board, take func(boot map[string]string) (status int, message string)) {
	b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		var q struct{ Boot map[string]string }
		_ = json.NewDecoder(r.Body).Decode(&q)
		b.mu.Lock()
		defer b.mu.Unlock()
		if code, message := take(q.Boot); code >= 400 {
			refuse(w, code, message, "no")
			return true
		}
		for key, value := range q.Boot {
			b.boot[key] = value
		}
		w.WriteHeader(http.StatusNoContent)
		return true
	}
}

// odd has, by quirk, a BMC that has it, and whether the driver gets along with that.
var odd = map[redfish.Quirk]struct {
	make func(b *board)
	try  func(t *testing.T, d *redfish.Driver, b *board, n node.Node) bool
}{
	redfish.FullBootRequest: {
		func(b *board) {
			patches(b, func(boot map[string]string) (int, string) {
				if len(boot) < 3 {
					return 400, "PropertyMissing"
				}
				return 0, ""
			})
		},
		func(t *testing.T, d *redfish.Driver, b *board, n node.Node) bool {
			device, mode := d.SetBootDevice(t.Context(), n, "pxe", false), d.SetBootMode(t.Context(), n, "bios")
			return device == nil && mode == nil && b.boot["BootSourceOverrideTarget"] == "Pxe" &&
				b.boot["BootSourceOverrideMode"] == "Legacy"
		},
	},
	redfish.VirtualCDIsUSB: {
		func(b *board) {},
		func(t *testing.T, d *redfish.Driver, b *board, n node.Node) bool {
			err := d.SetBootDevice(t.Context(), n, "cdrom", false)
			device, _, readErr := d.BootDevice(t.Context(), n)
			return err == nil && readErr == nil && b.boot["BootSourceOverrideTarget"] == "UsbCd" && device == "cdrom"
		},
	},
	redfish.VirtualCDIsAttribute: {
		func(b *board) {
			b.extra["/redfish/v1/Managers/1/Attributes"] = map[string]any{"Attributes": map[string]any{}}
		},
		func(t *testing.T, d *redfish.Driver, b *board, n node.Node) bool {
			err := d.SetBootDevice(t.Context(), n, "cdrom", false)
			at, _ := b.extra["/redfish/v1/Managers/1/Attributes"].(map[string]any)
			set, _ := at["Attributes"].(map[string]any)
			return err == nil && b.boot["BootSourceOverrideTarget"] != "Cd" &&
				set["ServerBoot.1.FirstBootDevice"] == "VCD-DVD" && set["ServerBoot.1.BootOnce"] == "Enabled"
		},
	},
}

// Each row of the table is needed: the BMC it is of is driven with it, and not without it.
func TestQuirkRows(t *testing.T) {
	rows := redfish.Quirks()
	for i, row := range rows {
		kind, ok := odd[row.Quirk]
		if !ok || row.Source == "" || row.Manufacturer != strings.ToLower(row.Manufacturer) {
			t.Errorf("row %d, %+v: it has no board here, no source, or patterns in capitals", i, row)
			continue
		}
		for _, c := range []struct {
			name  string
			model string
			rows  []redfish.QuirkRow
			want  bool
		}{
			{"with", "X1", rows, true},
			{"without", "X1", slices.Delete(slices.Clone(rows), i, i+1), false},
			{"excepted", strings.ToUpper(strings.TrimSuffix(row.Except, "*")), rows, false},
		} {
			if c.name == "excepted" && row.Except == "" {
				continue
			}
			b := newBoard(t)
			b.mu.Lock()
			b.extra = map[string]any{"Manufacturer": strings.ToUpper(strings.TrimSuffix(row.Manufacturer, "*")) + " ",
				"Model": c.model, "Links": map[string]any{"ManagedBy": []any{link("/redfish/v1/Managers/1")}},
				"/redfish/v1/Managers/1": map[string]any{"FirmwareVersion": oneOf(row.Firmware)}}
			b.mu.Unlock()
			b.offers("None", "Pxe", "Cd", "UsbCd", "Hdd")
			kind.make(b)
			if got := kind.try(t, newDriver(t, redfish.Options{Quirks: c.rows}), b, b.node()); got != c.want {
				t.Errorf("%s of %s, %s the row: driven is %t, %t is wanted", row.Quirk, row.Manufacturer, c.name, got, c.want)
			}
		}
	}
}

// oneOf is a text that a pattern without ranges but [3-5] matches.
func oneOf(pattern string) string {
	return strings.NewReplacer("[3-5]", "4", "*", "22.00.00").Replace(pattern)
}

// TestNewerIDRAC: Cd boots the virtual CD from firmware 6.00.00.00 on, and on iDRAC 10. An older iDRAC that takes no
// attribute is an error, rather than a success that boots the disk.
func TestNewerIDRAC(t *testing.T) {
	for _, c := range []struct{ model, firmware, target, fails string }{
		{"PowerEdge R740", "6.10.30.00", "Cd", ""}, {"PowerEdge R670", "1.20.25.00", "Cd", ""},
		{"PowerEdge R740", "3.15.15.15", "None", "update it to iDRAC firmware 6.00.00.00 or newer, or boot over the network"},
	} {
		b := newBoard(t)
		b.offers("None", "Pxe", "Cd", "Hdd")
		b.extra = map[string]any{"Manufacturer": "Dell Inc.", "Model": c.model,
			"Links":                  map[string]any{"ManagedBy": []any{link("/redfish/v1/Managers/1")}},
			"/redfish/v1/Managers/1": map[string]any{"FirmwareVersion": c.firmware}}
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			missing := strings.HasSuffix(r.URL.Path, "/Attributes")
			if missing {
				refuse(w, 404, "ResourceMissingAtURI", r.URL.Path)
			}
			return missing
		}
		err := newDriver(t, redfish.Options{}).SetBootDevice(t.Context(), b.node(), "cdrom", false)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) ||
			b.boot["BootSourceOverrideTarget"] != c.target {
			t.Errorf("%s, %s: %v, %v", c.model, c.firmware, err, b.boot)
		}
	}
}

// offers has the board list boot sources.
func (b *board) offers(sources ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sources = sources
}

// Machines without a row are sent no mode, which HPE refuses; a CD is UsbCd where that alone
// is offered.
func TestNoQuirk(t *testing.T) {
	b := newBoard(t)
	b.extra = map[string]any{"Manufacturer": "HPE", "Model": "ProLiant DL380 Gen10"}
	b.offers("Pxe", "UsbCd")
	patches(b, func(boot map[string]string) (int, string) {
		if boot["BootSourceOverrideMode"] != "" {
			return 400, "PropertyNotWritableOrUnknown"
		}
		return 0, ""
	})
	d := newDriver(t, redfish.Options{})
	for _, device := range []string{"pxe", "cdrom"} {
		if err := d.SetBootDevice(t.Context(), b.node(), device, true); err != nil {
			t.Errorf("%s: %v", device, err)
		}
	}
	if b.boot["BootSourceOverrideTarget"] != "UsbCd" {
		t.Errorf("the CD is %v", b.boot)
	}
}

// A system that names no manufacturer has its Manager's.
func TestQuirkOfManager(t *testing.T) {
	b := newBoard(t)
	b.extra = map[string]any{"Links": map[string]any{"ManagedBy": []any{link("/redfish/v1/Managers/1")}},
		"/redfish/v1/Managers/1": map[string]any{"Manufacturer": "AMI", "FirmwareVersion": "12.4"}}
	odd[redfish.FullBootRequest].make(b)
	d := newDriver(t, redfish.Options{Quirks: []redfish.QuirkRow{{Manufacturer: "ami", Firmware: "12.*",
		Quirk: redfish.FullBootRequest, Source: "a test"}}})
	if !odd[redfish.FullBootRequest].try(t, d, b, b.node()) {
		t.Error("the manager's manufacturer was not looked at")
	}
}

// A lasting boot device falls back to a device for the next boot, and to the device alone where an unchanged value is
// refused.
func TestBootDeviceFallsBack(t *testing.T) {
	for _, c := range []struct {
		name       string
		take       func(boot map[string]string) (int, string)
		want       string
		persistent bool
	}{
		{"Continuous is taken", func(map[string]string) (int, string) { return 0, "" }, "disk", true},
		{"Continuous is refused", func(boot map[string]string) (int, string) {
			if boot["BootSourceOverrideEnabled"] == "Continuous" {
				return 400, "PropertyValueNotInList"
			}
			return 0, ""
		}, "disk", false},
		{"Continuous is not made", func(boot map[string]string) (int, string) {
			if boot["BootSourceOverrideEnabled"] == "Continuous" {
				return 501, "NotImplemented"
			}
			return 0, ""
		}, "disk", false},
		{"all is refused", func(map[string]string) (int, string) { return 400, "UnsupportedOperation" }, "", false},
		{"the machine is in POST", func(boot map[string]string) (int, string) {
			if boot["BootSourceOverrideEnabled"] == "Once" {
				t.Error("Once was asked for")
			}
			return 400, "UnableToModifyDuringSystemPOST"
		}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBoard(t)
			patches(b, c.take)
			d := newDriver(t, redfish.Options{})
			err := d.SetBootDevice(t.Context(), b.node(), "disk", true)
			device, persistent, readErr := d.BootDevice(t.Context(), b.node())
			if (err == nil) != (c.want != "") || readErr != nil || device != c.want || persistent != c.persistent {
				t.Errorf("got %q, persistent %t, %v, %v", device, persistent, err, readErr)
			}
		})
	}
	b := newBoard(t)
	b.boot["BootSourceOverrideEnabled"] = "Once"
	patches(b, func(boot map[string]string) (int, string) {
		if boot["BootSourceOverrideEnabled"] == "Once" {
			return 400, "PropertyValueNotInList"
		}
		return 0, ""
	})
	if err := newDriver(t, redfish.Options{}).SetBootDevice(t.Context(), b.node(), "pxe", false); err != nil {
		t.Errorf("Once is so already: %v", err)
	}
}

// TestOverrideKept: an override that was answered 200 is read back, and set again with the boot mode. It is an error if
// the BMC does not keep it.
func TestOverrideKept(t *testing.T) {
	for name, c := range map[string]struct {
		take func(boot map[string]string) (int, string)
		mode string // the machine's before
		want string // in the error; "" for none
	}{
		"the target alone is kept": {func(boot map[string]string) (int, string) { // bmc-toolbox/bmclib#459
			delete(boot, "BootSourceOverrideEnabled")
			delete(boot, "BootSourceOverrideMode")
			return 0, ""
		}, "Legacy", "accepts the boot device Pxe with the boot mode Legacy and does not keep it: it shows Pxe, Disabled"},
		"kept with the mode alone": {func(boot map[string]string) (int, string) {
			if boot["BootSourceOverrideMode"] == "" {
				clear(boot)
			}
			return 0, ""
		}, "UEFI", ""},
		"the mode falls back always": {func(boot map[string]string) (int, string) {
			boot["BootSourceOverrideMode"] = "Legacy"
			return 0, ""
		}, "UEFI", "it shows Pxe, Once, boot mode Legacy"},
		"the mode falls back where it is not sent": {func(boot map[string]string) (int, string) {
			if boot["BootSourceOverrideMode"] == "" {
				boot["BootSourceOverrideMode"] = "Legacy"
			}
			return 0, ""
		}, "UEFI", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t)
			b.boot["BootSourceOverrideMode"] = c.mode
			patches(b, c.take)
			d := newDriver(t, redfish.Options{Pause: time.Millisecond})
			err := d.SetBootDevice(t.Context(), b.node(), "pxe", false)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if device, _, _ := d.BootDevice(t.Context(), b.node()); c.want == "" && (device != "pxe" ||
				b.boot["BootSourceOverrideMode"] != c.mode) {
				t.Errorf("the device is %q, the board has %v", device, b.boot)
			}
		})
	}
}

// TestOverrideShownLate: the BMC shows an accepted override only some time later, and gets one request.
func TestOverrideShownLate(t *testing.T) {
	b, asked := newBoard(t), 0
	patches(b, func(boot map[string]string) (int, string) {
		asked++
		late := map[string]string{}
		for key := range boot {
			late[key] = boot[key]
		}
		time.AfterFunc(30*time.Millisecond, func() {
			b.set(func() {
				for key := range late {
					b.boot[key] = late[key]
				}
			})
		})
		clear(boot)
		return 0, ""
	})
	err := newDriver(t, redfish.Options{Pause: 40 * time.Millisecond}).SetBootDevice(t.Context(), b.node(), "pxe", false)
	if err != nil || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

// TestNoBootMode: BootSourceOverrideMode is optional. The boot device does without it, and a mode that is refused is an
// ability that the BMC lacks.
func TestNoBootMode(t *testing.T) {
	b := newBoard(t)
	delete(b.boot, "BootSourceOverrideMode")
	b.extra = map[string]any{"Manufacturer": "Supermicro"}
	patches(b, func(boot map[string]string) (int, string) {
		if boot["BootSourceOverrideMode"] != "" {
			return 400, "PropertyUnknown"
		}
		return 0, ""
	})
	d := newDriver(t, redfish.Options{Pause: time.Millisecond})
	if err := d.SetBootDevice(t.Context(), b.node(), "pxe", false); err != nil {
		t.Errorf("the boot device: %v", err)
	}
	var lacks *node.Refusal
	if err := d.SetBootMode(t.Context(), b.node(), "uefi"); !errors.As(err, &lacks) || lacks.Kind != node.Lacking {
		t.Errorf("the boot mode: %v", err)
	}
}

// TestOverrideInSettings: AMI's BMCs refuse an override of the system, take it in /SD, and show it there alone until
// the machine starts (DMTF/Redfish-Tacklebox#144: ASRock WRX80).
func TestOverrideInSettings(t *testing.T) {
	const settings = "/redfish/v1/Systems/1/SD"
	b := newBoard(t)
	next := map[string]any{"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None",
		"BootSourceOverrideMode": "UEFI"}
	b.extra = map[string]any{"@Redfish.Settings": map[string]any{"SettingsObject": link(settings)},
		settings: map[string]any{"Boot": next}}
	patched := b.answer
	b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		switch {
		case r.Method != http.MethodPatch:
			return false
		case r.URL.Path != settings:
			refuse(w, 400, "OperationSupportedInFutureStateURI", "moved to FutureState URI")
		default:
			b.set(func() { patched(w, r) })
		}
		return true
	}
	d := newDriver(t, redfish.Options{Pause: time.Millisecond})
	err := d.SetBootDevice(t.Context(), b.node(), "pxe", false)
	if device, _, readErr := d.BootDevice(t.Context(), b.node()); err != nil || readErr != nil || device != "pxe" {
		t.Errorf("%v; %q is read back, %v", err, device, readErr)
	}
}

// TestOverrideRefused: iLO 6 refuses any override as an operation that it does not support: the error has its words,
// and is no reason to ask again (dsx-ai-factory/libredfish#76).
func TestOverrideRefused(t *testing.T) {
	b, asked := newBoard(t), 0
	patches(b, func(map[string]string) (int, string) { asked++; return 400, "UnsupportedOperation" })
	err := newDriver(t, redfish.Options{}).SetBootDevice(t.Context(), b.node(), "pxe", false)
	if err == nil || !strings.Contains(err.Error(), "the BMC answered 400") || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
