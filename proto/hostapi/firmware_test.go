package hostapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestCheckFirmware: documents about firmware are refused when they are written, with these reasons; "" is a good one.
func TestCheckFirmware(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{hostapi.KindFirmwareSettings, `{}`, ""},
		{hostapi.KindFirmwareSettings, `{"spec":{"settings":{}}}`, ""},
		{hostapi.KindFirmwareSettings, `{"spec":{"settings":{"QuietBoot":"true","BootDelaySeconds":5}}}`, ""},
		{hostapi.KindFirmwareComponents, `{"spec":{"updates":[]}}`, ""},
		{hostapi.KindFirmwareComponents, `{"spec":{"updates":[{"component":"bmc","url":"http://images/bmc.bin"}]}}`, ""},
		{hostapi.KindFirmwareComponents, `{"spec":{"updates":[{"component":"disk","url":"https://images/a"}]}}`, ""},
		{hostapi.KindFirmwareComponents,
			`{"spec":{"updates":[{"component":"bmc","url":"nfs://images/a"},{"url":"http:///a"}]}}`,
			`spec.updates[1].component: it is required
spec.updates[0].url: "nfs://images/a": expected a URL of http or https that the machine's controller can reach
spec.updates[1].url: "http:///a": expected a URL of http or https that the machine's controller can reach`},
		{hostapi.KindFirmwareComponents, `{"spec":{"updates":[{"component":"bmc"}]}}`, "spec.updates[0].url: it is required"},
		{hostapi.KindFirmwareSchema, `{"spec":{"schema":{"A":{"attribute_type":"Integer","lower_bound":1}}}}`, ""},
		{hostapi.KindFirmwareSchema, `{"spec":{"schema":{"A":{"attribute_type":"Float"}}}}`,
			`spec.schema[A].attribute_type: "Float": expected one of Enumeration, String, Integer, Boolean, Password`},
		{hostapi.KindFirmwareSchema, `{"spec":{"hardwareModel":"a"}}`, "spec.schema: it is required"},
		{hostapi.KindUpdatePolicy, `{"spec":{"firmwareSettings":"onReboot","firmwareUpdates":"onPreparing"}}`, ""},
		{hostapi.KindUpdatePolicy, `{"spec":{"firmwareSettings":"now"}}`,
			`spec.firmwareSettings: "now": expected one of onPreparing, onReboot`},
	} {
		kind, _ := hostapi.KindOf(c.kind)
		d := kind.New()
		if err := json.Unmarshal([]byte(c.text), d); err != nil {
			t.Fatal(err)
		}
		d.About().Kind, d.Meta().Name, d.Meta().Namespace = c.kind, "a", "b"
		if diff := cmp.Diff(c.want, strings.Join(texts(hostapi.Check(d)), "\n")); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.kind, c.text, diff)
		}
	}
}

