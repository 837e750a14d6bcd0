package plan

import (
	"fmt"
	"strings"
	"testing"
)

// TestInspectionSettings: PCI aliases and physical networks that can never count are refused.
func TestInspectionSettings(t *testing.T) {
	aliases := func(e []string) (any, error) { return ParsePCIAliases(e) }
	networks := func(e []string) (any, error) { return ParsePhysicalNetworks(e) }
	for _, c := range []struct {
		parse   func([]string) (any, error)
		entries string
		want    string
	}{
		{aliases, `{"vendor_id":"10DE","product_id":"2331","name":"h100"}`, "[{10de 2331 h100}] <nil>"},
		{aliases, `vendor_id=10de product_id=2331 name=h100`, "[{10de 2331 h100}] <nil>"},
		{aliases, `{"vendor_id":"10de","product_id":"2331","name":"a:1,b"}`, "the name becomes a capability"},
		{aliases, `{"vendor_id":"0x10de","product_id":"2331","name":"a"}`, "four hexadecimal digits"},
		{aliases, `{"vendor_id":"10de","product":"2331","name":"a"}`, "expected an object"},
		{aliases, `{"vendor_id":4318,"product_id":"2331","name":"a"}`, "expected an object"},
		{aliases, `10de:2331=h100`, "expected an object"},
		{aliases, `vendor_id=1 product_id=2 name=a|vendor_id=1 product_id=2 name=b`, "four hexadecimal digits"},
		{aliases, `vendor_id=0001 product_id=0002 name=a|vendor_id=0001 product_id=0002 name=b`, "has a name already"},
		{networks, "10.1.0.0/16:a|fd00::/64:b", "[{10.1.0.0/16 a} {fd00::/64 b}] <nil>"},
		{networks, "10.1.0.1/16:a", "say 10.1.0.0/16"},
		{networks, "10.1.0.0/16", "expected SUBNET:NAME"},
		{networks, "10.1.0.0/16:", "expected SUBNET:NAME"},
		{networks, "10.1.0.0/33:a", "expected SUBNET:NAME"},
		{networks, "10.1.0.0/16:a|10.1.0.0/16:b", "has a physical network already"},
	} {
		v, err := c.parse(strings.Split(c.entries, "|"))
		if got := fmt.Sprint(v, " ", err); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.entries, got, c.want)
		}
	}
}
