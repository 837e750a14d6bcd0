package redfish

import (
	"strings"
	"testing"
)

// EXPAND and FEATURES stand for the names of properties.
func TestMendRoot(t *testing.T) {
	names := strings.NewReplacer("EXPAND", `"ExpandQuery"`, "FEATURES", `"ProtocolFeaturesSupported"`)
	for given, want := range map[string]string{
		`{FEATURES: {EXPAND: false, "Filter": true}}`: `{FEATURES:{"Filter":true}}`,
		`{"Id": 1, FEATURES: {EXPAND: "no"}}`:         `{"Id":1,FEATURES:{}}`,
		`{FEATURES: {EXPAND: {"All": true}}}`:         `{FEATURES: {EXPAND: {"All": true}}}`,
		`{FEATURES: false}`:                           `{FEATURES: false}`,
		`{FEATURES: {}}`:                              `{FEATURES: {}}`,
		`[]`:                                          `[]`,
		`{`:                                           `{`,
		``:                                            ``,
	} {
		if got := string(mendRoot([]byte(names.Replace(given)))); got != names.Replace(want) {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}
