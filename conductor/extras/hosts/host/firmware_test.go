package host

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func ptr[T any](v T) *T { return &v }

// smallBIOS is the report of a small server's BMC.
func smallBIOS() []node.BIOSSetting {
	return []node.BIOSSetting{
		{Name: "AdminPassword", AttributeType: "Password"},
		{Name: "Delay", Value: ptr("5"), AttributeType: "Integer", LowerBound: ptr(int64(0)), UpperBound: ptr(int64(60))},
		{Name: "Label", Value: ptr("mine"), AttributeType: "String", MinLength: ptr(int64(1)), MaxLength: ptr(int64(32)),
			ReadOnly: ptr(true)},
		{Name: "QuietBoot", Value: ptr("True"), AttributeType: "Boolean", ReadOnly: ptr(false)},
		{Name: "Speed", Value: ptr("Slow"), AttributeType: "Enumeration", AllowableValues: []string{"Slow", "Fast"}},
	}
}

func smallFirmware() []node.FirmwareComponent {
	return []node.FirmwareComponent{
		{Component: "bios", InitialVersion: "1.0", CurrentVersion: "1.1", LastVersionFlashed: "1.1",
			UpdatedAt: testNow.Add(-time.Hour)},
		{Component: "bmc", InitialVersion: "2.0", CurrentVersion: "2.0"},
		{Component: "nic:a", InitialVersion: "3", CurrentVersion: "3"},
		{Component: "disk", CurrentVersion: "4"},
	}
}

func reportsSmall(facts *Facts) {
	facts.HardwareReport = node.HardwareReport{BIOS: smallBIOS(), Firmware: smallFirmware()}
}

// settingsWanted has a HostFirmwareSettings that asks for something, as it comes
// to be in the situation.
func settingsWanted(pairs ...string) edit {
	return func(facts *Facts) {
		d := hostapi.HostFirmwareSettings{ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "default", Generation: 3}}
		d.Spec.Settings = map[string]hostapi.IntOrString{}
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			d.Spec.Settings[name] = hostapi.IntOrString{Text: value}
		}
		facts.Firmware.Settings = &d
		if next, changed := firmware.Settings(facts.FirmwareFacts()); changed {
			facts.Firmware.Settings = &next
		}
	}
}

// updatesWanted is the same of a HostFirmwareComponents, of which some updates
// are done.
func updatesWanted(done []string, wanted ...string) edit {
	list := func(all []string) (updates []hostapi.FirmwareUpdate) {
		for _, pair := range all {
			component, url, _ := strings.Cut(pair, "=")
			updates = append(updates, hostapi.FirmwareUpdate{Component: component, URL: url})
		}
		return updates
	}
	return func(facts *Facts) {
		d := hostapi.HostFirmwareComponents{ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "default", Generation: 3}}
		d.Spec.Updates, d.Status.Updates = list(wanted), list(done)
		facts.Firmware.Components = &d
		if next, changed := firmware.Components(facts.FirmwareFacts()); changed {
			facts.Firmware.Components = &next
		}
	}
}

func policyIs(settings, updates hostapi.UpdatePolicy) edit {
	return func(facts *Facts) { facts.Firmware.Policy = policy(settings, updates) }
}

// sayings are conditions in a line each.
func sayings(all []hostapi.Condition) (text string) {
	for _, c := range all {
		text += strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s", c.Type, c.Status, c.Reason, c.ObservedGeneration,
			c.Message)) + "\n"
	}
	return text
}

