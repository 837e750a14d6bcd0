package bmccheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
	redfishlab "github.com/ferrite-metal/ferrite/lab/redfish"
)

// noUpdate is the operation that the small BMC does not offer.
const noUpdate = "firmware update"

// TestSmall checks a BMC that has all, in each form that a tree may have.
func TestSmall(t *testing.T) {
	for name, path := range map[string]string{
		"a folder":         recordedtest.Folder(t, recordedtest.Small(), false),
		"its service root": recordedtest.Folder(t, recordedtest.Small(), true),
		"an archive":       recordedtest.Archive(t, recordedtest.Small()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, trees, err := Run(t.Context(), []string{path})
			if err != nil || trees != 1 || len(all) != len(doctor.Operations()) {
				t.Fatalf("%d results of %d trees: %v", len(all), trees, err)
			}
			for _, r := range all {
				if r.Verdict != doctor.Works && r.Operation != noUpdate {
					t.Errorf("%s: %s: %s", r.Operation, r.Verdict, r.Detail)
				}
			}
		})
	}
}

// TestVerdicts takes something from a BMC, and finds that out.
func TestVerdicts(t *testing.T) {
	const sys = "/redfish/v1/Systems/1"
	for name, tc := range map[string]struct {
		change            func(docs map[string]map[string]any)
		operation, reason string
		verdict           doctor.Verdict
	}{
		"no secure boot": {func(d map[string]map[string]any) { delete(d[sys], "SecureBoot") }, "secure boot",
			"does not report", doctor.NotOffered},
		"no console": {func(d map[string]map[string]any) { delete(d[sys], "SerialConsole") }, "serial console",
			"nor one by IPMI", doctor.NotOffered},
		"no cards": {func(d map[string]map[string]any) { delete(d[sys], "EthernetInterfaces") }, "inspect",
			"not reported: MAC addresses", doctor.Fails},
		"a disk that is not linked": {func(d map[string]map[string]any) { delete(d[sys], "Storage") }, "parts",
			"not reported: disks, which the tree has", doctor.Fails},
		"no disk": {func(d map[string]map[string]any) { delete(d, sys+"/Storage/0/Drives/0") }, "parts",
			"the tree has no disks",
			doctor.NotOffered},
		"temperatures that are not linked": {func(d map[string]map[string]any) {
			delete(d["/redfish/v1/Chassis/1"], "Thermal")
		},
			"sensors", "not reported: fans, temperatures, which the tree has", doctor.Fails},
		"no memory modules": {func(d map[string]map[string]any) { delete(d, sys+"/Memory/A1") }, "inspect", "", doctor.Works},
		"no reset": {func(d map[string]map[string]any) { delete(d[sys], "Actions") }, "power",
			"no machine", doctor.NotOffered},
		"a boot device once": {func(d map[string]map[string]any) {
			d[sys]["Boot"].(map[string]any)["BootSourceOverrideEnabled@Redfish.AllowableValues"] = []any{"Disabled", "Once"}
		}, "boot device", "PATCH /redfish/v1/Systems/1: 400", WorksAround},
		"a settings object with the boot order alone": {func(d map[string]map[string]any) {
			d[sys]["Boot"].(map[string]any)["BootSourceOverrideEnabled@Redfish.AllowableValues"] = []any{"Disabled", "Once"}
			d[sys]["@Redfish.Settings"] = map[string]any{"SettingsObject": map[string]any{"@odata.id": sys + "/Pending"}}
			d[sys+"/Pending"] = map[string]any{"@odata.id": sys + "/Pending",
				"Boot": map[string]any{"BootOrder": []any{"Boot0001"}}}
		}, "boot device", "PATCH /redfish/v1/Systems/1: 400", WorksAround},
		"no restart": {func(d map[string]map[string]any) {
			reset := d[sys]["Actions"].(map[string]any)["#ComputerSystem.Reset"].(map[string]any)
			reset["ResetType@Redfish.AllowableValues"] = []any{"On", "Off", "ForceOff"}
		}, "power", "", doctor.Works},
		"no list of resets": {func(d map[string]map[string]any) {
			reset := d[sys]["Actions"].(map[string]any)["#ComputerSystem.Reset"].(map[string]any)
			delete(reset, "ResetType@Redfish.AllowableValues")
			reset["@Redfish.ActionInfo"] = sys + "/ResetActionInfo"
		}, "power", "", doctor.Works},
		"drives of the system that are not there": {func(d map[string]map[string]any) {
			d[sys]["VirtualMedia"] = map[string]any{"@odata.id": sys + "/VirtualMedia"}
		}, "virtual media", "", doctor.Works},
		"remote media that are switched off": {func(d map[string]map[string]any) {
			const bmc = "/redfish/v1/Managers/1"
			d[bmc+"/VirtualMedia"]["Members"] = []any{}
			d[bmc]["Oem"] = map[string]any{"Ami": map[string]any{"VirtualMedia": map[string]any{"RMediaStatus": "Disabled"}}}
			d[bmc]["Actions"] = map[string]any{"Oem": map[string]any{"#AMIVirtualMedia.EnableRMedia": map[string]any{
				"target": bmc + "/Actions/Oem/AMIVirtualMedia.EnableRMedia"}}}
		}, "virtual media", "", doctor.Works},
		"no drives": {func(d map[string]map[string]any) { d["/redfish/v1/Managers/1/VirtualMedia"]["Members"] = []any{} },
			"virtual media", "no virtual drive is reported", doctor.NotOffered},
		"no registry": {func(d map[string]map[string]any) { delete(d, "/redfish/v1/Registries") },
			"BIOS settings", "", doctor.Works},
		"no member of it": {func(d map[string]map[string]any) { delete(d, "/redfish/v1/Registries/AnvilBios") },
			"BIOS settings", "", doctor.Works},
		"no settings object": {func(d map[string]map[string]any) { delete(d, sys+"/Bios/Settings") },
			"BIOS settings", "", doctor.Works},
		"a BIOS in two cases": {func(d map[string]map[string]any) { d["/redfish/v1/systems/1/bios"] = d[sys+"/Bios"] },
			"BIOS settings", "", doctor.Works},
		"a BIOS of no system": {func(d map[string]map[string]any) {
			d["/redfish/v1/Bios"], d[sys]["Bios"] = d[sys+"/Bios"], map[string]any{"@odata.id": "/redfish/v1/Bios"}
			delete(d, sys+"/Bios")
		}, "BIOS settings", "Turbo to Disabled", doctor.Fails},
		"a system that is gone": {func(d map[string]map[string]any) { delete(d, sys+"/Bios") }, "BIOS settings", "",
			doctor.NotOffered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs := recordedtest.Small()
			tc.change(docs)
			all, trees, err := Run(t.Context(), []string{recordedtest.Folder(t, docs, false)})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if r.Operation == tc.operation && (r.Verdict != tc.verdict || !strings.Contains(r.Detail, tc.reason)) {
					t.Errorf("%s: %s: %s, want %s: %s", r.Operation, r.Verdict, r.Detail, tc.verdict, tc.reason)
				}
			}
			var out strings.Builder
			if err := Print(&out, all, trees); err != nil || !strings.Contains(out.String(), "bmc-check: 1 trees, ") {
				t.Errorf("printed %q, %v", out.String(), err)
			}
			if Failed(all) != (tc.verdict == doctor.Fails) {
				t.Errorf("failed: %v", Failed(all))
			}
		})
	}
}

