package redfish

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/google/go-cmp/cmp"
)

const resetPath = systemPath + resetAction

// messageOf is the message id of an error body.
func messageOf(t *testing.T, body string) string {
	t.Helper()
	var e errorBody
	if err := json.Unmarshal([]byte(body), &e); err != nil || len(e.Error.Extended) != 1 ||
		e.Error.Code != e.Error.Extended[0].ID {
		t.Fatalf("error body %q: %v", body, err)
	}
	return strings.TrimPrefix(e.Error.Code, "Base.1.16.")
}

func TestErrors(t *testing.T) {
	boot := func(s string) string { return `{"Boot": {` + s + `}}` }
	tests := []struct {
		name, method, path, body string
		status                   int
		message                  string
	}{
		{"no such place", "GET", rootPath + "/Nothing", "", 404, "ResourceMissingAtURI"},
		{"no such member", "GET", systemPath + "/EthernetInterfaces/3", "", 404, "ResourceMissingAtURI"},
		{"no such drive", "GET", storagePath + "/Drives/0", "", 404, "ResourceMissingAtURI"},
		{"no such session", "DELETE", sessionsPath + "/7", "", 404, "ResourceMissingAtURI"},
		{"no such session to read", "GET", sessionsPath + "/7", "", 404, "ResourceMissingAtURI"},
		{"wrong method", "DELETE", systemPath, "", 405, "OperationNotAllowed"},
		{"not json", "POST", resetPath, "{", 400, "MalformedJSON"},
		{"two values", "POST", resetPath, `{"ResetType":"On"}{}`, 400, "MalformedJSON"},
		{"wrong type", "POST", resetPath, `{"ResetType": 1}`, 400, "MalformedJSON"},
		{"too long", "POST", resetPath, `{"ResetType": "` + strings.Repeat("x", maxBody) + `"}`, 400, "MalformedJSON"},
		{"no reset type", "POST", resetPath, "", 400, "ActionParameterMissing"},
		{"reset type of no use", "POST", resetPath, `{"ResetType": "Suspend"}`, 400, "ActionParameterValueNotInList"},
		{"restart while off", "POST", resetPath, `{"ResetType": "ForceRestart"}`, 409, "ChassisPowerStateOnRequired"},
		{"manager reset", "POST", managerPath + managerResetAction, `{"ResetType": "On"}`, 400,
			"ActionParameterValueNotInList"},
		{"nothing to patch", "PATCH", systemPath, "{}", 400, "PropertyMissing"},
		{"unknown property", "PATCH", systemPath, `{"AssetTag": "x"}`, 400, "PropertyUnknown"},
		{"unknown boot property", "PATCH", systemPath, boot(`"BootOrder": []`), 400, "PropertyUnknown"},
		{"bad target", "PATCH", systemPath, boot(`"BootSourceOverrideTarget": "Usb", "BootSourceOverrideEnabled": "Once"`),
			400, "PropertyValueNotInList"},
		{"bad enabled", "PATCH", systemPath, boot(`"BootSourceOverrideEnabled": "Twice"`), 400, "PropertyValueNotInList"},
		{"bad mode", "PATCH", systemPath, boot(`"BootSourceOverrideMode": "BIOS"`), 400, "PropertyValueNotInList"},
		{"target nobody enabled", "PATCH", systemPath, boot(`"BootSourceOverrideTarget": "Pxe"`), 400,
			"PropertyValueConflict"},
		{"http in legacy mode", "PATCH", systemPath,
			boot(
				`"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once", "BootSourceOverrideMode": "Legacy"`),
			400, "PropertyValueConflict"},
		{"no image", "POST", mediaPath + insertAction, "{}", 400, "ActionParameterMissing"},
		{"writable cd", "POST", mediaPath + insertAction, `{"Image": "http://x/y", "WriteProtected": false}`, 400,
			"ActionParameterValueNotInList"},
		{"image by ftp", "POST", mediaPath + insertAction, `{"Image": "ftp://x/y"}`, 400, "CouldNotEstablishConnection"},
		{"image that is not an address", "POST", mediaPath + insertAction, `{"Image": "http://%zz"}`, 400,
			"CouldNotEstablishConnection"},
		{"login without a name", "POST", sessionsPath, `{}`, 400, "PropertyMissing"},
		{"login with the wrong password", "POST", sessionsPath, `{"UserName": "admin", "Password": "x"}`, 401,
			"ResourceAtUriUnauthorized"},
	}
	b := newBench(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := b.machine.Boot()
			response, body := b.Call(t, tt.method, tt.path, tt.body)
			if response.StatusCode != tt.status || messageOf(t, body) != tt.message {
				t.Errorf("%s: %s, expected %d %s", response.Status, body, tt.status, tt.message)
			}
			if diff := cmp.Diff(before, b.machine.Boot()); diff != "" {
				t.Errorf("a refused request changed the boot settings:\n%s", diff)
			}
		})
	}
	response, _ := b.Call(t, "DELETE", systemPath, "")
	if got := response.Header.Get("Allow"); got != "GET, PATCH, HEAD" {
		t.Errorf("Allow: %q", got)
	}
}

