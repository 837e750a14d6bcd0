package redfish_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// conductor is a whole one with its API, for the bench.
type conductor struct {
	t      *testing.T
	url    string
	engine *engine.Engine
}

func newConductor(t *testing.T) *conductor {
	t.Helper()
	return newConductorWith(t, func(*plan.Settings) {})
}

// newConductorWith is a conductor with changed settings.
func newConductorWith(t *testing.T, change func(*plan.Settings)) *conductor {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	settings := plan.DefaultSettings()
	settings.ConductorName = "conductor-1"
	change(&settings)
	c := &conductor{t: t, engine: engine.New(engine.Config{
		Store: mem.New(), BMCs: map[string]engine.BMC{"redfish": newDriver(t, redfish.Options{})},
		Settings: settings, Log: log,
	})}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.engine.Run(ctx) }()
	server := httptest.NewServer(api.New(api.Options{Conductor: c.engine, Log: log}))
	c.url = server.URL
	t.Cleanup(func() { server.Close(); stop(); <-done })
	return c
}

// get answers the status and the body of a path.
func (c *conductor) get(path string) (int, string) {
	c.t.Helper()
	response, err := http.Get(c.url + path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// do sends a request, waits until the node is idle, and returns the body.
func (c *conductor) do(method, path, body string) string {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+"/v1/nodes"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("X-OpenStack-Ironic-API-Version", "1.115")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		c.t.Fatalf("%s %s: %s %s, %v", method, path, response.Status, text, err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		n, err := c.engine.Node(c.t.Context(), "n1")
		if err == nil && n.Run == nil && n.Chore == "" {
			return string(text)
		}
		if err != nil || time.Now().After(end) {
			c.t.Fatalf("after %s %s: run %+v, chore %q, %v", method, path, n.Run, n.Chore, err)
		}
	}
}

// The API shows the BMC's answers from the verification on, and requests to its drive reach
// the machine.
func TestConductor(t *testing.T) {
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("an image"))
	}))
	defer images.Close()
	b, c := newBench(t), newConductor(t)
	c.do("POST", "", `{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"`+b.URL+`","redfish_username":"`+
		redfishtest.User+`","redfish_password":"`+redfishtest.Password+`"}}`)
	c.do("PUT", "/n1/states/provision", `{"target":"manage"}`)
	for path, want := range map[string]string{
		"/n1?fields=health,provision_state": `"health":"OK","provision_state":"manageable"`,
		"/n1/bios/BootDelaySeconds": `"attribute_type":"Integer","allowable_values":[],"lower_bound":0,"max_length":null,` +
			`"min_length":null,"read_only":false,"reset_required":true,"unique":null,"upper_bound":60`,
		"/n1/firmware": `"component":"nic:52:54:00:77:00:02","initial_version":"` + adapterFirmware +
			`","current_version":"` + adapterFirmware + `"`,
		"/n1/vmedia": `{"media_types":["CD","DVD"],"inserted":false,"image":null}`,
	} {
		if got := c.do("GET", path, ""); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s in it", path, got, want)
		}
	}
	c.do("POST", "/n1/vmedia", `{"device_type":"cdrom","image_url":"`+images.URL+`/a.iso"}`)
	if got := c.do("GET", "/n1/vmedia", ""); !strings.Contains(got, `"inserted":true,"image":"`+images.URL+`/a.iso"`) ||
		b.machine.Media() != "an image" {
		t.Errorf("attached: %s, the machine has %q", got, b.machine.Media())
	}
	c.do("DELETE", "/n1/vmedia?device_types=cdrom", "")
	if b.machine.Media() != "" {
		t.Errorf("detached, the machine has %q", b.machine.Media())
	}
	c.do("PUT", "/n1/states/provision",
		`{"target":"clean","clean_steps":[{"interface":"bios","step":"apply_configuration","args":`+
			`{"settings":[{"name":"AssetTag","value":"rack 7"}]}}]}`)
	if got := c.do("GET", "/n1/bios/AssetTag", ""); !strings.Contains(got, `"value":"rack 7"`) {
		t.Errorf("after a step: %s", got)
	}
}
