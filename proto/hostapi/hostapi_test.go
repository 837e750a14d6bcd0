package hostapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// read makes a host of its spec, and of annotations behind a bar.
func read(t *testing.T, text string) *hostapi.Host {
	t.Helper()
	spec, annotations, _ := strings.Cut(text, " | ")
	h := &hostapi.Host{
		TypeMeta:   hostapi.TypeMeta{Kind: hostapi.KindHost},
		ObjectMeta: hostapi.ObjectMeta{Name: "node-0", Namespace: "metal3"},
	}
	if err := json.Unmarshal([]byte(spec), &h.Spec); err != nil {
		t.Fatal(err)
	}
	if annotations != "" {
		if err := json.Unmarshal([]byte(annotations), &h.Annotations); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func texts(problems []hostapi.Problem) (all []string) {
	for _, p := range problems {
		all = append(all, p.String())
	}
	return all
}

// TestCheck: each fault is reported with its place; "" is a good host.
func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"online":true,"bmc":{"address":"redfish+https://10.0.0.1/redfish/v1/Systems/1","credentialsName":"c"},"bootMACAddress":"52:54:00:00:00:01"}`: "",
		`{"bmc":{"address":"ipmi://10.0.0.1:6230"}}`:                                                         "",
		`{"bmc":{"address":"10.0.0.1"}}`:                                                                     "",
		`{"bmc":{"address":"10.0.0.1:623"}}`:                                                                 "",
		`{"bmc":{"address":"fake://a"}}`:                                                                     "",
		`{"bmc":{"address":"redfish+ftp://10.0.0.1"}}`:                                                       `spec.bmc.address: "redfish+ftp://10.0.0.1": no driver`,
		`{"bmc":{"address":"redfish://"}}`:                                                                   `spec.bmc.address: "redfish://": expected a host`,
		`{"bmc":{"address":"redfish://u:p@10.0.0.1/"}}`:                                                      `spec.bmc.address: credentials belong`,
		`{"bmc":{"address":"libvirt://10.0.0.1"}}`:                                                           `spec.bootMACAddress: it is required`,
		`{"bmc":{"address":"ipmi://10.0.0.1"},"inspectionMode":"disabled"}`:                                  `spec.bootMACAddress: it is required`,
		`{"bmc":{"address":"ipmi://10.0.0.1"},"bootMode":"UEFISecureBoot"}`:                                  `spec.bootMode: "UEFISecureBoot": a BMC of ipmi`,
		`{"bmc":{"address":"ipmi://a"},"raid":{"hardwareRAIDVolumes":[{"level":"1"}]}}`:                      `spec.raid.hardwareRAIDVolumes: a BMC of ipmi`,
		`{"bootMACAddress":"52-54-00-00-00-01"}`:                                                             `spec.bootMACAddress: "52-54-00-00-00-01": expected a MAC`,
		`{"firmware":{"sriovEnabled":true}}`:                                                                 "",
		`{"userData":{"name":"a","namespace":"other"}}`:                                                      "", // refused at its use
		`{"networkData":{}}`:                                                                                 `spec.networkData.name: the name of a Secret`,
		`{"image":{"url":"http://h/i","checksum":"abc"}}`:                                                    "",
		`{"image":{"url":"http://h/i"}}`:                                                                     `spec.image.checksum: it is required`,
		`{"image":{"url":"http://h/i","format":"live-iso"}}`:                                                 "",
		`{"image":{"url":"oci://h/i"}}`:                                                                      "",
		`{"image":{"url":"oci://h/i","checksum":"abc"}}`:                                                     `spec.image.checksum: images of a container`,
		`{"image":{"url":"ftp://h/i","checksum":"abc"}}`:                                                     `spec.image.url: "ftp://h/i": expected a URL`,
		`{"image":{"url":"http://h/i","checksum":"a","checksumType":"crc"}}`:                                 `spec.image.checksumType: "crc": expected one of`,
		`{"image":{"url":"http://h/i","checksum":"a","format":"iso"}}`:                                       `spec.image.format: "iso": expected one of`,
		`{"rootDeviceHints":{"deviceName":"/dev/sda","minSizeGigabytes":-1}}`:                                `spec.rootDeviceHints.minSizeGigabytes: "-1": expected 0`,
		`{"rootDeviceHints":{"deviceName":"sda"}}`:                                                           `spec.rootDeviceHints.deviceName: "sda"`,
		`{"rootDeviceHints":{"deviceName":"/dev/disk/by-path/pci-1"}}`:                                       "",
		`{"raid":{"hardwareRAIDVolumes":[{"level":"3"}]}}`:                                                   `spec.raid.hardwareRAIDVolumes[0].level: "3"`,
		`{"raid":{"hardwareRAIDVolumes":[{"level":"1","physicalDisks":["a"]}]}}`:                             `spec.raid.hardwareRAIDVolumes[0].controller: it is required`,
		`{"raid":{"softwareRAIDVolumes":[{"level":"1"},{"level":"0"},{"level":"0"}]}}`:                       `spec.raid.softwareRAIDVolumes: "3": expected 2 at the most`,
		`{"raid":{"softwareRAIDVolumes":[{"level":"1","rootVolume":true}]},"rootDeviceHints":{"model":"m"}}`: `spec.rootDeviceHints: a root volume`,
		`{"raid":{"softwareRAIDVolumes":[{"level":"0","rootVolume":true}]}}`:                                 `spec.raid.softwareRAIDVolumes[0].level: "0": expected 1`,
		`{"raid":{"hardwareRAIDVolumes":[{"level":"1"}],"softwareRAIDVolumes":[{"level":"1"}]}}`:             `spec.raid: volumes are`,
		`{"customDeploy":{"method":""}}`:                                                                     `spec.customDeploy.method: it is required`,
		`{"disablePowerOff":true}`:                                                                           `spec.online: "false": expected true`,
		`{"networkInterfaces":[{"hostNetworkAttachment":{"name":"a"}}]}`:                                     `spec.networkInterfaces[0]: a name`,
		`{} | {"reboot.metal3.io":"","reboot.metal3.io/x":"{\"mode\":\"hard\"}"}`:                            "",
		`{} | {"reboot.metal3.io/x":"{\"mode\":\"hot\"}"}`:                                                   `metadata.annotations[reboot.metal3.io/x]: `,
		`{} | {"inspect.metal3.io":"please"}`:                                                                `metadata.annotations[inspect.metal3.io]: "please"`,
		`{} | {"inspect.metal3.io/hardwaredetails":"{}"}`:                                                    `metadata.annotations[inspect.metal3.io/hardwaredetails]: hardware is set`,
		`{} | {"baremetalhost.metal3.io/status":"{\"poweredOff\":true}"}`:                                    `metadata.annotations[baremetalhost.metal3.io/status]: `,
		`{} | {"a b":""}`: `metadata.annotations[a b]: "a b": expected letters`,
	} {
		got := texts(hostapi.Check(read(t, text)))
		switch {
		case want == "" && got != nil:
			t.Errorf("%s\n is refused: %v", text, got)
		case want != "" && (len(got) == 0 || !strings.HasPrefix(strings.Join(got, "\n"), want)):
			t.Errorf("%s\n got %v\nwant %s", text, got, want)
		}
	}
}

// TestMeta: documents are where their kind belongs, and names are names.
func TestMeta(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"Secret","metadata":{"name":"a","namespace":"b"}}`: "",
		`{"kind":"Secret","metadata":{"name":"a"}}`: "metadata.namespace: " +
			"a namespace is required",
		`{"kind":"Secret","metadata":{"namespace":"b"}}`:                                             "metadata.name: a name or",
		`{"kind":"Secret","metadata":{"name":"A","namespace":"b"}}`:                                  `metadata.name: "A": expected lower case`,
		`{"kind":"Secret","metadata":{"name":"a","namespace":"b"},"stringData":{"x":"******"}}`:      `stringData[x]: it is still ******`,
		`{"kind":"Secret","metadata":{"name":"a","namespace":"b"},"data":{"x":"KioqKioq"}}`:          `data[x]: it is still ******`,
		`{"kind":"Secret","metadata":{"name":"a","namespace":"b.c"}}`:                                `metadata.namespace: "b.c": expected lower case`,
		`{"kind":"Secret","metadata":{"name":"a","namespace":"b","labels":{"x":"y z"}}}`:             `metadata.labels[x]: "y z": expected letters`,
		`{"kind":"Secret","metadata":{"name":"a","namespace":"b","ownerReferences":[{"kind":"x"}]}}`: `metadata.ownerReferences[0].apiVersion: it is required`,
		`{"kind":"Secret","metadata":{"name":"` + strings.Repeat("a", 254) + `","namespace":"b"}}`:   `metadata.name: "aaa`,
	} {
		s := &hostapi.Secret{}
		if err := json.Unmarshal([]byte(text), s); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(texts(hostapi.Check(s)), "\n")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestCheckChange: a machine's identity stays.
func TestCheckChange(t *testing.T) {
	old := read(t, `{"bmc":{"address":"redfish://a"},"bootMACAddress":"52:54:00:00:00:01"}`)
	for text, want := range map[string]string{
		`{"bmc":{"address":"redfish://a"},"bootMACAddress":"52:54:00:00:00:01","online":true}`:                ``,
		`{"bmc":{"address":"redfish://b"},"bootMACAddress":"52:54:00:00:00:01"}`:                              `spec.bmc.address: "redfish://b": it can be changed while`,
		`{"bmc":{"address":"redfish://a"},"bootMACAddress":"52:54:00:00:00:02"}`:                              `spec.bootMACAddress: "52:54:00:00:00:02": it cannot be changed`,
		`{"bmc":{"address":"redfish://a"},"bootMACAddress":"52:54"}`:                                          ``,
		`{"bmc":{"address":"redfish://a"},"bootMACAddress":"52:54:00:00:00:01","externallyProvisioned":true}`: `spec.externallyProvisioned: "true": it can be set`,
	} {
		next := read(t, text)
		old.Status.Provisioning.State, old.Status.OperationalStatus = hostapi.StateProvisioned, hostapi.StatusOK
		if got := strings.Join(texts(hostapi.CheckChange(old, next)), "\n"); want == "" && got != "" ||
			!strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		old.Status.Provisioning.State = hostapi.StateRegistering
		if got := texts(hostapi.CheckChange(old, next)); len(got) > 0 && !strings.Contains(text, "00:02") {
			t.Errorf("%s of a registering host: %v", text, got)
		}
	}
	yes := true
	was := &hostapi.Secret{Type: "Opaque", Immutable: &yes, Data: map[string][]byte{"a": []byte("b")}}
	is := &hostapi.Secret{Type: "other", Data: map[string][]byte{"a": []byte("c")}}
	if got := texts(hostapi.CheckChange(was, is)); len(got) != 3 {
		t.Errorf("of an immutable secret: %v", got)
	}
}

// TestPrune: unknown fields are removed and listed.
func TestPrune(t *testing.T) {
	kind, _ := hostapi.KindOf(hostapi.KindHost)
	var doc map[string]any
	const text = `{"kind":"BareMetalHost","x":1,"metadata":{"name":"a","labels":{"any":"thing"},"managedFields":[]},
		"spec":{"Online":true,"bmc":{"adress":"a"},"raid":{"softwareRAIDVolumes":[{"level":"1","size":3}]}},"status":{"lastUpdated":"2026-11-22T12:00:00Z"}}`
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	want := []string{"spec.Online", "spec.bmc.adress", "spec.raid.softwareRAIDVolumes[0].size", "x"}
	if d := cmp.Diff(want, hostapi.Prune(kind, doc)); d != "" {
		t.Error(d)
	}
	if got := hostapi.Prune(kind, doc); got != nil {
		t.Errorf("left: %v", got)
	}
}

// FuzzCheck: no document brings the checks down, and each fault has a place.
func FuzzCheck(f *testing.F) {
	f.Add(`{"bmc":{"address":"redfish://a"},"image":{"url":"%"},"raid":{"softwareRAIDVolumes":[{}]}}`,
		"reboot.metal3.io", "{}")
	f.Add(`{"rootDeviceHints":{"deviceName":"/dev/"}}`, "baremetalhost.metal3.io/status", `{"provisioning":{"state":1}}`)
	f.Add(`{"bmc":{"address":":"}}`, "inspect.metal3.io/hardwaredetails", "[]")
	f.Fuzz(func(t *testing.T, spec, annotation, value string) {
		h := &hostapi.Host{
			TypeMeta:   hostapi.TypeMeta{Kind: hostapi.KindHost},
			ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "b", Annotations: map[string]string{annotation: value}},
		}
		if json.Unmarshal([]byte(spec), &h.Spec) != nil {
			return
		}
		for _, p := range append(hostapi.Check(h), hostapi.CheckChange(h, h)...) {
			if p.Path == "" || p.Reason == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
