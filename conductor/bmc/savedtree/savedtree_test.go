package savedtree_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/bmc/savedtree"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/bmccheck"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// planted are values that belong to one machine, by the property that has them.
var planted = map[string]any{
	"SerialNumber": "CN7016AB12345", "SKU": "6XK2WN3", "AssetTag": "rack-7-slot-9", "HostName": "db-primary.corp.example",
	"UUID": "4c4c4544-0058-4b10-8032-b6c04f574e33", "MACAddress": "70:B5:E8:F0:52:DC", "UserName": "jdoe_admin",
	"Address": "10.44.7.19", "Gateway": "10.44.7.1", "IPv6Address": "fd12:3456::19",
	"EmailAddress": "ops-team@corp.example",
	"Password":     "hunter2hunter2", "X-Auth-Token": "tok_8f7e6d5c4b3a",
	"CertificateString":          "-----BEGIN CERTIFICATE-----MIIB",
	"AssociatedNetworkAddresses": []any{"70:B5:E8:F0:52:DD"}, "DurableName": "5000C500A1B2C3D4",
	"UefiDevicePath": "PciRoot(0x0)/Pci(0x1C,0x5)/MAC(70B5E8F052DE,0x1)",
	"Description":    "System of db-primary.corp.example, 70-b5-e8-f0-52-dc, CN7016AB12345",
}

// secrets are the texts that must not be in a saved tree.
func secrets() (all []string) {
	for _, v := range planted {
		if s, is := v.(string); is && !strings.Contains(s, " ") && !strings.HasPrefix(s, "Pci") {
			all = append(all, s)
		}
	}
	return append(all, "70:B5:E8:F0:52:DD", "70B5E8F052DE", "70-b5-e8-f0-52-dc", "db-primary")
}

const system = "/redfish/v1/Systems/1"

// saved is the small BMC with changes, read, redacted and written; its file, and all that is in it.
func saved(t *testing.T, change func(docs map[string]map[string]any)) (file, text string) {
	t.Helper()
	docs := recordedtest.Small()
	change(docs)
	web := recordedtest.Serve(t, docs, recorded.Config{})
	d := redfish.New(redfish.Options{})
	defer func() { _ = d.Close() }()
	var read savedtree.Tree
	if _, err := d.Walk(t.Context(), node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": web.URL,
		"redfish_system_id": system}}, read.Add); err != nil {
		t.Fatal(err)
	}
	clean, err := read.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "bmc.tar.gz")
	if err := clean.Save(file); err != nil {
		t.Fatal(err)
	}
	back, err := recorded.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	back.Any("/redfish/v1", func(path string, doc map[string]any) bool {
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Error(err)
		}
		all.WriteString(path + " " + string(raw) + "\n")
		return false
	})
	return file, all.String()
}

// TestNothingPlantedIsSaved looks for the planted texts in documents, names and links.
func TestNothingPlantedIsSaved(t *testing.T) {
	_, text := saved(t, func(d map[string]map[string]any) {
		for key, value := range planted {
			d[system][key] = value
		}
		d[system+"/EthernetInterfaces"]["Members"] = []any{
			map[string]any{"@odata.id": system + "/EthernetInterfaces/70B5E8F052DC"},
		}
		d[system+"/EthernetInterfaces/70B5E8F052DC"] = map[string]any{"Id": "70B5E8F052DC", "MACAddress": "70B5E8F052DC"}
		d["/redfish/v1/Managers/1"]["Oem"] = map[string]any{"Anvil": map[string]any{"Nested": []any{map[string]any{
			"Note": "asked for by jdoe_admin", "ManagerMacAddress": "70:b5:e8:f0:52:dc"}}}}
	})
	for _, secret := range append(secrets(), "70B5E8F052DC", "70:b5:e8:f0:52:dc") {
		if strings.Contains(text, secret) {
			at := strings.Index(text, secret)
			t.Errorf("%q is in it: ...%s...", secret, text[max(0, at-60):min(len(text), at+60)])
		}
	}
	for _, keep := range []string{`"FirmwareVersion":"1.0"`, `"Manufacturer":"Anvil"`, `"Model":"A1"`,
		`#ComputerSystem.v1_13_0`,
		`"CapacityBytes":256060514304`, `"BootSourceOverrideMode":"UEFI"`} {
		if !strings.Contains(text, keep) {
			t.Errorf("%s is not kept", keep)
		}
	}
	if !regexp.MustCompile(`"MACAddress":"[0-9A-F]{2}(:[0-9A-F]{2}){5}"`).MatchString(text) ||
		!regexp.MustCompile(`"UUID":"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`).MatchString(text) {
		t.Errorf("a replacement has another shape: %.2000s", text)
	}
}