// TestFirmwareSettings has the conditions about wanted settings.
func TestFirmwareSettings(t *testing.T) {
	const same = "ChangeDetected False Success 3\nValid True Success 3\n"
	const differs = "ChangeDetected True Success 3\nValid True Success 3\n"
	const wrong = "ChangeDetected True Success 3\nValid False ConfigurationError 3 "
	for _, c := range []struct {
		wanted []string
		want   string
	}{
		{nil, same},
		{[]string{"Speed=Slow", "Delay=5", "Delay=05", "QuietBoot=true"}, same},
		{[]string{"Label=mine"}, same},
		{[]string{"Speed=Fast"}, differs},
		{[]string{"Delay=60"}, differs},
		{[]string{"QuietBoot=false"}, differs},
		{[]string{"Speed=Turbo", "Delay=61", "QuietBoot=maybe", "Label=mine", "speed=Fast", "None=1", "AdminPassword=x"},
			wrong +
				`spec.settings[AdminPassword]: "x": passwords are not set here: set it by the machine's controller; spec.settings[Delay]: "61": expected 60 or less; ` +
				`spec.settings[Label]: "mine": it is read only; spec.settings[None]: "1": the BIOS has no such setting; ` +
				`spec.settings[QuietBoot]: "maybe": expected "true" or "false"; spec.settings[Speed]: "Turbo": expected one of Slow, Fast; ` +
				`spec.settings[speed]: "Fast": the BIOS has no such setting, but Speed` + "\n"},
		{[]string{"UserPassword=x"},
			wrong + `spec.settings[UserPassword]: "x": passwords are not set here: set it by the machine's controller` + "\n"},
	} {
		facts := newFacts(hostapi.StateAvailable, node.Manageable, reportsSmall, settingsWanted(c.wanted...))
		if diff := cmp.Diff(c.want, sayings(facts.Firmware.Settings.Status.Conditions)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.wanted, diff)
		}
	}
	facts := newFacts(hostapi.StateAvailable, node.Manageable, settingsWanted("Speed=Fast"))
	if diff := cmp.Diff(wrong+"spec.settings: the machine's BMC has reported no BIOS settings\n",
		sayings(facts.Firmware.Settings.Status.Conditions)); diff != "" {
		t.Errorf("nothing known (-want +got):\n%s", diff)
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("None%02d=1", i))
	}
	facts = newFacts(hostapi.StateAvailable, node.Manageable, reportsSmall, settingsWanted(many...))
	if text := facts.Firmware.Settings.Status.Conditions[1].Message; !strings.HasSuffix(text, "; and 10 more") {
		t.Errorf("of 30 wrong settings: %s", text)
	}
}

// TestGeneralFirmware: the fields of spec.firmware are settings of the BIOS under its vendor's names, unless
// HostFirmwareSettings has them. A field without a setting is named, and nothing is changed then.
func TestGeneralFirmware(t *testing.T) {
	bios := func(all ...node.BIOSSetting) edit {
		return func(facts *Facts) { facts.HardwareReport.BIOS = all }
	}
	is := func(name, value string, values ...string) node.BIOSSetting {
		return node.BIOSSetting{Name: name, Value: &value, AttributeType: "Enumeration", AllowableValues: values}
	}
	wants := func(f hostapi.Firmware) edit {
		return spec(func(s *hostapi.HostSpec) { s.Firmware = &f })
	}
	dell := bios(is("LogicalProc", "Enabled", "Enabled", "Disabled"),
		is("SriovGlobalEnable", "Disabled", "Enabled", "Disabled"),
		is("ProcVirtualization", "Enabled", "Enabled", "Disabled"))
	lenovo := bios(is("Processors_HyperThreading", "Enable", "Disable", "Enable"))
	on, off := ptr(true), ptr(false)
	for name, c := range map[string]struct {
		edits  []edit
		steps  string
		status bool   // all is in force
		unused string // of the condition FieldsUsed
	}{
		"as it is": {[]edit{dell, wants(hostapi.Firmware{VirtualizationEnabled: on}), settingsWanted()}, "null", true, ""},
		"other": {[]edit{dell, wants(hostapi.Firmware{SriovEnabled: on, SimultaneousMultithreadingEnabled: off}),
			settingsWanted()}, `[{"name":"LogicalProc","value":"Disabled"},{"name":"SriovGlobalEnable","value":"Enabled"}]`,
			false, ""},
		"in Lenovo's words": {[]edit{lenovo, wants(hostapi.Firmware{SimultaneousMultithreadingEnabled: off}),
			settingsWanted()}, `[{"name":"Processors_HyperThreading","value":"Disable"}]`, false, ""},
		"settings prevail": {[]edit{dell, wants(hostapi.Firmware{SriovEnabled: on}),
			settingsWanted("SriovGlobalEnable=Disabled")}, "null", false, ""},
		"no such setting": {[]edit{lenovo, wants(hostapi.Firmware{SimultaneousMultithreadingEnabled: off, SriovEnabled: on}),
			settingsWanted()}, "null", false, "spec.firmware.sriovEnabled of the host: the machine's BMC reports none of the " +
			"BIOS settings SriovGlobalEnable, Sriov, DevicesandIOPorts_SRIOV, SR_IOVSupport: name the setting in spec.settings"},
		"taints": {[]edit{spec(func(s *hostapi.HostSpec) { s.Taints = []hostapi.Taint{{Key: "a", Effect: "NoSchedule"}} })},
			"null", false,
			"spec.taints has no effect: Metal3 never acted on it; set taints where the cluster's machine is made"},
	} {
		facts := newFacts(hostapi.StateAvailable, node.Manageable, c.edits...)
		steps, _ := json.Marshal(settingsOf(firmware.Changes(facts.FirmwareFacts(), true, true)))
		if string(steps) != c.steps {
			t.Errorf("%s: the step has %s, want %s", name, steps, c.steps)
		}
		d := made(t, facts)
		if got := d.Host.Status.Provisioning.Firmware != nil; got != c.status {
			t.Errorf("%s: in force: %t, want %t", name, got, c.status)
		}
		got := ""
		for _, condition := range d.Host.Status.Conditions {
			if condition.Type == hostapi.ConditionFieldsUsed {
				got = condition.Message
			}
		}
		if got != c.unused {
			t.Errorf("%s: without effect: %q, want %q", name, got, c.unused)
		}
		facts.Host = d.Host
		facts.Host.Spec.Taints, facts.Host.Spec.Firmware = nil, nil
		for _, condition := range made(t, facts).Host.Status.Conditions {
			if condition.Type == hostapi.ConditionFieldsUsed {
				t.Errorf("%s: the condition outlives the fields: %s", name, condition.Message)
			}
		}
	}
}

