package metrics

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// hostile is a name that ends a label, a line and a text.
const hostile = "a\"b\\c\nferrite_nodes{state=\"x\"} 9\xff\x1b[31m"

// readings are sensors for a scrape.
type readings []node.Sensed

func (r readings) EachSensorReport(visit func(node.Sensed) bool) {
	for _, s := range r {
		if !visit(s) {
			return
		}
	}
}

func (r readings) SensorReports() int { return len(r) }

func scrape(t *testing.T, m http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// wants fails for lines that a scrape lacks.
func wants(t *testing.T, text string, lines ...string) {
	t.Helper()
	all := strings.Split(text, "\n")
	for _, line := range lines {
		if !slices.Contains(all, line) {
			name, _, _ := strings.Cut(line, "{")
			var like []string
			for _, l := range all {
				if strings.HasPrefix(l, name) {
					like = append(like, l)
				}
			}
			t.Errorf("no line %s\nthere are:\n%s", line, strings.Join(like, "\n"))
		}
	}
}

func machine(i int, state node.State, revision int64) node.Node {
	at := time.Now().Add(-time.Minute)
	return node.Node{UUID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Revision: revision, ProvisionState: state,
		ResourceClass: "large", ProvisionUpdatedAt: &at}
}

func reading(v float64) *float64 { return &v }

func full() *Metrics {
	m := New()
	bad := machine(1, node.Active, 1)
	bad.ResourceClass = hostile
	m.Nodes.Saved(bad, true)
	m.Nodes.Saved(machine(2, node.Cleaning, 1), true)
	m.EffectBegan("power.request", 2)
	m.EffectEnded("power.request", "done", time.Second)
	m.Stored(time.Millisecond, nil)
	m.Stored(time.Millisecond, fmt.Errorf("x: %w", node.ErrStale))
	m.Answered("GET", "/v1/nodes/:node", 200, time.Millisecond)
	m.Answered("BREW", "", 401, time.Millisecond)
	m.Answered("PUT", "/v1/nodes/:node", 500, time.Millisecond)
	m.Answered("PUT", "/v1/nodes/:node", 503, time.Millisecond)
	m.Answered("GET", "/v1/nodes/:node/vmedia", 502, time.Millisecond)
	m.Answered("GET", "/v1/nodes/:node/vmedia", 504, time.Millisecond)
	m.Answered("POST", "/v1/heartbeat/*", 202, time.Millisecond)
	m.Called("redfish", time.Second, context.DeadlineExceeded)
	m.Booted("dhcp", "DISCOVER", "")
	m.Booted("tftp", hostile, "no such file")
	m.Watch(Config{Pending: func() int { return 3 }, Ready: func() error { return nil },
		Free:  func() float64 { return .25 },
		Clock: func() time.Time { return time.Now().Add(-3 * time.Second) },
		Audit: func(context.Context) (entries, bytes int64, err error) { return 7, 3500, nil },
		Sensors: readings{
			{Node: "u1", Name: hostile, Report: node.SensorReport{At: time.Unix(1700000000, 0), Sensors: []node.Sensor{
				{Group: node.TemperatureSensor, Name: "CPU 1", ID: "7", Context: "CPU", Reading: reading(40)},
				{Group: node.TemperatureSensor, Name: "CPU 1 again", ID: "7", Context: "CPU", Reading: reading(41)},
				{Group: node.TemperatureSensor, Name: hostile, Context: hostile, Reading: reading(5)},
				{Group: node.FanSensor, Name: "Fan 1", Of: "1", Context: "Chassis", Health: "Critical"},
				{Group: node.PowerSensor, Name: "PSU 1", Of: "1", Health: "OK"},
				{Group: node.DriveSensor, Name: "Disk 1", Health: ""},
				{Group: node.DriveSensor, Name: "Disk 2", Health: "Warning"},
				{Group: node.VoltageSensor, Name: "VCORE", Reading: reading(1)},
			}}},
			{Node: "u2", Name: "n2", Instance: "i2", Report: node.SensorReport{At: time.Unix(1, 0)}},
			{Node: "u3", Name: "n3", Report: node.SensorReport{At: time.Unix(1, 0)}},
		}, SensorSeries: 7})
	return m
}

func TestScrape(t *testing.T) {
	text := scrape(t, full())
	const shown = `a\"b\\c ferrite_nodes{state=\"x\"} 9[31m`
	of := `{entity_id="%s",instance_uuid="u1",node_name="` + shown + `",node_uuid="u1",sensor_id="%s"}`
	wants(t, text,
		`ferrite_nodes{fault="false",maintenance="false",resource_class="large",state="cleaning"} 1`,
		`ferrite_nodes{fault="false",maintenance="false",resource_class="`+shown+`",state="active"} 1`,
		`ferrite_effects_total{effect="power.request",outcome="done"} 1`,
		`ferrite_effect_retries_total{effect="power.request"} 1`,
		`ferrite_effects_running 0`,
		`ferrite_effects_pending 3`, `ferrite_audit_entries 7`, `ferrite_audit_bytes 3500`,
		`ferrite_store_ready 1`,
		`ferrite_data_free_ratio 0.25`, `ferrite_clock_off_seconds 3`,
		`ferrite_api_bmc_failed_requests_total 2`,
		`ferrite_store_commit_duration_seconds_count 1`,
		`ferrite_store_commit_errors_total{reason="stale"} 1`,
		`ferrite_store_commit_errors_total{reason="failed"} 0`,
		`ferrite_api_failed_requests_total 1`,
		`ferrite_api_requests_total{method="GET",route="/v1/nodes/:node",status="200"} 1`,
		`ferrite_api_requests_total{method="other",route="none",status="401"} 1`,
		`ferrite_api_refused_logins_total 1`,
		`ferrite_heartbeats_total{outcome="accepted"} 1`,
		`ferrite_bmc_calls_total{driver="redfish",outcome="timeout"} 1`,
		`ferrite_boot_requests_total{message="DISCOVER",reason="",service="dhcp"} 1`,
		`ferrite_boot_requests_total{message="other",reason="no such file",service="tftp"} 1`,
		`baremetal_temp_cpu_celsius`+fmt.Sprintf(of, "CPU", "7")+` 40`,
		`baremetal_temp_other_celsius`+fmt.Sprintf(of, shown, shown+"@System")+` 5`,
		`baremetal_fan_status`+fmt.Sprintf(of, "Chassis", "Fan 1@1")+` 1`,
		`baremetal_power_status`+fmt.Sprintf(of, "PSU", "PSU 1@1")+` 0`,
		`baremetal_drive_status`+fmt.Sprintf(of, "HDD", "Disk 2@System")+` 1`,
		`baremetal_last_payload_timestamp_seconds{instance_uuid="i2",node_name="n2",node_uuid="u2"} 1`,
		`ferrite_sensors_left_out_nodes 1`,
	)
	if strings.Contains(text, `sensor_id="Disk 1`) {
		t.Error("a drive of which nothing is known is shown")
	}
}

// TestPromtool has Prometheus's own tool read an answer.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian's package prometheus)")
	}
	leading := member()
	leading.Begin("")
	leading.Begin(hostile)
	for name, page := range map[string]string{"alone": scrape(t, full()), "of a cluster": scrape(t, leading)} {
		cmd := exec.CommandContext(t.Context(), tool, "check", "metrics")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v:\n%s", name, err, out)
		}
	}
}