func TestNoTree(t *testing.T) {
	for want, path := range map[string]string{"no recorded tree": t.TempDir(), "no such file": "/nowhere"} {
		if _, _, err := Run(t.Context(), []string{path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestManyTrees: an unreadable tree, and a tree without a system, do not keep the others from being checked. Two trees
// of one name are distinguished.
func TestManyTrees(t *testing.T) {
	shelf := recordedtest.Small()
	shelf["/redfish/v1/Systems"]["Members"] = []any{}
	broken := filepath.Join(t.TempDir(), "broken.tar.gz")
	if err := os.WriteFile(broken, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, other := recordedtest.Folder(t, recordedtest.Small(), false), recordedtest.Folder(t, shelf, false)
	all, trees, err := Run(t.Context(), []string{broken, one, other})
	if err == nil || !strings.Contains(err.Error(), broken) || trees != 2 {
		t.Errorf("%d trees, %v", trees, err)
	}
	of := map[string]int{}
	for _, r := range all {
		of[r.Tree]++
		if r.Tree == other && (r.Verdict != doctor.NotOffered || !strings.Contains(r.Detail, "no computer system")) {
			t.Errorf("%+v", r)
		}
	}
	if len(of) != 2 || of[other] != len(doctor.Operations()) {
		t.Errorf("results of %v", of)
	}
}

// TestPersonalities: with the deviations of each vendor everything works, or works after a first refusal.
func TestPersonalities(t *testing.T) {
	t.Parallel()
	file := recordedtest.Archive(t, recordedtest.Small())
	around := 0
	var some []redfishlab.Personality // that have all deviations between them
	for _, name := range []string{"idrac10", "ilo6", "supermicro-x11", "xcc", "ami"} {
		p, err := redfishlab.FindPersonality(name)
		if err != nil {
			t.Fatal(err)
		}
		some = append(some, p)
	}
	all, _, err := Run(t.Context(), []string{file}, some...)
	if err != nil || len(all) != len(doctor.Operations())*len(some) {
		t.Fatalf("%d results: %v", len(all), err)
	}
	for _, r := range all {
		if r.Verdict == WorksAround {
			around++
		} else if r.Verdict != doctor.Works && r.Operation != noUpdate {
			t.Errorf("%s, %s: %s: %s", r.Tree, r.Operation, r.Verdict, r.Detail)
		}
	}
	if around < 10 {
		t.Errorf("%d operations met a refusal: the deviations are not in force", around)
	}
}

// TestModeRefusedAlong: where the maker wants the boot mode along with the device and its BMC refuses it, the device is
// set alone.
func TestModeRefusedAlong(t *testing.T) {
	t.Parallel()
	docs := recordedtest.Small()
	docs["/redfish/v1/Systems/1"]["Manufacturer"] = "AMI"
	p, err := redfishlab.FindPersonality("ilo5")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := Run(t.Context(), []string{recordedtest.Folder(t, docs, false)}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Operation == "boot device" && r.Verdict != WorksAround {
			t.Errorf("%s: %s", r.Verdict, r.Detail)
		}
	}
}

// TestPrintReasons: a reason that all operations of a tree share is printed once.
func TestPrintReasons(t *testing.T) {
	result := func(operation string, v doctor.Verdict, detail string) Result {
		return Result{"t", doctor.Finding{Operation: operation, Verdict: v, Detail: detail}}
	}
	const reason, none = "it is no machine", doctor.NotOffered
	for name, tc := range map[string]struct {
		all   []Result
		lines int
	}{
		"one reason":     {[]Result{result("power", none, reason), result("disks", none, reason)}, 1},
		"two reasons":    {[]Result{result("power", none, reason), result("disks", doctor.Fails, "404")}, 2},
		"one that works": {[]Result{result("power", doctor.Works, ""), result("disks", none, reason)}, 1},
		"all work":       {[]Result{result("power", doctor.Works, ""), result("disks", doctor.Works, "")}, 0},
	} {
		var out strings.Builder
		if explain(&out, tc.all); strings.Count(out.String(), "\n") != tc.lines {
			t.Errorf("%s: %q, want %d lines", name, &out, tc.lines)
		}
	}
}
