package e2e

import (
	"encoding/json"
	"errors"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// documents is a machine in its owner's words: the data for the BMC and the OS, and the host itself.
var documents = template.Must(template.New("").Funcs(template.FuncMap{"quote": func(v any) (string, error) {
	text, err := json.Marshal(v) // which is YAML
	return string(text), err
}}).Parse(`---
apiVersion: v1
kind: Secret
metadata: {name: {{.Name}}-bmc}
stringData: {username: {{quote .Username}}, password: {{quote .Password}}}
---
apiVersion: v1
kind: Secret
metadata: {name: {{.Name}}-config}
stringData:
  userData: {{quote .UserData}}
  metaData: {{quote .MetaData}}
  networkData: {{quote .NetworkData}}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata:
  name: {{.Name}}
{{- with .Annotations}}
  annotations: {{quote .}}
{{- end}}
spec:
  online: true
  bootMACAddress: {{(index .Machine.Spec.NICs 0).MAC}}
  bmc: {address: {{quote .Address}}, credentialsName: {{.Name}}-bmc}
  rootDeviceHints: {{quote .Hints}}
  inspectionMode: {{.Inspection}}
  automatedCleaningMode: {{.Cleaning}}
  image: {url: {{quote .Image.URL}}, checksum: {{.Image.SHA256}}, checksumType: sha256, format: raw}
  userData: {name: {{.Name}}-config}
  metaData: {name: {{.Name}}-config}
  networkData: {name: {{.Name}}-config}
`))

// document is one machine's documents.
type document struct {
	*lab.Machine
	Image                site.Image
	Annotations          map[string]string
	Hints                map[string]any
	Inspection, Cleaning string
	home                 string // where its OS reports
}

// Address is the BMC's, in Metal3's words.
func (d document) Address() string { return "redfish+" + d.URL + "/redfish/v1/Systems/1" }

// hostname is the machine's name in the meta data.
func (d document) hostname() string { return d.Name + "-of-its-document" }

// UserData makes the OS report.
func (d document) UserData() string { return "#cloud-config\nphone_home:\n  url: " + d.home + "\n" }

// MetaData overrides a field that a host sets by itself, and adds another one.
func (d document) MetaData() string {
	return "hostname: " + d.hostname() + "\nlocal-hostname: " + d.hostname() + "\nrack: {row: 7}\n"
}

// shown is the data that the OS must find: meta data in which the document's values replace the host's own, and the
// document's network data.
func (d document) shown(uid string) (all map[string]any, err error) {
	meta := map[string]any{
		"uuid": uid, "name": d.Name, "local-hostname": d.Name, "local_hostname": d.Name,
		"metal3-name": d.Name, "metal3-namespace": hostapi.DefaultNamespace,
	}
	var network map[string]any
	err = errors.Join(yaml.Unmarshal([]byte(d.MetaData()), &meta), yaml.Unmarshal([]byte(d.NetworkData()), &network))
	return map[string]any{"meta_data": meta, "network_data": network}, err
}

// NetworkData is the configuration that the OS would also find by itself.
func (d document) NetworkData() string {
	mac := d.Spec().NICs[0].MAC
	return "links: [{id: a, type: phy, ethernet_mac_address: '" + mac +
		"'}]\nnetworks: [{id: b, type: ipv4_dhcp, link: a}]\nservices: []\n"
}
