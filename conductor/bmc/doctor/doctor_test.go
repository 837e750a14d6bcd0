package doctor

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

const system = "/redfish/v1/Systems/1"

// watched is a recorded BMC that notes the requests to it.
type watched struct {
	*recorded.Server
	mu     sync.Mutex
	writes []string // all but reads and requests about sessions
}

func (w *watched) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	session := strings.HasPrefix(r.URL.Path, "/redfish/v1/SessionService/Sessions")
	if r.Method != http.MethodGet && !session {
		w.mu.Lock()
		w.writes = append(w.writes, r.Method+" "+r.URL.Path)
		w.mu.Unlock()
	}
	w.Server.ServeHTTP(rw, r)
}

// serve serves a tree's documents, and answers its address and the BMC.
func serve(t *testing.T, docs map[string]map[string]any) (address string, bmc *watched) {
	t.Helper()
	bmc = &watched{Server: recordedtest.New(t, docs, recorded.Config{Username: "admin", Password: "right",
		PowerDelay: time.Millisecond})}
	web := httptest.NewServer(bmc)
	t.Cleanup(web.Close)
	return web.URL, bmc
}

func nodeAt(address string) node.Node {
	return node.Node{UUID: "00000000-0000-4000-8000-000000000000", Driver: "redfish", DriverInfo: map[string]any{
		"redfish_address": address, "redfish_username": "admin", "redfish_password": "right"}}
}