func TestInternalError(t *testing.T) {
	b := newBench(t)
	b.machine.SetFailure(errors.New("qemu is not installed"))
	response, body := b.Call(t, "POST", resetPath, `{"ResetType": "On"}`)
	if response.StatusCode != 500 || messageOf(t, body) != "InternalError" ||
		!strings.Contains(body, "qemu is not installed") {
		t.Errorf("%s: %s", response.Status, body)
	}
	b.machine.SetFailure(nil)
}

func TestBootOverrideOnce(t *testing.T) {
	b := newBench(t)
	response, body := b.Call(t, "PATCH", systemPath,
		`{"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`)
	if response.StatusCode != http.StatusNoContent {
		t.Fatalf("%s: %s", response.Status, body)
	}
	if diff := cmp.Diff(qemu.Boot{Target: "Pxe", Enabled: "Once", Firmware: "uefi"}, b.machine.Boot()); diff != "" {
		t.Errorf("boot (-want +got):\n%s", diff)
	}
	if response, body := b.Call(t, "POST", resetPath+"/",
		`{"ResetType": "On"}`); response.StatusCode != http.StatusNoContent {
		t.Fatalf("%s: %s", response.Status, body)
	}
	_, body = b.Call(t, "GET", systemPath+"/", "")
	for _, want := range []string{`"PowerState":"On"`, `"BootSourceOverrideEnabled":"Disabled"`,
		`"BootSourceOverrideTarget":"None"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	// The second of two patches as Ironic sends them when only the target changes.
	for _, patch := range []string{`"BootSourceOverrideTarget": "Hdd", "BootSourceOverrideEnabled": "Continuous"`,
		`"BootSourceOverrideTarget": "Pxe"`, `"BootSourceOverrideMode": "Legacy"`} {
		if response, body := b.Call(t, "PATCH", systemPath,
			`{"Boot": {`+patch+`}}`); response.StatusCode != http.StatusNoContent {
			t.Fatalf("%s: %s", response.Status, body)
		}
	}
	if diff := cmp.Diff(qemu.Boot{Target: "Pxe", Enabled: "Continuous", Firmware: "bios"}, b.machine.Boot()); diff != "" {
		t.Errorf("boot (-want +got):\n%s", diff)
	}
}

func TestETags(t *testing.T) {
	b := newBench(t)
	patch := `{"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`
	response, _ := b.Call(t, "GET", systemPath, "")
	tag := response.Header.Get("ETag")
	if response, _ := b.Call(t, "GET", systemPath, "", "If-None-Match",
		tag); response.StatusCode != http.StatusNotModified {
		t.Errorf("unchanged resource: %s", response.Status)
	}
	if response, body := b.Call(t, "PATCH", systemPath, patch, "If-Match", `"stale"`); response.StatusCode != 412 ||
		messageOf(t, body) != "PreconditionFailed" {
		t.Errorf("stale tag: %s %s", response.Status, body)
	}
	if response, _ := b.Call(t, "PATCH", systemPath, patch, "If-Match", tag); response.StatusCode != http.StatusNoContent {
		t.Errorf("current tag: %s", response.Status)
	}
	if response, _ := b.Call(t, "PATCH", systemPath, patch, "If-Match", tag); response.StatusCode != 412 {
		t.Errorf("tag from before the change: %s", response.Status)
	}
	response, _ = b.Call(t, "HEAD", systemPath, "")
	if response, _ := b.Call(t, "PATCH", systemPath, patch, "If-Match",
		`"x", W/`+response.Header.Get("ETag")); response.StatusCode != http.StatusNoContent {
		t.Errorf("weakened tag in a list: %s", response.Status)
	}
	if response, _ := b.Call(t, "PATCH", systemPath, patch, "If-Match", "*"); response.StatusCode != http.StatusNoContent {
		t.Errorf("any tag: %s", response.Status)
	}
	if response, _ := b.Call(t, "POST", resetPath, `{"ResetType": "On"}`, "If-Match",
		`"stale"`); response.StatusCode != http.StatusNoContent {
		t.Errorf("an action is not a change of the resource: %s", response.Status)
	}
}

func TestAuthentication(t *testing.T) {
	b := newBench(t)
	status := func(method, path string, header ...string) int {
		response, body := b.Call(t, method, path, "", header...)
		if response.StatusCode == 401 && (response.Header.Get("WWW-Authenticate") == "" || messageOf(t, body) == "") {
			t.Errorf("401 without a challenge or a message: %v", response.Header)
		}
		return response.StatusCode
	}
	for _, open := range []string{"/redfish", rootPath, rootPath + "/", rootPath + "/odata", rootPath + "/$metadata"} {
		if got := status("GET", open, "Authorization", ""); got != 200 {
			t.Errorf("%s without authentication: %d", open, got)
		}
	}
	for _, closed := range []string{systemPath, sessionsPath, rootPath + "/Managers"} {
		if got := status("GET", closed, "Authorization", ""); got != 401 {
			t.Errorf("%s without authentication: %d", closed, got)
		}
	}
	if got := status("GET", systemPath, "Authorization", "Basic eDp5"); got != 401 {
		t.Errorf("wrong basic authentication: %d", got)
	}
	if got := status("GET", systemPath, "X-Auth-Token", "nonsense"); got != 401 {
		t.Errorf("wrong token: %d", got)
	}
	c := b.Counters()
	if c.Logins != 1 || c.LoginFailures != 1 || c.Requests != 10 || c.Calls["GET "+systemPath] != 3 {
		t.Errorf("counters %+v", c)
	}
}

func TestSessions(t *testing.T) {
	b := newBench(t)
	login := func() (*http.Response, string) {
		return b.Call(t, "POST", sessionsPath, `{"UserName": "admin", "Password": "pass word"}`, "Authorization", "")
	}
	use := func(token string) int {
		response, _ := b.Call(t, "GET", systemPath, "", "Authorization", "", "X-Auth-Token", token)
		return response.StatusCode
	}
	first, body := login()
	token, location := first.Header.Get("X-Auth-Token"), first.Header.Get("Location")
	if first.StatusCode != 201 || token == "" || location != sessionsPath+"/1" || strings.Contains(body, token) {
		t.Fatalf("%s %v %s", first.Status, first.Header, body)
	}
	if got := use(token); got != 200 {
		t.Errorf("new session: %d", got)
	}
	second, _ := login()
	if response, body := login(); response.StatusCode != 503 || messageOf(t, body) != "SessionLimitExceeded" {
		t.Errorf("a session too many: %s %s", response.Status, body)
	}
	if response, _ := b.Call(t, "DELETE", location, ""); response.StatusCode != http.StatusNoContent {
		t.Errorf("logout: %s", response.Status)
	}
	if got := use(token); got != 401 {
		t.Errorf("session after logout: %d", got)
	}
	token = second.Header.Get("X-Auth-Token")
	b.clock.Advance(50 * time.Second)
	if got := use(token); got != 200 {
		t.Errorf("session in use: %d", got)
	}
	b.clock.Advance(50 * time.Second)
	if got := use(token); got != 200 {
		t.Errorf("session kept by use: %d", got)
	}
	b.clock.Advance(61 * time.Second)
	if got := use(token); got != 401 {
		t.Errorf("session idle for too long: %d", got)
	}
	third, _ := login()
	if response, _ := b.Call(t, "POST", managerPath+managerResetAction,
		`{"ResetType": "GracefulRestart"}`); response.StatusCode != http.StatusNoContent {
		t.Errorf("manager reset: %s", response.Status)
	}
	b.clock.Advance(b.config.RestartTime)
	if got := use(third.Header.Get("X-Auth-Token")); got != 401 {
		t.Errorf("session after the controller's reset: %d", got)
	}
	if c := b.Counters(); c.Sessions != 0 || c.LoginFailures != 0 {
		t.Errorf("counters %+v", c)
	}
}

func TestVirtualMedia(t *testing.T) {
	b := newBench(t)
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/cd.iso" && user+":"+password == "u:p":
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("an image"))
		case r.URL.Path == "/whole.iso": // no ranges
			w.Write([]byte("an image"))
		case r.URL.Path == "/empty.iso":
		default:
			http.NotFound(w, r)
		}
	}))
	defer images.Close()
	insert := func(body string) (int, string) {
		response, text := b.Call(t, "POST", mediaPath+insertAction, strings.ReplaceAll(body, "HOST", images.URL))
		return response.StatusCode, text
	}
	for _, bad := range []string{"gone.iso", "whole.iso", "empty.iso"} {
		if status, body := insert(`{"Image": "HOST/` + bad + `"}`); status != 400 ||
			messageOf(t, body) != "CouldNotEstablishConnection" {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
	if status, body := insert(
		`{"Image": "HOST/cd.iso", "Inserted": true, "WriteProtected": true, "UserName": "u", "Password": "p", "TransferProtocolType": "HTTP"}`); status != http.StatusNoContent {
		t.Fatalf("insert: %d %s", status, body)
	}
	if b.machine.Media() != "an image" {
		t.Errorf("machine has %q", b.machine.Media())
	}
	_, body := b.Call(t, "GET", mediaPath, "")
	if !strings.Contains(body, `"ImageName":"cd.iso","ConnectedVia":"URI","Inserted":true`) {
		t.Error(body)
	}
	if status, body := insert(`{"Image": "HOST/cd.iso"}`); status != 409 || messageOf(t, body) != "ResourceInUse" {
		t.Errorf("insert twice: %d %s", status, body)
	}
	for range 2 { // an empty drive stays empty
		if response, body := b.Call(t, "POST", mediaPath+ejectAction, ""); response.StatusCode != http.StatusNoContent {
			t.Errorf("eject: %s %s", response.Status, body)
		}
	}
	if b.machine.Media() != "" {
		t.Errorf("machine still has %q", b.machine.Media())
	}
	b.machine.SetFailure(errors.New("tray stuck"))
	if status, _ := insert(`{"Image": "HOST/cd.iso", "UserName": "u", "Password": "p"}`); status != 500 {
		t.Errorf("stuck tray: %d", status)
	}
	b.machine.SetFailure(nil)
	if image, _ := b.media.inserted(); image != "" {
		t.Errorf("the drive claims %q", image)
	}
}