// settingsOf are the arguments of the step that changes BIOS settings; nil for no step.
func settingsOf(c firmware.Change) any {
	for _, s := range c.Steps() {
		return s.Args["settings"]
	}
	return nil
}

// TestFirmwareDocuments: documents are made once the machine is registered, and
// then only written when there is something new to say.
func TestFirmwareDocuments(t *testing.T) {
	facts := newFacts(hostapi.StatePreparing, node.Manageable, reportsSmall, status(func(st *hostapi.HostStatus) {
		st.Hardware = &hostapi.Hardware{SystemVendor: hostapi.SystemVendor{Manufacturer: "Sky", ProductName: "One"}}
	}))
	at := hostapi.At(testNow)
	owners := []hostapi.OwnerReference{{APIVersion: hostapi.APIVersion, Kind: hostapi.KindHost, Name: "a", UID: testUID}}
	conditions := func(reason string) []hostapi.Condition {
		return []hostapi.Condition{
			{Type: "ChangeDetected", Status: "False", Reason: reason, LastTransitionTime: at},
			{Type: "Valid", Status: "True", Reason: reason, LastTransitionTime: at},
		}
	}
	meta := hostapi.ObjectMeta{Name: "a", Namespace: "default", OwnerReferences: owners}
	settings, changed := firmware.Settings(facts.FirmwareFacts())
	wantSettings := hostapi.HostFirmwareSettings{ObjectMeta: meta,
		Spec: hostapi.HostFirmwareSettingsSpec{Settings: map[string]hostapi.IntOrString{}},
		Status: hostapi.HostFirmwareSettingsStatus{
			Settings: map[string]string{"Delay": "5", "Label": "mine", "QuietBoot": "True", "Speed": "Slow"}, LastUpdated: &at,
			Conditions: conditions("Success"),
		}}
	if diff := cmp.Diff(wantSettings, settings); diff != "" || !changed {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if _, changed := firmware.Schema(facts.FirmwareFacts()); changed {
		t.Error("there is a schema before there are settings to own it")
	}
	settings.UID = "s1"
	facts.Firmware.Settings = &settings
	facts.Host.Status.Provisioning.State = hostapi.StateInspecting
	if _, changed := firmware.Schema(facts.FirmwareFacts()); changed {
		t.Error("there is a schema before the vendor is known")
	}
	facts.Host.Status.Provisioning.State = hostapi.StatePreparing
	schema, _ := firmware.Schema(facts.FirmwareFacts())
	wantSchema := hostapi.FirmwareSchema{
		ObjectMeta: hostapi.ObjectMeta{Name: firmware.SchemaName(smallBIOS()), Namespace: "default",
			OwnerReferences: []hostapi.OwnerReference{{APIVersion: hostapi.APIVersion, Kind: hostapi.KindFirmwareSettings,
				Name: "a", UID: "s1"}}},
		Spec: hostapi.FirmwareSchemaSpec{HardwareVendor: "Sky", HardwareModel: "One",
			Schema: map[string]hostapi.SettingSchema{
				"Delay":     {AttributeType: "Integer", LowerBound: ptr(int64(0)), UpperBound: ptr(int64(60))},
				"QuietBoot": {AttributeType: "Boolean", ReadOnly: ptr(false)},
				"Label":     {AttributeType: "String", MinLength: ptr(int64(1)), MaxLength: ptr(int64(32)), ReadOnly: ptr(true)},
				"Speed":     {AttributeType: "Enumeration", AllowableValues: []string{"Slow", "Fast"}},
			}},
	}
	if diff := cmp.Diff(wantSchema, schema); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	facts.Firmware.Schema = &schema
	named, _ := firmware.Settings(facts.FirmwareFacts())
	if diff := cmp.Diff(&hostapi.SchemaReference{Namespace: "default", Name: firmware.SchemaName(smallBIOS())},
		named.Status.FirmwareSchema); diff != "" {
		t.Errorf("the schema that is named (-want +got):\n%s", diff)
	}
	settings = named
	parts, _ := firmware.Components(facts.FirmwareFacts())
	wantParts := hostapi.HostFirmwareComponents{ObjectMeta: meta,
		Spec: hostapi.HostFirmwareComponentsSpec{Updates: []hostapi.FirmwareUpdate{}},
		Status: hostapi.HostFirmwareComponentsStatus{
			Components: []hostapi.FirmwareComponentStatus{
				{Component: "bios", InitialVersion: "1.0", CurrentVersion: "1.1", LastVersionFlashed: "1.1",
					UpdatedAt: hostapi.At(testNow.Add(-time.Hour))},
				{Component: "bmc", InitialVersion: "2.0", CurrentVersion: "2.0"},
				{Component: "nic:a", InitialVersion: "3", CurrentVersion: "3"},
			}, LastUpdated: &at, Conditions: conditions("OK"),
		}}
	if diff := cmp.Diff(wantParts, parts); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	facts.Firmware = firmware.Documents{Settings: &settings, Schema: &schema, Components: &parts, Policy: policy("", "")}
	facts.Now = testNow.Add(time.Hour)
	described := facts
	described.Firmware.Schema, described.Firmware.Described = nil, true
	if _, changed := firmware.Settings(described.FirmwareFacts()); changed {
		t.Error("settings are written without news, and without their schema")
	}
	if _, changed := firmware.Schema(described.FirmwareFacts()); changed {
		t.Error("a schema is made that there is")
	}
	if _, changed := firmware.Settings(facts.FirmwareFacts()); changed {
		t.Error("settings are written without news")
	}
	if _, changed := firmware.Schema(facts.FirmwareFacts()); changed {
		t.Error("a schema is written without news")
	}
	if _, changed := firmware.Components(facts.FirmwareFacts()); changed {
		t.Error("components are written without news")
	}
	held, changed := firmware.Policy(facts.FirmwareFacts())
	if diff := cmp.Diff(owners, held.OwnerReferences); diff != "" || !changed {
		t.Errorf("owner of a policy (-want +got):\n%s", diff)
	}
	facts.Host.UID = "another" // the host was deleted, and applied again
	if again, _ := firmware.Settings(facts.FirmwareFacts()); len(again.OwnerReferences) != 1 ||
		again.OwnerReferences[0].UID != "another" {
		t.Errorf("owned by %+v", again.OwnerReferences)
	}
}

// TestSchemaOfMany: the schema of many hosts does not grow with them.
func TestSchemaOfMany(t *testing.T) {
	var schema *hostapi.FirmwareSchema
	written := 0
	for i := range 100 {
		facts := newFacts(hostapi.StateAvailable, node.Manageable, reportsSmall, settingsWanted())
		facts.Firmware.Settings.Name, facts.Firmware.Settings.UID = fmt.Sprintf("h%d", i), fmt.Sprintf("s%d", i)
		facts.Firmware.Schema = schema
		if next, changed := firmware.Schema(facts.FirmwareFacts()); changed {
			schema = &next
			written++
		}
		facts.Firmware.Schema = schema
		if named, _ := firmware.Settings(facts.FirmwareFacts()); named.Status.FirmwareSchema == nil {
			t.Fatalf("host %d has no schema", i)
		}
	}
	if len(schema.OwnerReferences) != 16 || written != 16 {
		t.Errorf("%d owners after %d writes", len(schema.OwnerReferences), written)
	}
}

// TestNoFirmwareDocuments: nothing is made of a host that is not registered, is to
// go, or is let alone; nor components of a machine that has none.
func TestNoFirmwareDocuments(t *testing.T) {
	for name, e := range map[string]edit{
		"no node": noNode, "deleted": deleted, "paused": annotate(hostapi.AnnotationPaused, ""),
		"detached":       annotate(hostapi.AnnotationDetached, ""),
		"not registered": status(func(st *hostapi.HostStatus) { st.Provisioning.ID = "" }),
		"was detached":   status(func(st *hostapi.HostStatus) { st.OperationalStatus = hostapi.StatusDetached }),
	} {
		if _, changed := firmware.Settings(
			newFacts(hostapi.StateProvisioned, node.Active, reportsSmall, e).FirmwareFacts()); changed {
			t.Errorf("%s: has settings", name)
		}
	}
	facts := newFacts(hostapi.StateAvailable, node.Manageable)
	if _, changed := firmware.Components(facts.FirmwareFacts()); changed {
		t.Error("a machine whose BMC tells of no firmware has components")
	}
	if settings, changed := firmware.Settings(facts.FirmwareFacts()); !changed || settings.Status.FirmwareSchema != nil {
		t.Errorf("a machine whose BMC tells of no settings has %+v", settings.Status)
	}
}

// TestSchemaName: names are Metal3's, computed by its rule outside of this program. Two machines with the same possible
// settings share one.
func TestSchemaName(t *testing.T) {
	if got := firmware.SchemaName(smallBIOS()); got != "schema-ab02d720" {
		t.Errorf("got %s", got)
	}
	other := smallBIOS()
	other[4].Value = ptr("Fast")
	if firmware.SchemaName(other) != firmware.SchemaName(smallBIOS()) {
		t.Error("the value of a setting is a part of the name")
	}
	other[4].AllowableValues = []string{"Slow", "Fast", "Faster"}
	if firmware.SchemaName(other) == firmware.SchemaName(smallBIOS()) {
		t.Error("what a setting can be is no part of the name")
	}
}

// TestFirmwareComponents has the conditions about wanted updates.
func TestFirmwareComponents(t *testing.T) {
	const same = "ChangeDetected False OK 3\nValid True OK 3\n"
	const differs = "ChangeDetected True OK 3\nValid True OK 3\n"
	for _, c := range []struct {
		with []edit
		want string
	}{
		{[]edit{reportsSmall, updatesWanted(nil)}, same},
		{[]edit{reportsSmall, updatesWanted([]string{"bmc=http://b"}, "bmc=http://b")}, same},
		{[]edit{reportsSmall, updatesWanted([]string{"bmc=http://a"}, "bmc=http://b")}, differs},
		{[]edit{reportsSmall, updatesWanted([]string{"bmc=http://a"})}, differs},
		{[]edit{reportsSmall, updatesWanted(nil, "nic:unseen=http://b")}, differs},
		{[]edit{reportsSmall, updatesWanted(nil, "bmc=http://b", "nic:=http://b", "disk=http://b")},
			"ChangeDetected True OK 3\nValid False InvalidComponent 3 " +
				`spec.updates[1].component: "nic:": expected bios, bmc, or nic: with a card's id; spec.updates[2].component: "disk": expected bios, bmc, or nic: with a card's id` + "\n"},
		{[]edit{updatesWanted(nil, "bmc=http://b")},
			"ChangeDetected True OK 3\nValid False InvalidComponent 3 spec.updates: the machine's BMC has reported no part " +
				"with firmware\n"},
	} {
		facts := newFacts(hostapi.StateAvailable, node.Manageable, c.with...)
		if diff := cmp.Diff(c.want, sayings(facts.Firmware.Components.Status.Conditions)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", facts.Firmware.Components.Spec, diff)
		}
	}
}