// member is a member of a cluster with a group of a hostile name. Its database is gone.
func member() *Member {
	return NewMember(MemberConfig{Leads: func() map[string]bool { return map[string]bool{"": true, hostile: false} },
		Ready: func() error { return node.ErrStale }})
}

// TestMember: a member has its own metrics whether it leads or not, and the metrics of the groups that it leads.
func TestMember(t *testing.T) {
	m := member()
	own := []string{`ferrite_leader{group=""} 1`, `ferrite_leader{group="a\"b\\c ferrite_nodes{state=\"x\"} 9[31m"} 0`,
		`ferrite_store_ready 0`}
	text := scrape(t, m)
	wants(t, text, own...)
	if strings.Contains(text, "\nferrite_nodes{") || !strings.Contains(text, "go_goroutines ") {
		t.Errorf("without a term:\n%s", text)
	}
	one, other := m.Begin(""), m.Begin("rack")
	for i, term := range []*Metrics{one, other} {
		term.Nodes.Saved(machine(i, node.Active, 1), true)
		term.Watch(Config{Pending: func() int { return i }})
	}
	nodes := func(group string) string {
		return `ferrite_nodes{conductor_group="` + group + `",fault="false",maintenance="false",resource_class="large",` +
			`state="active"} 1`
	}
	wants(t, scrape(t, m), append(own, nodes(""), nodes("rack"), `ferrite_effects_pending{conductor_group="rack"} 1`)...)
	m.End(one)
	text = scrape(t, m)
	wants(t, text, append(own, nodes("rack"))...)
	if strings.Contains(text, nodes("")) {
		t.Error("the metrics of a term that is over are shown")
	}
	m.Begin("") // the next one of the group
	wants(t, scrape(t, m), append(own, `ferrite_effects_running{conductor_group=""} 0`)...)
}

