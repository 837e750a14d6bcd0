package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestStoredPassword: a caller that does not know a stored password cannot have it sent elsewhere. A refused patch
// changes nothing.
func TestStoredPassword(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"https://a","redfish_password":"p"}}`)
	const elsewhere = `{"op":"replace","path":"/driver_info/redfish_address","value":"https://evil"}`
	for _, patch := range []string{
		"[" + elsewhere + `,{"op":"add","path":"/extra/a","value":1}]`,
		`[{"op":"replace","path":"/driver_info","value":{"redfish_address":"https://evil","redfish_password":"******"}}]`,
	} {
		r := c.must(http.StatusBadRequest, 115, "PATCH", "/v1/nodes/n1", patch)
		if !strings.Contains(r.text(), "driver_info/redfish_password") {
			t.Errorf("the answer is %q", r.text())
		}
	}
	n := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1", "").doc(t)
	if info, _ := n["driver_info"].(map[string]any); info["redfish_address"] != "https://a" ||
		len(n["extra"].(map[string]any)) != 0 {
		t.Errorf("the node became %v, %v", info, n["extra"])
	}
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		"["+elsewhere+`,{"op":"add","path":"/driver_info/redfish_password","value":"q"}]`)
	c.must(http.StatusBadRequest, 115, "POST", "/v1/nodes",
		`{"driver":"redfish","driver_info":{"redfish_password":"******"}}`)
}

// TestStoredPullSecret: likewise the secret of a registry, which another registry
// would be shown.
func TestStoredPullSecret(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","instance_info":{"image_source":"oci://r/os:1","image_pull_secret":"u:p"}}`)
	const elsewhere = `{"op":"replace","path":"/instance_info/image_source","value":"oci://evil/os:1"}`
	r := c.must(http.StatusBadRequest, 115, "PATCH", "/v1/nodes/n1", "["+elsewhere+"]")
	if !strings.Contains(r.text(), "instance_info/image_pull_secret") {
		t.Errorf("the answer is %q", r.text())
	}
	n := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1", "").doc(t)
	if info, _ := n["instance_info"].(map[string]any); info["image_source"] != "oci://r/os:1" {
		t.Errorf("the node became %v", info)
	}
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		"["+elsewhere+`,{"op":"add","path":"/instance_info/image_pull_secret","value":"q:r"}]`)
}
