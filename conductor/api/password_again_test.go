package api

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
)

func TestCheckPasswordAgain(t *testing.T) {
	type info = map[string]any
	sets := func(path string, value any) []rest.Operation {
		return []rest.Operation{{Op: "add", Path: path, Raw: map[string]any{"op": "add", "path": path, "value": value}}}
	}
	const password = "/driver_info/redfish_password"
	stored := info{"redfish_address": "https://a", "redfish_password": "p", "redfish_verify_ca": "ca.pem",
		"ipmi_address": "b", "ipmi_password": "q", "image_pull_secret": "u:p", "image_pull_registry": "r:5000"}
	with := func(pairs ...any) info {
		c := info{}
		for k, v := range stored {
			c[k] = v
		}
		for i := 0; i < len(pairs); i += 2 {
			c[pairs[i].(string)] = pairs[i+1]
			if pairs[i+1] == nil {
				delete(c, pairs[i].(string))
			}
		}
		return c
	}
	for _, c := range []struct {
		name         string
		old, updated info
		ops          []rest.Operation
		refused      bool
	}{
		{"nothing", stored, with(), nil, false},
		{"a user", stored, with("redfish_username", "u"), nil, false},
		{"an address", stored, with("redfish_address", "https://evil"), nil, true},
		{"http", stored, with("redfish_address", "http://a"), nil, true},
		{"an address away", stored, with("redfish_address", nil), nil, true},
		{"an address where there was none", with("redfish_address", nil), with(), nil, true},
		{"authorities", stored, with("redfish_verify_ca", false), nil, true},
		{"another service root", stored, with("redfish_root_prefix", "/b/redfish/v1"), nil, true},
		{"other authorities", stored, with("redfish_verify_ca", "other.pem"), nil, true},
		{"authorities away", stored, with("redfish_verify_ca", nil), nil, true},
		{"authorities where anybody was believed", with("redfish_verify_ca", false), with(), nil, false},
		{"likewise as text", with("redfish_verify_ca", "False"), with("redfish_verify_ca", true), nil, false},
		{"ipmi's address", stored, with("ipmi_address", "evil"), nil, true},
		{"ipmi's port", stored, with("ipmi_port", 6230), nil, true},
		{"the password of another", stored, with("ipmi_address", "evil", "redfish_password", "p"), sets(password, "p"), true},
		{"an address and the password", stored, with("redfish_address", "https://c", "redfish_password", "new"),
			sets(password, "new"), false},
		{"an address and the same password", stored, with("redfish_address", "https://c"), sets(password, "p"), false},
		{"all at once", stored, with("redfish_address", "https://c"),
			sets("/driver_info", info{"redfish_password": "p"}), false},
		{"all at once, without", stored, with("redfish_address", "https://c"), sets("/driver_info", info{}), true},
		{"the password removed", stored, with("redfish_address", "https://c", "redfish_password", nil), nil, false},
		{"a first password", with("redfish_password", nil), with("redfish_address", "https://c"), sets(password, "p"), false},
		{"stars", stored, with("redfish_password", "******"), sets(password, "******"), true},
		{"stars of another secret", stored, with("image_pull_secret", "******"), nil, true},
		{"stars of old", with("redfish_password", "******"), with("redfish_password", "******", "extra", 1), nil, false},
		{"another registry", stored, with("image_pull_registry", "evil"), nil, true},
		{"another registry and its secret", stored, with("image_pull_registry", "s", "image_pull_secret", "n"),
			sets("/driver_info/image_pull_secret", "n"), false},
		{"a new node", nil, stored, nil, false},
		{"a new node of stars", nil, with("ipmi_password", "******"), nil, true},
	} {
		if err := checkPasswordAgain(c.old, c.updated, c.ops); (err != nil) != c.refused {
			t.Errorf("%s: %v, want refused %v", c.name, err, c.refused)
		}
	}
}

func TestCheckPullSecretAgain(t *testing.T) {
	type info = map[string]any
	given := []rest.Operation{
		{Op: "add", Path: "/instance_info", Raw: map[string]any{"value": info{"image_pull_secret": "u:p"}}},
	}
	stored := info{"image_source": "oci://r:5000/os:1", "image_pull_secret": "u:p"}
	for _, c := range []struct {
		name         string
		old, updated info
		ops          []rest.Operation
		refused      bool
	}{
		{"another tag", stored, info{"image_source": "oci://r:5000/other:2", "image_pull_secret": "u:p"}, nil, false},
		{"another registry", stored, info{"image_source": "oci://evil/os:1", "image_pull_secret": "u:p"}, nil, true},
		{"another port", stored, info{"image_source": "oci://r:5001/os:1", "image_pull_secret": "u:p"}, nil, true},
		{"another registry, the secret given", stored, info{"image_source": "oci://evil/os:1", "image_pull_secret": "u:p"},
			given, false},
		{"another registry, the secret away", stored, info{"image_source": "oci://evil/os:1"}, nil, false},
		{"none", stored, info{"image_source": "https://evil/os", "image_pull_secret": "u:p"}, nil, false},
		{"one after none", info{"image_source": "https://evil/os", "image_pull_secret": "u:p"},
			info{"image_source": "oci://evil/os:1", "image_pull_secret": "u:p"}, nil, true},
		{"a token service", stored,
			info{"image_source": "oci://r:5000/os:1", "image_pull_secret": "u:p", "image_pull_registry": "evil"}, nil, true},
		{"a token service away", info{"image_source": "oci://r:5000/os:1", "image_pull_secret": "u:p",
			"image_pull_registry": "t"}, stored, nil, false},
		{"a first secret", info{"image_source": "https://x"}, stored, given, false},
		{"no secret", info{"image_source": "oci://a/b"}, info{"image_source": "oci://c/b"}, nil, false},
		{"nothing before", nil, stored, nil, false},
	} {
		if err := checkPullSecretAgain(c.old, c.updated, c.ops); (err != nil) != c.refused {
			t.Errorf("%s: %v, want refused %v", c.name, err, c.refused)
		}
	}
}
