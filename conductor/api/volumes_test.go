package api_test

import (
	"net/http"
	"strings"
	"testing"
)

const (
	connectors    = "/v1/volume/connectors"
	volumeTargets = "/v1/volume/targets"
	target        = "ffffffff-0000-4000-8000-000000000001"
	connector     = "ffffffff-0000-4000-8000-000000000002"
)

// withVolumes has a connector and a volume of node a, which is on.
func withVolumes(t *testing.T) *conductor {
	t.Helper()
	c := withPorts(t)
	c.must(http.StatusCreated, 32, "POST", connectors,
		`{"uuid":"`+connector+`","node_uuid":"`+nodeA+`","type":"iqn","connector_id":"iqn.2017-07.org:01"}`)
	c.must(http.StatusCreated, 32, "POST", volumeTargets,
		`{"uuid":"`+target+`","node_uuid":"`+nodeA+
			`","volume_type":"iscsi","boot_index":0,"volume_id":"v1","properties":{"target_iqn":"i","auth_password":"pa55","deep":{"auth_password":"pa55"}}}`)
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/a/states/power", `{"target":"power on"}`)
	c.settle("a")
	return c
}

func TestVolumeRefusals(t *testing.T) {
	c := withVolumes(t)
	ofA := `"node_uuid":"` + nodeA + `"`
	post := func(path, body string, status int, text string) refusal {
		return refusal{115, "POST", path, `{` + body + `}`, status, text}
	}
	inUse := func(what string) string {
		return `The requested action "` + what + `" can not be performed on node "` + nodeA +
			`" while it is in state "power on".`
	}
	edit := `[{"op":"add","path":"/extra/a","value":1}]`
	c.refuses(t, []refusal{
		{31, "GET", "/v1/volume", "", 404, ""},
		{31, "GET", connectors, "", 404, ""},
		{31, "POST", volumeTargets, `{}`, 404, ""},
		{31, "GET", "/v1/nodes/a/volume/targets", "", 404, ""},
		post(connectors, ofA+`,"type":"iqn","connector_id":"iqn.2017-07.org:01"`, 409,
			"A volume connector with type iqn and connector ID iqn.2017-07.org:01 already exists."),
		post(connectors, ofA+`,"type":"iqn"`, 400, "Schema error for connector: 'connector_id' is a required property"),
		post(connectors, ofA+`,"type":null,"connector_id":"x"`, 400, "'type' is a required property"),
		post(connectors, ofA+`,"type":7,"connector_id":"x"`, 400, "7 is not of type 'string'"),
		post(connectors, `"type":"iqn","connector_id":"x","node_uuid":"`+nowhere+`"`, 400,
			"Node "+nowhere+" could not be found."),
		post(volumeTargets, ofA+`,"volume_type":"iscsi","boot_index":0,"volume_id":"v2"`, 409,
			"A volume target with boot index '0' for the same node already exists."),
		post(volumeTargets, ofA+`,"volume_type":"iscsi","volume_id":"v2"`, 400,
			"Schema error for target: 'boot_index' is a required property"),
		post(volumeTargets, ofA+`,"volume_type":"iscsi","boot_index":"1","volume_id":"v2"`, 400,
			"'1' is not of type 'integer'"),
		post(volumeTargets, ofA+`,"volume_type":"iscsi","boot_index":1.5,"volume_id":"v2"`, 400,
			"1.5 is not of type 'integer'"),
		post(volumeTargets, ofA+`,"volume_type":"iscsi","boot_index":1,"volume_id":"v2","bogus":1`, 400,
			"('bogus' was unexpected)"),
		{115, "PATCH", volumeTargets + "/" + target, edit, 400, inUse("volume target update")},
		{115, "DELETE", volumeTargets + "/" + target, "", 400, inUse("volume target deletion")},
		{115, "PATCH", connectors + "/" + connector, edit, 400, inUse("volume connector update")},
		{115, "DELETE", connectors + "/" + connector, "", 400, inUse("volume connector deletion")},
		{115, "GET", volumeTargets + "/" + nowhere, "", 404, "Volume target " + nowhere + " could not be found."},
		{115, "GET", connectors + "/x", "", 400, "Expected UUID for connector_uuid: x"},
		{115, "GET", volumeTargets + "?node=nobody", "", 404, "Node nobody could not be found."},
		{115, "GET", volumeTargets + "?fields=uuid&detail=True", "", 400, "fields"},
		{115, "GET", volumeTargets + "?sort_key=properties", "", 400, "invalid field for sorting"},
		{115, "GET", "/v1/nodes/nobody/volume", "", 404, "Node nobody could not be found."},
	})
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/a/states/power", `{"target":"power off"}`)
	c.settle("a")
	c.refuses(t, []refusal{
		{115, "PATCH", volumeTargets + "/" + target, `[{"op":"replace","path":"/node_uuid","value":"` + nowhere + `"}]`, 400,
			"Node " + nowhere + " could not be found."},
		{115, "PATCH", volumeTargets + "/" + target, `[{"op":"remove","path":"/volume_id"}]`, 400,
			"'volume_id' is a required property"},
		{115, "PATCH", volumeTargets + "/" + target, `[{"op":"replace","path":"/uuid","value":"` + nowhere + `"}]`, 400,
			"Cannot patch /uuid. Only the following can be updated: boot_index, extra, node_uuid, properties, volume_id, " +
				"volume_type"},
	})
}

