package agentapi

import (
	"encoding/json"
	"testing"
)

// FuzzDecode: any JSON is read or refused, and addresses that are taken for a machine's are in the form of ports.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"inventory":{"interfaces":[{"mac_address":"52:54:00:00:00:01","name":"eth0"}],"disks":[{"size":1}]}}`,
		`{"inventory":{"interfaces":[{"mac_address":7},null,[],"x"],"cpu":{"count":"8"}},"ferrite_clock":[]}`,
		`{"inventory":null}`, `[]`, `{"inventory":{"interfaces":{"0":{}}}}`, `{"inventory":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var i Inspection
		odd, err := Decode(raw, &i)
		if err == nil && odd == "" && !json.Valid(raw) {
			t.Error("it is no JSON, and was taken")
		}
		if err != nil || i.Validate() != nil {
			return
		}
		for _, mac := range i.Inventory.MACs() {
			if len(mac) < len("52:54:00:00:00:01") {
				t.Errorf("the address %q is taken", mac)
			}
		}
	})
}