func examine(t *testing.T, n node.Node, e Exercise) map[string]Finding {
	t.Helper()
	r, err := Examine(t.Context(), n, Options{Exercise: e, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Finding{"": {Detail: strings.Join(r.Notes, "; ")}}
	for _, f := range r.Findings {
		all[f.Operation] = f
	}
	return all
}

// TestChangesNothing: a look makes a session, ends it, and writes nothing else.
func TestChangesNothing(t *testing.T) {
	address, bmc := serve(t, recordedtest.Small())
	found := examine(t, nodeAt(address), Exercise{})
	if len(bmc.writes) > 0 {
		t.Errorf("a look wrote: %v", bmc.writes)
	}
	if len(found) != len(redfishOperations)+1 {
		t.Errorf("%d findings", len(found))
	}
	for _, op := range redfishOperations {
		want := Works
		if op.name == "firmware update" {
			want = NotOffered
		}
		if f := found[op.name]; f.Verdict != want || f.Detail == "" || f.Need != op.need {
			t.Errorf("%s: %+v, want %s", op.name, f, want)
		}
	}
	if f := found["inspect"]; f.Requests < 2 || f.Took < f.Slowest {
		t.Errorf("inspect has %d requests, in %s, the slowest %s", f.Requests, f.Took, f.Slowest)
	}
}

// TestExercise makes the requested changes, and restores the former state.
func TestExercise(t *testing.T) {
	address, bmc := serve(t, recordedtest.Small())
	const medium = "http://192.0.2.1/tiny.iso"
	found := examine(t, nodeAt(address), Exercise{BootDevice: true, Power: true, Medium: medium})
	for operation, want := range map[string]string{"boot device": "taken back", "power": "power off after",
		"virtual media": "read back and ejected"} {
		if f := found[operation]; f.Verdict != Works || !strings.Contains(f.Detail, want) {
			t.Errorf("%s: %s: %s, want %q", operation, f.Verdict, f.Detail, want)
		}
	}
	for _, want := range []string{"PATCH " + system, "POST " + system + "/Actions/ComputerSystem.Reset",
		"POST /redfish/v1/Managers/1/VirtualMedia/1/Actions/VirtualMedia.EjectMedia"} {
		if !slices.Contains(bmc.writes, want) {
			t.Errorf("no %s among %v", want, bmc.writes)
		}
	}
	after := examine(t, nodeAt(address), Exercise{})
	for operation, want := range map[string]string{"boot device": "no override is set", "power": "power on",
		"virtual media": "drives: CD"} {
		if f := after[operation]; !strings.HasPrefix(f.Detail, want) || strings.Contains(f.Detail, "in use") {
			t.Errorf("afterwards %s: %s, want %q", operation, f.Detail, want)
		}
	}
}

// TestRefusedExercise: a BMC that takes a write and does nothing is found out.
func TestRefusedExercise(t *testing.T) {
	docs := recordedtest.Small()
	bmc := recordedtest.New(t, docs, recorded.Config{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		bmc.ServeHTTP(w, r)
	}))
	defer web.Close()
	n := nodeAt(web.URL)
	delete(n.DriverInfo, "redfish_username")
	delete(n.DriverInfo, "redfish_password")
	f := examine(t, n, Exercise{BootDevice: true})["boot device"]
	if f.Verdict != Fails || !strings.Contains(f.Detail, "does not keep it") {
		t.Errorf("boot device: %s: %s", f.Verdict, f.Detail)
	}
}

// TestNotOffered takes something from a BMC, and the finding says so.
func TestNotOffered(t *testing.T) {
	for name, tc := range map[string]struct {
		change            func(d map[string]map[string]any)
		operation, detail string
		verdict           Verdict
	}{
		"no drives": {func(d map[string]map[string]any) { delete(d["/redfish/v1/Managers/1"], "VirtualMedia") },
			"virtual media", "a license may be missing", NotOffered},
		"drives that are switched off": {func(d map[string]map[string]any) {
			const bmc = "/redfish/v1/Managers/1"
			d[bmc+"/VirtualMedia"]["Members"] = []any{}
			d[bmc]["Oem"] = map[string]any{"Ami": map[string]any{"VirtualMedia": map[string]any{"RMediaStatus": "Disabled"}}}
			d[bmc]["Actions"] = map[string]any{"Oem": map[string]any{"#AMIVirtualMedia.EnableRMedia": map[string]any{
				"target": bmc + "/Actions/Oem/AMIVirtualMedia.EnableRMedia"}}}
		}, "virtual media", "switches them on", Works},
		"no disks": {func(d map[string]map[string]any) { delete(d[system], "Storage") }, "parts", "not listed: disks", Works},
		"no memory": {func(d map[string]map[string]any) { delete(d[system], "MemorySummary") }, "inspect",
			"not reported: memory", Works},
		"no PXE": {func(d map[string]map[string]any) {
			d[system]["Boot"].(map[string]any)["BootSourceOverrideTarget@Redfish.AllowableValues"] = []any{"None", "Hdd"}
		}, "boot device", "Pxe is needed", NotOffered},
		"one boot only": {func(d map[string]map[string]any) {
			d[system]["Boot"].(map[string]any)["BootSourceOverrideEnabled@Redfish.AllowableValues"] = []any{"Once"}
		}, "boot device", "set again before each start", Works},
		"no power off": {func(d map[string]map[string]any) {
			reset := d[system]["Actions"].(map[string]any)["#ComputerSystem.Reset"].(map[string]any)
			reset["ResetType@Redfish.AllowableValues"] = []any{"On", "ForceRestart"}
		}, "power", "ForceOff are needed", NotOffered},
		"a BIOS that is only shown": {func(d map[string]map[string]any) { delete(d[system+"/Bios"], "@Redfish.Settings") },
			"BIOS settings", "no settings object", Works},
		"a console": {func(d map[string]map[string]any) {
			d[system]["SerialConsole"] = map[string]any{"SSH": map[string]any{"ServiceEnabled": true, "Port": 22}}
		}, "serial console", "SSH, port 22", Works},
		"a console by a maker's command": {func(d map[string]map[string]any) {
			delete(d[system], "SerialConsole")
			d[system]["Manufacturer"] = "Dell Inc."
		}, "serial console", "SSH, port 22, by the command console com2", Works},
		"no console": {func(d map[string]map[string]any) { delete(d[system], "SerialConsole") }, "serial console",
			"nor one by IPMI", NotOffered},
		"a quirk": {func(d map[string]map[string]any) { d[system]["Manufacturer"] = "Supermicro" },
			"boot device", "", Works},
	} {
		docs := recordedtest.Small()
		tc.change(docs)
		address, _ := serve(t, docs)
		f := examine(t, nodeAt(address), Exercise{})[tc.operation]
		if f.Verdict != tc.verdict || !strings.Contains(f.Detail, tc.detail) {
			t.Errorf("%s: %s: %s, want %s: %s", name, f.Verdict, f.Detail, tc.verdict, tc.detail)
		}
		if name == "a quirk" && !slices.Equal(f.Quirks, []string{"virtual-cd-is-usb"}) {
			t.Errorf("the quirks are %v", f.Quirks)
		}
	}
}

// TestSessionsOfOthers: another client's session is listed, and ours is not.
func TestSessionsOfOthers(t *testing.T) {
	docs := recordedtest.Small()
	const sessions = "/redfish/v1/SessionService/Sessions"
	docs[sessions] = map[string]any{"Members": []any{map[string]any{"@odata.id": sessions + "/7"},
		map[string]any{"@odata.id": sessions + "/gone"}}}
	docs[sessions+"/7"] = map[string]any{"UserName": "backup\x1b[2J", "ClientOriginIPAddress": "192.0.2.9"}
	address, _ := serve(t, docs)
	r, err := Examine(t.Context(), nodeAt(address), Options{})
	if err != nil || len(r.Sessions) != 1 || r.Sessions[0].Client != "192.0.2.9" ||
		strings.Contains(r.Sessions[0].User, "\x1b") {
		t.Errorf("%+v, %v", r.Sessions, err)
	}
}

// TestBadBMC: an address without a BMC, or a BMC that refuses the login, is explained, and nothing else is tried.
func TestBadBMC(t *testing.T) {
	html := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>a switch</html>")) }
	expired := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redfish/v1/" {
			_, _ = w.Write([]byte(`{"@odata.id":"/redfish/v1/","Links":{"Sessions":{"@odata.id":"/redfish/v1/Sessions"}}}`))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"error":{"code":"Base.1.11.PasswordChangeRequired","message":"change it",
			"@Message.ExtendedInfo":[{"MessageId":"Base.1.11.PasswordChangeRequired","Message":"change it"}]}}`))
	}
	two := recordedtest.Small()
	two["/redfish/v1/Systems"]["Members"] = []any{map[string]any{"@odata.id": system},
		map[string]any{"@odata.id": "/redfish/v1/Systems/2"}}
	endless := recordedtest.Small()
	endless["/redfish/v1/Systems"]["Members@odata.nextLink"] = "/redfish/v1/Systems"
	twoAt, _ := serve(t, two)
	endlessAt, _ := serve(t, endless)
	for name, tc := range map[string]struct{ address, want string }{
		"no Redfish":             {plain(t, html), "Redfish"},
		"an expired password":    {plain(t, expired), "the password has expired"},
		"two systems":            {twoAt, "/redfish/v1/Systems/1, /redfish/v1/Systems/2"},
		"a list of itself":       {endlessAt, "follows itself"},
		"nobody there":           {"http://127.0.0.1:1", "check redfish_address"},
		"a certificate":          {secure(t), "unknown authority"},
		"another protocol":       {strings.Replace(plain(t, html), "http:", "https:", 1), "does not speak TLS"},
		"an IPv6 zone of nobody": {"http://[fe80::1%nowhere0]:1", "fe80::1"},
	} {
		r, err := Examine(t.Context(), nodeAt(tc.address), Options{Pause: time.Millisecond,
			ConnectTimeout: 20 * time.Second})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first, last := r.Findings[0], r.Findings[len(r.Findings)-1]
		if first.Verdict == Works || !strings.Contains(first.Detail, tc.want) || last.Verdict != Skipped || r.Usable() {
			t.Errorf("%s: %s: %s, then %s; want %q", name, first.Verdict, first.Detail, last.Verdict, tc.want)
		}
	}
}

func plain(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	web := httptest.NewServer(answer)
	t.Cleanup(web.Close)
	return web.URL
}

func secure(t *testing.T) string {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	return web.URL
}

// TestCertificate: the report shows the certificate of a BMC with TLS, with its problems.
func TestCertificate(t *testing.T) {
	r, err := Examine(t.Context(), nodeAt(secure(t)), Options{Pause: time.Millisecond})
	if err != nil || r.Certificate == nil {
		t.Fatalf("%+v, %v", r.Certificate, err)
	}
	c := r.Certificate
	if !strings.HasPrefix(c.TLS, "TLS 1.") || !slices.Contains(c.Names, "127.0.0.1") ||
		!strings.Contains(strings.Join(c.Problems, ";"), "signs itself") {
		t.Errorf("%+v", c)
	}
	if got := certificateOf(t.Context(), plain(t, http.NotFound), time.Second); got != nil {
		t.Errorf("without TLS: %+v", got)
	}
}

// TestWrongSettings: wrong settings are an error, before any request to a BMC.
func TestWrongSettings(t *testing.T) {
	for _, n := range []node.Node{nodeAt("ftp://192.0.2.1"), {Driver: "ipmi", DriverInfo: map[string]any{}}} {
		if _, err := Examine(t.Context(), n, Options{}); err == nil {
			t.Errorf("%s: no error for %v", n.Driver, slices.Collect(maps.Keys(n.DriverInfo)))
		}
	}
}

// TestOdd: each oddity of a BMC is named with Ferrite's way around it, and the BMC stays usable.
func TestOdd(t *testing.T) {
	docs := recordedtest.Small()
	docs[system]["SerialNumber"] = 4711
	delete(docs[system]["Boot"].(map[string]any), "BootSourceOverrideMode")
	docs[system+"/EthernetInterfaces/1"]["MACAddress"] = "00:00:00:00:00:00"
	address, _ := serve(t, docs)
	r, err := Examine(t.Context(), nodeAt(address), Options{Pause: time.Millisecond})
	if err != nil || !r.Usable() {
		t.Fatalf("%v: %+v", err, r.Findings)
	}
	var odd []string
	for _, o := range r.Odd {
		odd = append(odd, o.String())
	}
	want := []string{
		system + " SerialNumber is a number, read as text",
		system + " Boot.BootSourceOverrideMode is missing, the boot mode stays as it is, and a deployment continues",
		system + "/EthernetInterfaces/1 MACAddress is \"00:00:00:00:00:00\", PermanentMACAddress is taken, or none",
	}
	if diff := cmp.Diff(want, odd); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