// TestVolumes: once the machine is off, its volumes can be changed. Secrets are kept and never shown.
func TestVolumes(t *testing.T) {
	c := withVolumes(t)
	c.must(http.StatusCreated, 115, "POST", volumeTargets,
		`{"node_uuid":"`+nodeB+`","volume_type":"iscsi","boot_index":0,"volume_id":"v1"}`)
	for path, want := range map[string]int{
		volumeTargets: 2, volumeTargets + "?node=a": 1, volumeTargets + "?node=" + nodeB + "&detail=True": 1,
		volumeTargets + "?limit=1": 1, "/v1/nodes/a/volume/targets": 1, "/v1/nodes/b/volume/targets?detail=True": 1,
	} {
		if got := c.must(http.StatusOK, 32, "GET", path, "").doc(t)["targets"].([]any); len(got) != want {
			t.Errorf("%s: %d targets, want %d", path, len(got), want)
		}
	}
	if got := c.must(http.StatusOK, 32, "GET", "/v1/nodes/b/volume/connectors", "").body; got != `{"connectors":[]}` {
		t.Errorf("connectors of b: %s", got)
	}
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/a/states/power", `{"target":"power off"}`)
	c.settle("a")
	r := c.must(http.StatusOK, 115, "PATCH", volumeTargets+"/"+target,
		`[{"op":"add","path":"/properties/target_lun","value":1},{"op":"replace","path":"/boot_index","value":1}]`)
	doc := r.doc(t)
	if p, _ := doc["properties"].(map[string]any); doc["boot_index"] != 1.0 || p["target_lun"] != 1.0 ||
		p["target_iqn"] != "i" || p["auth_password"] != "******" {
		t.Errorf("patched: %s", r.body)
	}
	for _, path := range []string{volumeTargets + "/" + target, volumeTargets + "?detail=True",
		volumeTargets + "?fields=properties", "/v1/nodes/a/volume/targets?detail=True"} {
		r.body += c.must(http.StatusOK, 115, "GET", path, "").body
	}
	if strings.Contains(r.body, "pa55") || strings.Contains(c.Log.String(), "pa55") {
		t.Errorf("a secret was told:\n%s\n%s", r.body, c.Log)
	}
	kept, err := c.Engine.Catalogs().VolumeTargets.Find(t.Context(), target)
	if err != nil || kept.Properties["auth_password"] != "pa55" {
		t.Errorf("a secret was lost: %v %v", kept.Properties, err)
	}
	c.must(http.StatusNoContent, 115, "DELETE", volumeTargets+"/"+target, "")
	c.must(http.StatusNoContent, 115, "DELETE", connectors+"/"+connector, "")
	c.must(http.StatusNotFound, 115, "GET", connectors+"/"+connector, "")
}
