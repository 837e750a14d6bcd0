package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Planted are the words of all secrets that Plant stores: each in a place of its own.
func Planted() (words []string) {
	for _, place := range []string{
		"driver_info", "nested", "hex_kg_key", "url", "driver_internal_info", "pull_secret", "configdrive", "rescue",
		"signature", "token", "step", "listed", "template", "runbook", "bios_value", "volume", "rule", "loop", "effect",
	} {
		words = append(words, "planted-"+place+"-word")
	}
	return words
}

func planted(place string) string { return "planted-" + place + "-word" }

// secretNode has a secret in each part of a node that can hold any. All its other values are public.
func secretNode(n int) node.Node {
	v := sample(n)
	v.DriverInfo = map[string]any{
		"redfish_address": "https://bmc", "redfish_password": planted("driver_info"),
		"ipmi_hex_kg_key": planted("hex_kg_key"),
		"deploy_iso":      "https://user:" + planted("url") + "@images/iso", "empty_password": "", "no_password": nil,
		"nested": map[string]any{"a/b~c_token": []any{planted("nested")}, "kept": []any{"a", nil, 1.5}},
	}
	v.DriverInternalInfo = map[string]any{"session_token": planted("driver_internal_info"), "kept": true}
	v.InstanceInfo = map[string]any{
		"image_pull_secret": planted("pull_secret"), "hashed_rescue_password": planted("rescue"),
		"configdrive":  map[string]any{"user_data": planted("configdrive")},
		"image_source": "https://swift/a?temp_url_sig=" + planted("signature"),
	}
	v.Agent = node.Agent{URL: "https://agent", Token: planted("token")}
	v.Run = &node.Run{Activity: "clean", Index: 1, Steps: []node.Step{
		{Interface: "power", Step: "power_off"}, secretStep("step"),
	}, Listed: []node.Step{secretStep("listed")}}
	v.Extra = map[string]any{"kept": "words"}
	return v
}

// secretStep has a secret argument and nothing else, and one within a list of settings.
func secretStep(place string) node.Step {
	s := node.Step{Interface: "bios", Step: "apply", Args: map[string]any{"admin_password": planted(place)}}
	if place == "template" {
		s.Args["settings"] = []any{
			map[string]any{"name": "Boot", "value": "Uefi"},
			map[string]any{"name": "AdminPassword", "value": planted("bios_value")},
			"https://user:" + planted("url") + "@host/",
		}
	}
	return s
}

func secretEffect(n int) node.Effect {
	return node.Effect{Node: uuid(n), Generation: 7, Name: "driver.execute_step", RunAt: at(n),
		Args: []byte(`{"n":12345678901234567890,"step":{"args":{"password":"` + planted("effect") + `"}}}`)}
}

func secretTemplate(n int) node.DeployTemplate {
	return node.DeployTemplate{Record: record(n), Name: fmt.Sprintf("CUSTOM_%d", n),
		Steps: []node.Step{secretStep("template")}}
}

func secretRunbook(n int) node.Runbook {
	return node.Runbook{Record: record(n), Name: fmt.Sprintf("CUSTOM_%d", n),
		Steps: []node.RunbookStep{{Step: secretStep("runbook"), Order: 1}}}
}

func secretTarget(n int) node.VolumeTarget {
	return node.VolumeTarget{Record: record(n), NodeUUID: uuid(n), VolumeType: "iscsi", VolumeID: "v",
		Properties: map[string]any{"target_portal": "10.0.0.1", "auth_password": planted("volume")}}
}

func secretRule(n int) node.InspectionRule {
	return node.InspectionRule{Record: record(n), Phase: "main", Actions: []node.Clause{{Op: "set-attribute",
		Args: []any{"/driver_info/redfish_password", planted("rule")}, Loop: []any{planted("loop")}}}}
}

// Plant stores a record of every kind that holds secrets, of node n, which it adds.
func Plant(t testing.TB, s store.Store, n int) {
	t.Helper()
	v, all := secretNode(n), s.Catalogs()
	_, err := s.Commit(t.Context(), node.Change{Insert: &v, Effects: []node.Effect{secretEffect(n)}})
	planting(t, err)
	_, err = all.DeployTemplates.Insert(t.Context(), secretTemplate(n))
	planting(t, err)
	_, err = all.Runbooks.Insert(t.Context(), secretRunbook(n))
	planting(t, err)
	_, err = all.VolumeTargets.Insert(t.Context(), secretTarget(n))
	planting(t, err)
	_, err = all.InspectionRules.Insert(t.Context(), secretRule(n))
	planting(t, err)
}

func planting(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// CheckPlanted reads every record that Plant has stored, in each way there is.
func CheckPlanted(t *testing.T, s store.Store, n int) {
	t.Helper()
	want := secretNode(n)
	want.Revision = 1
	got, err := s.Node(t.Context(), uuid(n))
	check(t, err)
	equal(t, want, got)
	listed, err := s.Nodes(t.Context(), node.Query{UUIDs: []string{uuid(n)}})
	check(t, err)
	equal(t, []node.Node{want}, listed)
	pending, err := s.PendingEffect(t.Context(), uuid(n))
	check(t, err)
	equal(t, string(secretEffect(n).Args), string(pending.Args))
	all := s.Catalogs()
	checkRecord(t, all.DeployTemplates, secretTemplate(n))
	checkRecord(t, all.Runbooks, secretRunbook(n))
	checkRecord(t, all.VolumeTargets, secretTarget(n))
	checkRecord(t, all.InspectionRules, secretRule(n))
}

func checkRecord[T any, P node.Recorded[T]](t *testing.T, c node.Catalog[T], want T) {
	t.Helper()
	P(&want).Head().Revision = 1
	got, err := c.Find(t.Context(), P(&want).Head().UUID)
	check(t, err)
	equal(t, want, got)
	all, err := c.List(t.Context(), "")
	check(t, err)
	for _, v := range all {
		if P(&v).Head().UUID == P(&want).Head().UUID {
			equal(t, want, v)
		}
	}
}

// testSecrets: secrets come back as they were given, byte by byte, and the caller's own
// records are left alone.
func testSecrets(t *testing.T, s store.Store) {
	Plant(t, s, 1)
	Plant(t, s, 2)
	CheckPlanted(t, s, 1)
	CheckPlanted(t, s, 2)
	v := secretNode(1)
	v.Revision = 1
	saved, err := s.Commit(t.Context(), node.Change{Save: &v})
	check(t, err)
	equal(t, secretNode(1).DriverInfo, v.DriverInfo)
	got, err := s.Node(t.Context(), v.UUID)
	check(t, err)
	equal(t, saved, got)
	v = got
	v.DriverInfo, v.DriverInternalInfo, v.InstanceInfo, v.Run, v.Agent = nil, nil, nil, nil, node.Agent{}
	_, err = s.Commit(t.Context(), node.Change{Save: &v})
	check(t, err)
	got, err = s.Node(t.Context(), v.UUID)
	check(t, err)
	if len(got.DriverInfo) > 0 || got.Run != nil || got.Agent.Token != "" {
		t.Errorf("secrets that were removed are back: %+v", got)
	}
	claimed, err := s.Claim(t.Context(), "me", at(30), time.Minute, []string{uuid(1), uuid(2)})
	check(t, err)
	for _, e := range claimed {
		equal(t, string(secretEffect(1).Args), string(e.Args))
	}
	equal(t, 2, len(claimed))
}