// TestSavedReplays: the driver finds the same in the saved tree as in the BMC.
func TestSavedReplays(t *testing.T) {
	file, _ := saved(t, func(d map[string]map[string]any) { d[system]["SerialNumber"] = "CN7016AB12345" })
	all, trees, err := bmccheck.Run(t.Context(), []string{file})
	if err != nil || trees != 1 || len(all) == 0 {
		t.Fatalf("%d results of %d trees: %v", len(all), trees, err)
	}
	for _, r := range all {
		if r.Verdict != doctor.Works && r.Operation != "firmware update" {
			t.Errorf("%s: %s: %s", r.Operation, r.Verdict, r.Detail)
		}
	}
}

// TestCircle: links in a circle, to other hosts' paths, to logs and to nothing end the walk.
func TestCircle(t *testing.T) {
	_, text := saved(t, func(d map[string]map[string]any) {
		d[system]["Self"] = map[string]any{"@odata.id": system}
		d[system]["Up"] = map[string]any{"@odata.id": "/redfish/v1/Systems/1/../../../../etc"}
		d[system]["Gone"] = map[string]any{"@odata.id": system + "/Gone"}
		d[system]["Log"] = map[string]any{"@odata.id": system + "/LogServices/L/Entries"}
		d[system+"/LogServices/L/Entries"] = map[string]any{"Id": "Entries"}
		d[system+"/EthernetInterfaces"]["Members@odata.nextLink"] = system + "/EthernetInterfaces?$skip=1"
	})
	if strings.Contains(text, `"Id":"Entries"`) || strings.Count(text, system+" {") != 1 {
		t.Errorf("the log is in it, or the system is not there once: %.1000s", text)
	}
}

// TestFile: a file is written whole, for its owner, and never over another.
func TestFile(t *testing.T) {
	file, _ := saved(t, func(map[string]map[string]any) {})
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	var tree savedtree.Tree
	for want, path := range map[string]string{"is there already": file, "ends in .tar.gz": file + ".zip",
		"no such file": filepath.Join(t.TempDir(), "no", "x.tar.gz")} {
		if err := tree.Save(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".saved-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// FuzzRedacted: the copy of any document can be made and written, and the names that the document gives its machine are
// gone from it.
func FuzzRedacted(f *testing.F) {
	f.Add(
		[]byte(`{"MACAddress":"70:B5:E8:F0:52:DC","x":["70:B5:E8:F0:52:DC",{"SerialNumber":7}],"Password":[1,{"a":null}]}`))
	f.Add([]byte(`{"SerialNumber":"SerialNumber","HostName":"a@b.c 1.2.3.4"}`))
	f.Add([]byte(`{"HostName":"db-primary.corp.example","SerialNumber":"CN7016AB12345","UserName":"jdoe_admin",
		"Description":"CN7016AB12345 of jdoe_admin","Members":[{"@odata.id":"/redfish/v1/db-primary.corp.example"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var doc map[string]any
		if json.Unmarshal(b, &doc) != nil {
			return
		}
		var tree savedtree.Tree
		tree.Add("/redfish/v1", doc)
		clean, err := tree.Redacted()
		if err != nil || clean.Len() != 1 {
			t.Fatalf("%d documents, %v", clean.Len(), err)
		}
		var out strings.Builder
		if err := clean.Write(&out, "x"); err != nil {
			t.Error(err)
		}
		names := map[string]bool{}
		each("", doc, func(property, text string) {
			if ownName.MatchString(property) && longName.MatchString(text) && placeholder.Text(text) != "" {
				names[text] = true
			}
		})
		each("", clean.Documents()["/redfish/v1"], func(property, text string) {
			for name := range names {
				if strings.Contains(text, name) && property != "@odata.type" {
					t.Errorf("%s has the name %q of the machine: %q", property, name, text)
				}
			}
		})
	})
}

// Properties that name a machine, and names too long to be their own replacement by chance.
var (
	ownName  = regexp.MustCompile(`^(HostName|SerialNumber|UserName)$`)
	longName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]{8,}[A-Za-z0-9]$`)
)

// each visits all texts of a document, and the names of its properties. OData names its own.
func each(property string, v any, visit func(property, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if !strings.Contains(key, "@") {
				visit("the name of a property", key)
			}
			each(key, inner, visit)
		}
	case []any:
		for _, inner := range v {
			each(property, inner, visit)
		}
	case string:
		visit(property, v)
	}
}