// TestNodes: counts follow the nodes, in any order of events.
func TestNodes(t *testing.T) {
	now := time.Now()
	n := newNodes(func() time.Time { return now })
	n.Saved(machine(1, node.Enroll, 1), true)
	n.Saved(machine(1, node.Verifying, 2), false)
	n.Read(machine(1, node.Enroll, 1))            // read before that save
	n.Saved(machine(1, node.Enroll, 1), false)    // noted late
	n.Deleted(machine(2, node.Active, 1).UUID)    // deleted before it was read
	n.Read(machine(2, node.Active, 1))            // from a page of before
	n.Saved(machine(3, node.Available, 1), true)  //
	n.Deleted(machine(3, node.Available, 1).UUID) //
	n.Saved(machine(3, node.Available, 1), true)  // created again
	n.AllRead()
	counts, oldest := n.counted()
	if len(counts) != 2 || counts[group{node.Verifying, "large", false, false}] != 1 ||
		counts[group{node.Available, "large", false, false}] != 1 {
		t.Errorf("counts %v", counts)
	}
	if got := oldest[node.Verifying]; got < 59*time.Second || got > 2*time.Minute {
		t.Errorf("verifying for %s, want a minute", got)
	}
	if len(n.busy) != 1 {
		t.Errorf("%d nodes are busy, want 1", len(n.busy))
	}
	for i := range 3 * maxClasses {
		m := machine(10+i, node.Active, 1)
		m.ResourceClass = fmt.Sprint("class ", i)
		n.Saved(m, true)
	}
	if counts, _ = n.counted(); len(counts) > maxClasses+2 {
		t.Errorf("%d groups of nodes: the labels are not bounded", len(counts))
	}
}

// BenchmarkScrape is a scrape at a site of 100,000 nodes, of which 1,000 are at work.
func BenchmarkScrape(b *testing.B) {
	m := New()
	for i := range 100_000 {
		state := node.Active
		if i%100 == 0 {
			state = node.Cleaning
		}
		m.Nodes.Saved(machine(i, state, 1), true)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), "GET", "/metrics", nil))
	}
}

// TestMonitoring: the alert rules and the dashboard of docs/monitoring ask for metrics that there are, and the rules
// fire for the faults of their test.
func TestMonitoring(t *testing.T) {
	const folder = "../../../docs/monitoring/"
	m := full()
	m.EffectBegan("power.request", 1)
	m.Nodes.Saved(machine(2, node.CleanWait, 2), false)
	text := scrape(t, m) + scrape(t, member())
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		raw, err := os.ReadFile(folder + file)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`(ferrite|baremetal)_[a-z_]+`).FindAllString(string(raw), -1)
		for _, name := range names {
			family := strings.TrimSuffix(name, "_bucket")
			if name != "baremetal_" && !strings.Contains(text, "# TYPE "+family+" ") {
				t.Errorf("%s asks for %s, which there is not", file, name)
			}
		}
		if len(names) < 10 {
			t.Errorf("%s asks for %d metrics", file, len(names))
		}
	}
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian's package prometheus)")
	}
	for _, args := range [][]string{{"check", "rules", folder + "alerts.yml"}, {"test", "rules",
		folder + "alerts_test.yml"}} {
		if out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
