package nodeapi_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestTakeSecrets: each form of a secret is taken whole, and nothing else is.
func TestTakeSecrets(t *testing.T) {
	var given map[string]any
	if err := json.Unmarshal([]byte(`{
		"redfish_username": "admin", "redfish_password": "calvin", "ipmi_hex_kg_key": null, "a/b~c_token": 7,
		"configdrive": {"user_data": "words"},
		"image_source": "https://u:p@images/a", "kernel": "http://images/k?x=1", "initrd": "http://images/i?temp_url_sig=9",
		"settings": [{"name": "AdminPassword", "value": "words"}, {"name": "Boot", "value": "Uefi"}, "ftp://u:p@h/", 1],
		"deep": {"er": {"snmp_community": ["public"], "kept": true}}
	}`), &given); err != nil {
		t.Fatal(err)
	}
	before := marshal(t, given)
	taken := map[string]any{}
	rest := nodeapi.TakeSecrets(given, "/driver_info", func(pointer string, value any) { taken[pointer] = value })
	if d := cmp.Diff(map[string]any{
		"/driver_info/redfish_password":       "calvin",
		"/driver_info/a~1b~0c_token":          7.0,
		"/driver_info/configdrive":            map[string]any{"user_data": "words"},
		"/driver_info/image_source":           "https://u:p@images/a",
		"/driver_info/initrd":                 "http://images/i?temp_url_sig=9",
		"/driver_info/settings/0/value":       "words",
		"/driver_info/settings/2":             "ftp://u:p@h/",
		"/driver_info/deep/er/snmp_community": []any{"public"},
	}, taken); d != "" {
		t.Errorf("taken: -want +got:\n%s", d)
	}
	if d := cmp.Diff(map[string]any{
		"redfish_username": "admin", "ipmi_hex_kg_key": nil, "kernel": "http://images/k?x=1",
		"settings": []any{map[string]any{"name": "AdminPassword"}, map[string]any{"name": "Boot", "value": "Uefi"}, nil, 1.0},
		"deep":     map[string]any{"er": map[string]any{"kept": true}},
	}, rest); d != "" {
		t.Errorf("left: -want +got:\n%s", d)
	}
	if after := marshal(t, given); after != before {
		t.Errorf("the argument was changed: %s", after)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTakeSecretsAsMask: exactly the values that MaskInstance hides are taken. A key that one of the two learns must
// be known to the other.
func TestTakeSecretsAsMask(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	hidden := 0
	for range 3000 {
		m := randomMap(random, 3)
		count := 0
		rest := nodeapi.TakeSecrets(m, "", func(string, any) { count++ })
		if d := cmp.Diff(rest, nodeapi.MaskInstance(maps.Clone(rest))); d != "" {
			t.Fatalf("left in %v and hidden by the API:\n%s", m, d)
		}
		same := cmp.Equal(m, nodeapi.MaskInstance(m))
		if same != (count == 0) || nodeapi.HasSecrets(m) != (count > 0) {
			t.Fatalf("%v: %d taken, hidden by the API: %v", m, count, !same)
		}
		if !same {
			hidden++
		}
	}
	if hidden < 500 || hidden > 2900 {
		t.Errorf("%d of 3000 have secrets: the test shows little", hidden)
	}
}

func randomMap(random *rand.Rand, depth int) map[string]any {
	keys := []string{"redfish_password", "address", "name", "value", "configdrive_url", "ssh_private_key", "x/y", "list"}
	if depth == 3 {
		keys = append(keys, "configdrive")
	}
	m := map[string]any{}
	for range random.IntN(3) {
		m[keys[random.IntN(len(keys))]] = randomValue(random, depth-1)
	}
	return m
}

func randomValue(random *rand.Rand, depth int) any {
	texts := []string{"", "plain", "AdminPassword", "https://h/a", "https://u:p@h/a", "http://h/?temp_url_sig=1&x=2",
		"a?key=b"}
	switch n := random.IntN(7); {
	case n == 0 && depth > 0:
		return randomMap(random, depth)
	case n == 1 && depth > 0:
		return []any{randomValue(random, depth-1), randomValue(random, depth-1)}
	case n == 2:
		return 7.0
	default:
		return texts[random.IntN(len(texts))]
	}
}