// TestRefuses: values that a setting cannot have, by its BIOS's schema.
func TestRefuses(t *testing.T) {
	one, two, yes := int64(1), int64(2), true
	number := hostapi.SettingSchema{AttributeType: "Integer", LowerBound: &one, UpperBound: &two}
	text := hostapi.SettingSchema{AttributeType: "String", MinLength: &one, MaxLength: &two}
	for _, c := range []struct {
		schema      hostapi.SettingSchema
		name, value string
		want        string
	}{
		{hostapi.SettingSchema{}, "A", `"anything"`, ""},
		{hostapi.SettingSchema{ReadOnly: &yes}, "A", `"a"`, "it is read only"},
		{hostapi.SettingSchema{}, "AdminPassword", `"a"`, "passwords are not set here: set it by the machine's controller"},
		{hostapi.SettingSchema{AttributeType: "Password"}, "A", `"a"`,
			"passwords are not set here: set it by the machine's controller"},
		{hostapi.SettingSchema{AttributeType: "Enumeration", AllowableValues: []string{"On", "1"}}, "A", `"On"`, ""},
		{hostapi.SettingSchema{AttributeType: "Enumeration", AllowableValues: []string{"On", "1"}}, "A", `1`, ""},
		{hostapi.SettingSchema{AttributeType: "Enumeration", AllowableValues: []string{"On", "1"}}, "A", `"on"`,
			"expected one of On, 1"},
		{number, "A", `1`, ""},
		{number, "A", `"2"`, ""},
		{number, "A", `0`, "expected 1 or more"},
		{number, "A", `3`, "expected 2 or less"},
		{number, "A", `"two"`, "expected a whole number"},
		{text, "A", `"ab"`, ""},
		{text, "A", `""`, "expected 1 characters or more, found 0"},
		{text, "A", `"abc"`, "expected 2 characters at the most, found 3"},
		{hostapi.SettingSchema{AttributeType: "Boolean"}, "A", `"true"`, ""},
		{hostapi.SettingSchema{AttributeType: "Boolean"}, "A", `"False"`, ""},
		{hostapi.SettingSchema{AttributeType: "Boolean"}, "A", `1`, `expected "true" or "false"`},
		{hostapi.SettingSchema{AttributeType: "Float"}, "A", `1`, "its type Float is not known here"},
	} {
		var v hostapi.IntOrString
		if err := json.Unmarshal([]byte(c.value), &v); err != nil {
			t.Fatal(err)
		}
		if got := c.schema.Refuses(c.name, v); got != c.want {
			t.Errorf("%+v %s: got %q, want %q", c.schema, c.value, got, c.want)
		}
	}
}

// TestIntOrString: a value survives writing and reading, and nothing else is read.
func TestIntOrString(t *testing.T) {
	for text, want := range map[string]any{`"a"`: "a", `""`: "", `"5"`: "5", `5`: 5.0, `-3`: -3.0} {
		var v hostapi.IntOrString
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if back, err := json.Marshal(v); err != nil || string(back) != text || v.Value() != want {
			t.Errorf("%s: got %s (%v), given on as %v", text, back, err, v.Value())
		}
	}
	for _, text := range []string{`true`, `1.5`, `1e3`, `{}`, `[]`, `99999999999999999999`} {
		var v hostapi.IntOrString
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s is taken as %v", text, v)
		}
	}
}

// TestPruneSchema: unknown fields are found in maps, too.
func TestPruneSchema(t *testing.T) {
	kind, _ := hostapi.KindOf(hostapi.KindFirmwareSchema)
	doc := map[string]any{
		"spec": map[string]any{"schema": map[string]any{"A": map[string]any{"unique": true, "size": 1.0}}},
	}
	if d := cmp.Diff([]string{"spec.schema[A].size"}, hostapi.Prune(kind, doc)); d != "" {
		t.Error(d)
	}
}

// FuzzFirmware: no document about firmware brings the checks down, and reading and writing give the same document.
func FuzzFirmware(f *testing.F) {
	f.Add(hostapi.KindFirmwareSettings,
		`{"spec":{"settings":{"A":"b","C":5}},"status":{"settings":{"A":"a"},"conditions":[{"type":"Valid"}]}}`)
	f.Add(hostapi.KindFirmwareComponents,
		`{"spec":{"updates":[{"component":"nic:a","url":"http://a"},{"url":":"}]},"status":{"components":[{"updatedAt":null}]}}`)
	f.Add(hostapi.KindFirmwareSchema,
		`{"spec":{"schema":{"A":{"attribute_type":"Integer","lower_bound":1,"read_only":null}}}}`)
	f.Add(hostapi.KindUpdatePolicy, `{"spec":{"firmwareSettings":"onReboot"}}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		kind, ok := hostapi.KindOf(name)
		if !ok {
			return
		}
		d, again := kind.New(), kind.New()
		if json.Unmarshal([]byte(text), d) != nil {
			return
		}
		for _, p := range hostapi.Check(d) {
			if p.Path == "" || p.Reason == "" {
				t.Errorf("%+v", p)
			}
		}
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, again); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		read, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		third := kind.New()
		if err := json.Unmarshal(read, third); err != nil {
			t.Fatalf("%s cannot be read: %v", read, err)
		}
		// Empty fields have gone after the first round.
		if back, err := json.Marshal(third); err != nil || string(back) != string(read) {
			t.Errorf("%s comes back as %s, %v", read, back, err)
		}
	})
}
