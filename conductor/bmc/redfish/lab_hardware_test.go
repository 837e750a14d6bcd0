package redfish_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

var (
	_ engine.HardwareReporter = (*redfish.Driver)(nil)
	_ engine.Monitor          = (*redfish.Driver)(nil)
	_ engine.MediaLoader      = (*redfish.Driver)(nil)
)

func ptr[T any](v T) *T { return &v }

// The BMC's settings and firmware arrive whole, each setting with its entry in the registry.
func TestDriverReportsHardware(t *testing.T) {
	b := newBench(t)
	d, n := newDriver(t, redfish.Options{}), b.node(redfishtest.Password)
	got, err := d.ReportHardware(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	yes, no := ptr(true), ptr(false)
	onOff := []string{"Enabled", "Disabled"}
	want := []node.BIOSSetting{
		{Name: "AssetTag", Value: ptr(""), AttributeType: "String", MinLength: ptr(int64(0)), MaxLength: ptr(int64(32)),
			ReadOnly: no, ResetRequired: yes},
		{Name: "BootDelaySeconds", Value: ptr("0"), AttributeType: "Integer", LowerBound: ptr(int64(0)),
			UpperBound: ptr(int64(60)), ReadOnly: no, ResetRequired: yes},
		{Name: "LogicalProc", Value: ptr("Enabled"), AttributeType: "Enumeration", AllowableValues: onOff, ReadOnly: no,
			ResetRequired: yes},
		{Name: "ProcVirtualization", Value: ptr("Enabled"), AttributeType: "Enumeration", AllowableValues: onOff,
			ReadOnly: no, ResetRequired: yes},
		{Name: "QuietBoot", Value: ptr("True"), AttributeType: "Boolean", ReadOnly: no, ResetRequired: yes},
		{Name: "SriovGlobalEnable", Value: ptr("Disabled"), AttributeType: "Enumeration", AllowableValues: onOff,
			ReadOnly: no, ResetRequired: yes},
		{Name: "SystemFirmware", Value: ptr("Lab"), AttributeType: "String", MinLength: ptr(int64(0)),
			MaxLength: ptr(int64(32)), ReadOnly: yes, ResetRequired: yes},
	}
	if diff := cmp.Diff(want, got.BIOS); diff != "" {
		t.Errorf("BIOS settings (-want +got):\n%s", diff)
	}
	firmware := []node.FirmwareComponent{
		{Component: "bios", CurrentVersion: "OVMF"},
		{Component: "bmc", CurrentVersion: b.State().BMCVersion, Model: "Lab Controller"},
		{Component: "nic:52:54:00:77:00:01", CurrentVersion: adapterFirmware, Vendor: "QEMU",
			SerialNumber: "52:54:00:77:00:01"},
		{Component: "nic:52:54:00:77:00:02", CurrentVersion: adapterFirmware, Vendor: "QEMU",
			SerialNumber: "52:54:00:77:00:02"},
	}
	if diff := cmp.Diff(firmware, got.Firmware); diff != "" {
		t.Errorf("firmware (-want +got):\n%s", diff)
	}
	n.Interfaces = map[string]string{"bios": "no-bios", "firmware": "no-firmware"}
	if got, err := d.ReportHardware(t.Context(), n); err != nil || got.BIOS != nil || got.Firmware != nil {
		t.Errorf("a node without the interfaces: %+v, %v", got, err)
	}
}

// A step reports the settings and versions that it has changed.
func TestStepReports(t *testing.T) {
	s := newStage(t)
	report, err := s.do(t, "bios.apply_configuration", settings("BootDelaySeconds", "5"))
	if err != nil || report.HardwareReport == nil || report.HardwareReport.BIOS[1].Name != "BootDelaySeconds" ||
		*report.HardwareReport.BIOS[1].Value != "5" {
		t.Errorf("%+v, %v", report, err)
	}
	report, err = s.do(t, "firmware.update", updates("bios", redfishtest.Images(t)+"/BIOS-2.0"))
	if err != nil || report.HardwareReport == nil || report.HardwareReport.Firmware[0].CurrentVersion != "2.0" {
		t.Errorf("%+v, %v", report, err)
	}
	if report, err = s.do(t, "management.clear_job_queue", nil); err != nil || report.HardwareReport != nil {
		t.Errorf("a step that changes neither reports %+v, %v", report.HardwareReport, err)
	}
}

func TestDriverHealth(t *testing.T) {
	b := newBench(t)
	d := newDriver(t, redfish.Options{})
	control := httptest.NewServer(b.Control())
	defer control.Close()
	for _, health := range []string{"OK", "Warning", "Critical"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, control.URL+"/health",
			strings.NewReader(`{"health": "`+health+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		before := b.Counters().Requests
		v, err := d.Vitals(t.Context(), b.node(redfishtest.Password))
		if want := (node.Vitals{Power: node.PowerOff, Health: health}); err != nil || v != want {
			t.Errorf("%+v, %v; want %+v", v, err, want)
		}
		if n := b.Counters().Requests - before; health != "OK" && n != 1 {
			t.Errorf("%d requests for power and health, want one", n)
		}
	}
	if err := b.SetHealth("Ill"); err == nil {
		t.Error("a machine can be ill in ways Redfish has no word for")
	}
}

// A medium gets into the machine, another in its place, and out again. Its credentials are never shown.
func TestDriverMedia(t *testing.T) {
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "u" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("image of "+r.URL.Path))
	}))
	defer images.Close()
	b := newBench(t)
	d, n := newDriver(t, redfish.Options{}), b.node(redfishtest.Password)
	address := strings.Replace(images.URL, "http://", "http://u:secret@", 1)
	slots := func(want ...node.MediaSlot) {
		t.Helper()
		got, err := d.MediaSlots(t.Context(), n)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v; -want +got:\n%s", err, diff)
		}
	}
	slots(node.MediaSlot{Types: []string{"CD", "DVD"}})
	for _, name := range []string{"/a.iso", "/a.iso", "/b.iso"} {
		if err := d.AttachMedium(t.Context(), n, node.Medium{Device: "cdrom", Image: address + name}); err != nil {
			t.Fatal(err)
		}
		slots(node.MediaSlot{Types: []string{"CD", "DVD"}, Inserted: true, Image: ptr(images.URL + name)})
		if b.machine.Media() != "image of "+name {
			t.Errorf("the machine has %q", b.machine.Media())
		}
	}
	if err := d.DetachMedia(t.Context(), n, []string{"floppy", "disk"}); err != nil || b.machine.Media() == "" {
		t.Errorf("drives of other kinds: %v, the machine has %q", err, b.machine.Media())
	}
	for _, devices := range [][]string{{"cdrom"}, nil} {
		if err := d.DetachMedia(t.Context(), n, devices); err != nil || b.machine.Media() != "" {
			t.Errorf("%v, the machine has %q", err, b.machine.Media())
		}
	}
	slots(node.MediaSlot{Types: []string{"CD", "DVD"}})
	for device, want := range map[string]string{"disk": "the BMC has no USBStick for a disk", "cdrom": "http"} {
		err := d.AttachMedium(t.Context(), n, node.Medium{Device: device, Image: images.URL + "/closed.iso"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", device, err)
		}
	}
}
