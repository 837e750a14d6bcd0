package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestManagement sends the requests that act on the BMC. It checks the status, and the answer or its Location.
func TestManagement(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"fake"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"redfish","name":"real","driver_info":{"redfish_address":"https://h"}}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"redfish","name":"bare"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"dull","console_interface":"no-console","vendor_interface":"no-vendor"}`)
	const fake, real, bare, dull = "/v1/nodes/fake", "/v1/nodes/real", "/v1/nodes/bare", "/v1/nodes/dull"
	for _, tc := range []struct {
		minor              int
		method, path, body string
		status             int
		want               string // in the answer, or the Location
	}{
		{76, "PUT", fake + "/states/boot_mode", `{"target":"uefi"}`, 202, fake + "/states"},
		{76, "PUT", fake + "/states/boot_mode?target=bios", ``, 202, fake + "/states"},
		{75, "PUT", fake + "/states/boot_mode", `{"target":"uefi"}`, 404, "starting with the API version 1.76"},
		{76, "PUT", fake + "/states/boot_mode", `{"target":null}`, 400,
			"Invalid boot mode None requested for node. Allowed boot modes are: bios, uefi"},
		{76, "PUT", fake + "/states/boot_mode", `{"target":["uefi"]}`, 400, "Expected string for target"},
		{76, "PUT", fake + "/states/boot_mode", `{}`, 400, "Missing mandatory parameter: target"},
		{76, "PUT", fake + "/states/boot_mode", `{"target":"uefi","x":1}`, 400, "Unexpected arguments: x"},
		{76, "PUT", bare + "/states/boot_mode", `{"target":"uefi"}`, 400, "redfish_address"},
		{76, "PUT", "/v1/nodes/nobody/states/boot_mode", `{"target":"uefi"}`, 404, "nobody could not be found"},

		{76, "PUT", real + "/states/secure_boot", `{"target":"on"}`, 202, real + "/states"},
		{75, "PUT", real + "/states/secure_boot", `{"target":true}`, 404, "starting with the API version 1.76"},
		{76, "PUT", real + "/states/secure_boot", `{"target":null}`, 400, "Invalid target None"},
		{76, "PUT", real + "/states/secure_boot", `{"target":"zz"}`, 400, "Unrecognized value 'zz'"},
		{76, "PUT", real + "/states/secure_boot", ``, 400, "Missing mandatory parameter: target"},

		{29, "PUT", fake + "/management/inject_nmi", `{}`, 400,
			"Driver fake-hardware does not support inject_nmi (disabled or not implemented)."},
		{29, "PUT", real + "/management/inject_nmi", `{}`, 409, "powered off"},
		{28, "PUT", real + "/management/inject_nmi", `{}`, 404, ""},
		{29, "PUT", real + "/management/inject_nmi", `{"x":1}`, 400, "Unexpected arguments: x"},

		{63, "GET", fake + "/management/indicators", ``, 200, `"name":"led@system"`},
		{62, "GET", fake + "/management/indicators", ``, 404, ""},
		{63, "GET", real + "/management/indicators", ``, 400, "does not support get_supported_indicators"},
		{63, "GET", fake + "/management/indicators/led@system", ``, 200, `{"state":"on"}`},
		{63, "GET", fake + "/management/indicators/system/led", ``, 200, `{"state":"on"}`},
		{63, "GET", fake + "/management/indicators/led", ``, 400, `Malformed indicator name "led"`},
		{63, "GET", fake + "/management/indicators/led@tail", ``, 400, "Invalid indicator led specified."},
		{63, "PUT", fake + "/management/indicators/led@system", `{"state":"blinking"}`, 204, ""},
		{63, "PUT", fake + "/management/indicators/system/led?state=off", ``, 204, ""},
		{63, "PUT", fake + "/management/indicators/led@system", `{"state":"unknown"}`, 400,
			`Invalid indicator state "unknown"`},
		{63, "PUT", fake + "/management/indicators/led@system", `{}`, 400, "Missing mandatory parameter: state"},

		{5, "GET", real + "/states/console", ``, 200, `{"console_enabled":false,"console_info":null}`},
		{5, "PUT", real + "/states/console", `{"enabled":true}`, 400,
			"Driver redfish does not support console (disabled or not implemented)."},
		{5, "PUT", dull + "/states/console", `{"enabled":false}`, 400, "does not support console"},
		{5, "PUT", fake + "/states/console", `{"enabled":null}`, 400, "Invalid enabled None"},
		{5, "PUT", fake + "/states/console", `{}`, 400, "Missing mandatory parameter: enabled"},
		{5, "PUT", fake + "/states/console", `{"enabled":"yes"}`, 202, fake + "/states/console"},
		{5, "GET", fake + "/states/console", ``, 200, `{"console_enabled":true,"console_info":{}}`},

		{5, "GET", dull + "/vendor_passthru/methods", ``, 200, `{}`},
		{5, "POST", dull + "/vendor_passthru/third_method_sync", `{"bar":"meow"}`, 400,
			"No handler for method third_method_sync"},
		{5, "POST", fake + "/vendor_passthru?method=third_method_sync", `{"bar":"moo"}`, 200, "false"},
		{5, "POST", fake + "/vendor_passthru/fourth_method_shared_lock", `{"bar":"woof"}`, 202, ""},
		{5, "POST", fake + "/vendor_passthru/second_method", `null`, 400,
			"Parameter 'bar' not passed to method 'second_method'."},
		{5, "POST", fake + "/vendor_passthru/second_method", `[]`, 400, "expected an object"},
		{5, "POST", fake + "/vendor_passthru/second_method?bar=kazoo", ``, 400, "Unexpected arguments: bar"},
		{5, "DELETE", fake + "/vendor_passthru?method=second_method", ``, 400,
			"The method second_method does not support HTTP DELETE"},
		{5, "PATCH", fake + "/vendor_passthru", ``, 400, "Missing mandatory parameter: method"},
		{1, "GET", "/v1/drivers/redfish/vendor_passthru/methods", ``, 200, `{}`},
		{1, "GET", "/v1/drivers/nope/vendor_passthru/methods", ``, 404, "nope"},
		{1, "PUT", "/v1/drivers/redfish/vendor_passthru?method=x", ``, 400, "No handler for method x"},
		{1, "PUT", "/v1/drivers/redfish/vendor_passthru", ``, 400, "Missing mandatory parameter: method"},
		{1, "POST", "/v1/drivers/nope/vendor_passthru/x", ``, 404, "nope"},
	} {
		got := c.do(tc.minor, tc.method, tc.path, tc.body)
		if said := got.body + got.text() + got.header.Get("Location"); got.status != tc.status ||
			!strings.Contains(said, tc.want) {
			t.Errorf("1.%d %s %s %s: %d %s, want %d %s", tc.minor, tc.method, tc.path, tc.body, got.status, said,
				tc.status, tc.want)
		}
		if parts := strings.Split(tc.path, "/"); got.status == http.StatusAccepted {
			c.settle(parts[3])
		}
	}
	n := c.settle("fake")
	if n.BootMode != "bios" || !n.ConsoleEnabled || n.LastError != "" {
		t.Errorf("boot mode %q, console %v, last error %q", n.BootMode, n.ConsoleEnabled, n.LastError)
	}
	if n = c.settle("real"); n.SecureBoot == nil || !*n.SecureBoot || n.LastError != "" {
		t.Errorf("secure boot %v, last error %q", n.SecureBoot, n.LastError)
	}
}

// TestChoreFails: a failure after the answer is in last_error. Until then the node is reported as locked.
func TestChoreFails(t *testing.T) {
	c := newConductor(t)
	const path = "/v1/nodes/n1"
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	c.must(http.StatusAccepted, 76, "PUT", path+"/states/secure_boot", `{"target":true}`)
	c.settle("n1")
	got := c.must(http.StatusOK, 115, "GET", path+"/states", "").doc(t)
	if want := "Failed to change secure_boot state to 'true': Driver fake-hardware does not support " +
		"set_secure_boot_state (disabled or not implemented)."; got["last_error"] != want || got["secure_boot"] != nil {
		t.Errorf("last error %q, secure boot %v", got["last_error"], got["secure_boot"])
	}
	c.must(http.StatusAccepted, 5, "POST", path+"/vendor_passthru/second_method", `{"bar":"woe"}`)
	if n := c.settle("n1"); n.LastError != "Vendor method second_method failed: woe" {
		t.Errorf("last error %q", n.LastError)
	}
}

// TestBMCFails: a BMC in trouble is a 502 that names the trouble, a silent BMC is a 504. Neither is a fault of the
// conductor.
func TestBMCFails(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"https://h"}}`)
	c.BMC.Break(errors.New("the BMC at https://user:secret@h does not answer"))
	got := c.do(115, "PUT", "/v1/nodes/n1/management/inject_nmi", `{}`)
	if got.status != http.StatusBadGateway || !strings.Contains(got.text(), "does not answer") ||
		strings.Contains(got.body, "secret") || !strings.Contains(got.body, "Server") {
		t.Errorf("%d %s", got.status, got.body)
	}
	c.BMC.Break(fmt.Errorf("GET https://h: %w", context.DeadlineExceeded))
	if got := c.do(115, "PUT", "/v1/nodes/n1/management/inject_nmi", `{}`); got.status != http.StatusGatewayTimeout {
		t.Errorf("a silent one: %d %s", got.status, got.body)
	}
}
