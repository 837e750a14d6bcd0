package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// fullDisk is a database that refuses the next changes, as one without room does.
type fullDisk struct {
	Database
	refusals atomic.Int64
}

func (d *fullDisk) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	if d.refusals.Add(-1) >= 0 {
		return node.Node{}, errors.New("database or disk is full")
	}
	return d.Database.Commit(ctx, c)
}

// illBMC is a BMC that can fall ill.
type illBMC struct {
	*redfish.Server
	at      *httptest.Server
	fanFell atomic.Bool
}

func newIllBMC(t *testing.T) *illBMC {
	t.Helper()
	b := &illBMC{}
	b.becomes(t, "p")
	b.at = httptest.NewServer(b)
	t.Cleanup(b.at.Close)
	return b
}

// becomes replaces the BMC by one with another password. No request may come meanwhile.
func (b *illBMC) becomes(t *testing.T, password string) {
	s := redfish.New(redfish.Config{Machine: redfishtest.NewMachine(), Username: "u", Password: password,
		Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { _ = s.Close() })
	b.Server = s
}

// ServeHTTP answers as the lab's BMC does, with a fan added.
func (b *illBMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const chassis, thermal = "/redfish/v1/Chassis/1", "/redfish/v1/Chassis/1/Thermal"
	health := "OK"
	if b.fanFell.Load() {
		health = "Critical"
	}
	switch r.URL.Path {
	case chassis:
		said := httptest.NewRecorder()
		b.Server.ServeHTTP(said, r)
		doc := map[string]any{}
		_ = json.Unmarshal(said.Body.Bytes(), &doc) // of a refusal nothing is shown
		doc["Thermal"] = map[string]any{"@odata.id": thermal}
		_ = json.NewEncoder(w).Encode(doc)
	case thermal:
		_ = json.NewEncoder(w).Encode(map[string]any{"Fans": []any{map[string]any{"Name": "Fan 1", "Reading": 0,
			"ReadingUnits": "RPM", "Status": map[string]any{"State": "Enabled", "Health": health}}}})
	default:
		b.Server.ServeHTTP(w, r)
	}
}

// faulty is a conductor with a database that can fill up, and scraped by Prometheus.
type faulty struct {
	*conductor
	db   *fullDisk
	told *prometheus
}

// begin starts the conductor; prepare may change its database before.
func (f *faulty) begin(t *testing.T, dir string, prepare func(Database), args ...string) {
	t.Helper()
	args = append([]string{"--data-dir", dir, "--api-address", servetest.AnyPort, "--host", "test", "--metrics-address",
		servetest.AnyPort, "--bmc-allow", "127.0.0.0/8", "--agent-allow", "127.0.0.0/8"}, args...)
	ctx, stop := context.WithCancel(context.Background())
	f.conductor = &conductor{Log: &apitest.Log{}, Stop: stop, Ended: make(chan error, 1),
		Sign: func(r *http.Request) { r.SetBasicAuth("alice", "wonderland") }}
	go func() {
		f.Ended <- RunWithStore(ctx, args, f.Log, func(ctx context.Context, dir string) (Database, func() error, error) {
			keys, err := Keys(dir)
			if err != nil {
				return nil, nil, err
			}
			db, err := store.Open(ctx, filepath.Join(dir, datafolder.DatabaseFile), store.Options{NoSync: true, Keys: keys})
			if err != nil {
				return nil, nil, err
			}
			prepare(db)
			f.db = &fullDisk{Database: db}
			return f.db, db.Close, nil
		})
	}()
	if err := f.Ready(); err != nil {
		t.Fatalf("%v\n%s", err, f.Log)
	}
	f.told.targets["test"] = metricsURL(t, f.conductor)
}

var metricsAt = regexp.MustCompile(`url=(http://\S+/metrics)`)

// metricsURL is where a conductor's log says that its metrics are.
func metricsURL(t *testing.T, c *conductor) string {
	t.Helper()
	c.Says(t, "/metrics")
	own := metricsAt.FindStringSubmatch(c.Log.String())
	if own == nil {
		t.Fatalf("the log does not say where the metrics are:\n%s", c.Log)
	}
	return own[1]
}

// node makes a node, and requests the verbs.
func (f *faulty) node(t *testing.T, name string, with map[string]any, verbs ...[2]string) {
	t.Helper()
	with["name"] = name
	if with["driver"] == nil {
		with["driver"] = "fake-hardware"
	}
	f.Call(t, "POST", "/v1/nodes", with, http.StatusCreated)
	for _, v := range verbs {
		f.Call(t, "PUT", "/v1/nodes/"+name+"/states/provision", map[string]any{"target": v[0]}, http.StatusAccepted)
		f.until(t, name, v[1])
	}
}

// until waits for a state, also while the node is reserved.
func (f *faulty) until(t *testing.T, name, state string) {
	t.Helper()
	var n map[string]any
	for end := time.Now().Add(servetest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if n = f.Call(t, "GET", "/v1/nodes/"+name, nil, http.StatusOK); n["provision_state"] == state {
			return
		}
	}
	t.Fatalf("%s is %v (%v), want %q", name, n["provision_state"], n["last_error"], state)
}

// TestAlertsFire: the alert rules of docs/monitoring, over the metrics of a real conductor: none fires while all is
// well, and each fault fires its own.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	told := newPrometheus(t)
	g := &servetest.Guarded{Dir: t.TempDir()}
	users, err := auth.Users{Users: []auth.User{{Name: "alice", Role: "admin"}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	g.Write(t, "users", string(users))
	hash, err := bcrypt.GenerateFromPassword([]byte("wonderland"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	g.Write(t, "htpasswd", "alice:"+string(hash)+"\n")
	dir := g.Path("data")
	args := []string{"--auth", "basic", "--users-file", g.Path("users"), "--htpasswd-file", g.Path("htpasswd"),
		"--workers", "1", "--sync-power-state-interval", "1s", "--power-state-sync-max-retries", "1",
		"--power-failure-recovery-interval", "1s", "--sensor-interval", "1s", "--bmc-request-timeout", "5s"}
	f := &faulty{told: told}
	f.begin(t, dir, func(Database) {}, args...)
	hot := newIllBMC(t)
	bmcs := map[string]*illBMC{"hot": hot}
	for i := range 12 { // two racks: one is cut off, the passwords of the other one are changed
		bmcs[fmt.Sprint("silent-", i)], bmcs[fmt.Sprint("changed-", i)] = newIllBMC(t), newIllBMC(t)
	}
	for name, b := range bmcs {
		f.node(t, name, map[string]any{"driver": "redfish", "driver_info": map[string]any{"redfish_address": b.at.URL,
			"redfish_username": "u", "redfish_password": "p"}}, [2]string{"manage", "manageable"})
	}
	manage := [2]string{"manage", "manageable"}
	f.node(t, "broken", map[string]any{}, manage)
	f.node(t, "lone", map[string]any{"deploy_interface": "direct"}, manage)
	f.node(t, "hung", map[string]any{"deploy_interface": "direct"}, manage, [2]string{"provide", "clean wait"})
	port := silence(t)
	f.node(t, "hangs", map[string]any{"driver": "redfish", "driver_info": map[string]any{
		"redfish_address": "http://127.1.9.9:" + port}})
	f.node(t, "tenant", map[string]any{"resource_class": "gold"}, manage, [2]string{"adopt", "active"})
	told.scrape(10)
	told.firing(10)
	f.End(t)
	for name, b := range bmcs {
		switch kind, _, _ := strings.Cut(name, "-"); kind {
		case "changed":
			b.becomes(t, "another")
		case "silent":
			b.at.CloseClientConnections()
			b.at.Close()
		}
	}
	told.scrape(5)
	told.firing(5, alert("FerriteDown"))

	f.begin(t, dir, func(db Database) {
		age(t, db, "hung", 4*time.Hour)
		hang(t, db, "hangs", port, 560)
	}, args...)
	hot.fanFell.Store(true)
	f.Call(t, "PUT", "/v1/nodes/broken/states/provision", map[string]any{"target": "clean",
		"clean_steps": []any{map[string]any{"interface": "deploy", "step": "nobody"}}}, http.StatusAccepted)
	f.Call(t, "PUT", "/v1/nodes/lone/states/provision", map[string]any{"target": "provide"}, http.StatusAccepted)
	told.scrape(20)
	guess(t, f.URL, 60)
	f.db.refusals.Store(5)
	for range 5 {
		if status, answer, err := f.Send("POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}); status != 500 {
			t.Errorf("a full disk is answered %d %s, %v", status, answer, err)
		}
	}
	told.scrape(25)
	told.firing(45, alert("FerriteDown"), alert("FerriteBMCsFail", `driver="redfish"`),
		alert("FerriteCredentialsRefused", `driver="redfish"`), alert("FerriteNodeFault"),
		alert("FerriteNodesFailed", `state="clean failed"`), alert("FerriteHardwareCritical", `node_name="hot"`),
		alert("FerriteNodeStuck", `state="clean wait"`), alert("FerriteNoHeartbeats"),
		alert("FerriteNoneAvailable", `resource_class="gold"`), alert("FerriteWorkPilesUp"),
		alert("FerriteCommitsFail", `reason="failed"`), alert("FerriteAPIErrors"), alert("FerriteLoginsRefused"))
	told.judge()
	f.End(t)
}

// age has a node be in its state for longer than it is.
func age(t *testing.T, db Database, name string, by time.Duration) {
	n, err := db.Node(t.Context(), name)
	if err != nil {
		t.Error(err)
		return
	}
	since := n.ProvisionUpdatedAt.Add(-by)
	n.ProvisionUpdatedAt = &since
	if _, err := db.Commit(t.Context(), node.Change{Save: &n}); err != nil {
		t.Error(err)
	}
}

// silence is a port where BMCs take a connection, and never answer.
func silence(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// hang has many nodes be verified that are as one is, but at other addresses.
func hang(t *testing.T, db Database, name, port string, count int) {
	like, err := db.Node(t.Context(), name)
	for i := 0; i < count && err == nil; i++ {
		n := like.Clone()
		n.UUID, n.Name = fmt.Sprintf("6f000000-0000-4000-8000-%012x", i), fmt.Sprint(name, "-", i)
		n.DriverInfo["redfish_address"] = fmt.Sprintf("http://127.1.%d.%d:%s", i/250, i%250+1, port)
		n.ProvisionState, n.TargetProvisionState = node.Verifying, node.Manageable
		n.Run = &node.Run{Activity: "verify", Generation: 1, Since: n.CreatedAt,
			Steps: []node.Step{{Interface: "power", Step: "validate"}}}
		_, err = db.Commit(t.Context(), node.Change{Insert: &n, Effects: []node.Effect{{Node: n.UUID, Generation: 1,
			Name: "power.validate", RunAt: n.CreatedAt}}})
	}
	if err != nil {
		t.Error(err)
	}
}

// guess tries passwords from several addresses.
func guess(t *testing.T, url string, count int) {
	t.Helper()
	for i := range count {
		from := net.TCPAddr{IP: net.IPv4(127, 2, 0, byte(1+i%6))}
		client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &from}).DialContext}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/nodes", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth(fmt.Sprint("user-", i), "guess")
		answer, err := client.Do(r)
		if err != nil || answer.StatusCode != http.StatusUnauthorized {
			t.Fatalf("a guess: %v, %v", answer, err)
		}
		answer.Body.Close()
		client.CloseIdleConnections()
	}
}

// TestAlertsOfClusterFire: members are scraped whether they lead or not, and a database that is gone fires.
func TestAlertsOfClusterFire(t *testing.T) {
	t.Parallel()
	told := newPrometheus(t)
	server := postgrestest.New(t)
	database, key := server.URL(t), clusterKey(t, "0123456789")
	for _, name := range []string{"first", "second"} {
		c := startMember(t, name, database, key, "--metrics-address", servetest.AnyPort)
		defer c.End(t)
		ready(t, c)
		told.targets[name] = metricsURL(t, c)
	}
	told.scrape(5)
	told.firing(5)
	if err := server.Stop(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(servetest.Patience); time.Now().Before(end); time.Sleep(tickTime) {
		_, page := fetch(t, told.targets["first"])
		_, other := fetch(t, told.targets["second"])
		if noLeader.MatchString(page) && noLeader.MatchString(other) {
			break
		}
	}
	told.scrape(5)
	told.firing(5, alert("FerriteDatabaseUnusable"), alert("FerriteNoLeader"))
	told.judge()
	if err := server.Start(); err != nil {
		t.Error(err)
	}
}

// noLeader are the metrics of a member that has no database, and leads nothing.
var noLeader = regexp.MustCompile(`(?s)ferrite_leader\{group=""\} 0\n.*ferrite_store_ready 0\n`)
