package redfish

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// FuzzParts: any document of a BMC becomes a part with a clean name and a size that is not negative, or no part.
func FuzzParts(f *testing.F) {
	f.Add(
		[]byte(`{"Id":"1","Name":"a","MACAddress":"02:00:00:00:00:01","SpeedMbps":"x","CapacityBytes":"9e99","Status":7}`))
	f.Add([]byte(`{"CapacityBytes":-1,"Identifiers":[{"DurableName":null}],"Drives":{"@odata.id":"/x"}}`))
	f.Add([]byte("{\"Name\":\"\\u001b[2J\",\"CapacityMiB\":5,\"VendorId\":\"0xZZ\"}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &parts{}
		var drive driveDoc
		if json.Unmarshal(b, &drive) == nil {
			p.takeDrive("/d", drive)
		}
		var volume volumeDoc
		if json.Unmarshal(b, &volume) == nil {
			p.takeVolume("/v", volume)
		}
		var card ethernetInterface
		if json.Unmarshal(b, &card) == nil {
			p.takeInterface("/e", card)
		}
		p.nameCards()
		for _, d := range p.out.Disks {
			checkPart(t, d.Name+d.Model+d.Vendor+d.Serial+d.WWN, d.Bytes)
		}
		for _, v := range p.out.Volumes {
			checkPart(t, v.Name+v.RAIDType, v.Bytes)
		}
		for _, c := range p.out.Cards {
			checkPart(t, c.Name, int64(c.SpeedMbps))
			if len(c.MAC) != 17 || c.Name == "" {
				t.Errorf("card %+v", c)
			}
		}
		if gb := (node.Parts{Disks: p.out.Disks, Volumes: p.out.Volumes}).LocalGB(); gb < 0 {
			t.Errorf("local_gb is %d", gb)
		}
	})
}

func checkPart(t *testing.T, text string, number int64) {
	t.Helper()
	if number < 0 || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 6*maxLabel {
		t.Errorf("%q, %d", text, number)
	}
}
