//go:build cluster

package history

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

var (
	troubles = flag.Int("troubles", 20, "how often a conductor is killed, frozen, cut off or stopped")
	freezes  = flag.Bool("freezes", false, "freeze the leader every time")
	nodes    = flag.Int("nodes", 48,
		"how many nodes: a quarter has BMCs, one lives, one is cleaned by agents, one are registers")
	seed = flag.Uint64("seed", 0, "which conductors are in trouble, and when; 0 for any")
)

// paced is a pause that keeps the load as it is with few nodes.
func paced(d time.Duration) time.Duration { return d * time.Duration(max(1, *nodes/48)) }

// world is a cluster, its nodes, and all that is under way.
type world struct {
	*client
	members   []*member
	clients   atomic.Uint32
	t         *testing.T
	server    *postgrestest.Server
	database  string
	stop      atomic.Bool
	busy      sync.WaitGroup
	registers *registers
	powered   []*powered
	cleaned   []*cleaned
	kept      kept
	chance    *rand.Rand // of the troubles
	lived     atomic.Int64
	takeovers []time.Duration
	figures   map[string][]float64
	most      int // connections of all conductors at a time
}

func (w *world) command(statements ...string) {
	w.t.Helper()
	conn, err := pgx.Connect(context.Background(), w.database)
	for _, s := range statements {
		if err == nil {
			_, err = conn.Exec(context.Background(), s)
		}
	}
	if err == nil {
		err = conn.Close(context.Background())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// leads is the conductor that leads the default group, as the database says; nil for none.
func (w *world) leads() (*member, error) {
	conn, err := pgx.Connect(context.Background(), w.database)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.Background()) }() // nothing was written
	var name string
	err = conn.QueryRow(context.Background(),
		"SELECT holder FROM leader WHERE conductor_group = '' AND until > clock_timestamp()").Scan(&name)
	if i := slices.IndexFunc(w.members, func(m *member) bool { return m.Name == name }); err == nil && i >= 0 {
		return w.members[i], nil
	}
	return nil, nil
}

// leader waits for a conductor that leads.
func (w *world) leader() *member {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		m, err := w.leads()
		if err != nil {
			w.t.Fatal(err)
		}
		if m != nil {
			return m
		}
	}
	w.t.Fatal("nobody leads")
	return nil
}

// again starts a conductor that ends.
func (w *world) again(m *member) {
	w.t.Helper()
	m.End()
	m.Start()
}

func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	server := postgrestest.New(t, settings...)
	key := filepath.Join(t.TempDir(), "cluster-key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0123456789abcdef", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, server: server, database: server.URL(t), figures: map[string][]float64{},
		chance: rand.New(rand.NewPCG(*seed, 0))}
	t.Cleanup(w.keep)
	for _, name := range []string{"a", "b", "c"} {
		m := newMember(t, name, w.database, key)
		w.command("CREATE ROLE " + m.role + " SUPERUSER LOGIN")
		m.Start()
		w.members = append(w.members, m)
	}
	w.client = w.another()
	w.registers = &registers{client: w.client, began: time.Now(), all: map[register][]porcupine.Operation{}}
	return w
}

// enroll makes a node.
func (w *world) enroll(body map[string]any) (id string) {
	w.t.Helper()
	var n shown
	if _, err := w.ask("", http.MethodPost, "/v1/nodes", body, &n); err != nil {
		w.t.Fatal(err)
	}
	return n.UUID
}

// begin starts all that is done to the nodes.
func (w *world) begin() {
	w.t.Helper()
	for i := range *nodes / 4 {
		w.clean(i)
		m := newMachine(w.t)
		id := w.enroll(map[string]any{"driver": "redfish", "driver_info": map[string]any{
			"redfish_address": m.server.URL, "redfish_username": redfishtest.User, "redfish_password": redfishtest.Password,
		}})
		if err := w.live(id, "manage", "enroll", "manageable"); err != nil {
			w.t.Fatal(err)
		}
		p := &powered{client: w.another(), node: id, machine: m}
		w.powered = append(w.powered, p)
		w.repeat(id, func(int) error {
			time.Sleep(paced(rand.N(100 * time.Millisecond)))
			return p.toggle()
		})

		lives := w.enroll(map[string]any{"driver": "fake-hardware", "instance_info": map[string]any{
			"image_source": "http://images/os.raw",
		}})
		operator := w.another()
		w.repeat(lives, func(i int) error {
			if i > 0 {
				i = 1 + (i-1)%(len(stages)-1)
			}
			w.lived.Add(1)
			time.Sleep(paced(rand.N(100 * time.Millisecond)))
			return operator.live(lives, stages[i].verb, stages[i].from, stages[i].to)
		})

		register := w.enroll(map[string]any{"driver": "fake-hardware"})
		for c := range 3 {
			reader := w.another()
			w.repeat(register, func(i int) error {
				w.registers.use(reader, register, c, i)
				time.Sleep(paced(rand.N(600 * time.Millisecond)))
				return nil
			})
		}
	}
}

// repeat does something to a node until the end, or until it goes wrong.
func (w *world) repeat(id string, do func(nth int) error) {
	w.busy.Go(func() {
		for i := 0; !w.stop.Load(); i++ {
			if err := do(i); err != nil {
				w.t.Error(time.Now().Format(time.StampMilli), err)
				w.keepNode(id)
				return
			}
		}
	})
}

// disturb causes one trouble, mostly to the leader, and measures the time without an answer.
func (w *world) disturb(nth int, x trouble, probe string) {
	w.t.Helper()
	leader := w.leader()
	victim := leader
	if !*freezes && nth%5 == 4 {
		victim = w.members[w.chance.IntN(len(w.members))]
	}
	x.cause(w, victim)
	began := time.Now()
	type answer struct {
		took time.Duration
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		if x.apart && victim == leader {
			took, err := w.apart(victim, probe, nth)
			answered <- answer{took, err}
			return
		}
		took, err := w.await(victim.Name, probe, nth)
		answered <- answer{took, err}
	}()
	time.Sleep(x.lasts - time.Since(began))
	x.cure(w, victim)
	a := <-answered
	if a.err != nil {
		w.t.Fatalf("after %s was %s: %v", victim.Name, x.name, a.err)
	}
	kind := x.kind
	if victim != leader && x.kind != restart.kind {
		kind = "bystander"
	}
	w.figures[kind] = append(w.figures[kind], math.Round(a.took.Seconds()*100)/100)
	if victim == leader && w.leader() != leader {
		w.takeovers = append(w.takeovers, a.took)
	}
	w.t.Logf("%3d: %s was %s; writes went on after %.2f s", nth+1, victim.Name, x.name, a.took.Seconds())
	if longest := w.longest(); a.took > longest {
		w.t.Errorf("expected writes to go on within %s", longest)
		for _, m := range w.members {
			w.t.Logf("log of %s:\n%s", m.Name, m.Tail())
		}
	}
	time.Sleep(time.Duration(w.chance.IntN(2000)) * time.Millisecond)
}

// TestHistory: conductors are killed, frozen, cut off and stopped. Every acknowledged write is there, registers behave
// like one, no node fails, and each power request changes its machine's power once.
func TestHistory(t *testing.T) {
	suitetest.Need(t, "")
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	w := newWorld(t)
	t.Logf("seed %d", *seed)
	probe := w.enroll(map[string]any{"driver": "fake-hardware"})
	w.begin()
	w.busy.Go(w.countConnections)
	for i := range *troubles {
		x := all[i%len(all)]
		if *freezes {
			x = freezing(w.moment(i))
		}
		w.disturb(i, x, probe)
		if t.Failed() {
			break
		}
	}
	w.stop.Store(true)
	w.busy.Wait()
	w.report()
}

func (w *world) report() {
	w.t.Helper()
	lost, err := w.registers.check()
	if err != nil {
		w.t.Error(err)
	}
	for _, m := range w.members {
		m.Signal(syscall.SIGTERM)
		m.End()
	}
	w.checkSessions()
	for _, r := range lost {
		w.t.Errorf("%s of node %s behaves like no register: %+v", r.name, r.node, w.registers.all[r])
	}
	doubled, requests, late := 0, 0, 0
	for _, p := range w.powered {
		for _, d := range p.doubled {
			w.t.Error(d)
		}
		changes, idle := p.machine.changes()
		doubled, requests, late = doubled+len(p.doubled), requests+p.done, late+idle
		if extra := len(changes) - p.done; extra > 0 && len(p.doubled) == 0 {
			w.t.Errorf("node %s: %d power changes for %d requests: %v", p.node, len(changes), p.done, changes)
			doubled += extra
		}
	}
	commands := 0
	for _, c := range w.cleaned {
		given, again, repeated := c.ledger()
		commands, late = commands+given, late+repeated
		if doubled += again; again > 0 {
			w.t.Errorf("node %s: %d commands of agents were carried out again: %v", c.node, again, c.agent.Ledger())
		}
	}
	if w.most > roomConnections {
		w.t.Errorf("the conductors had %d connections to the database at a time, expected %d at most", w.most,
			roomConnections)
	}
	slices.Sort(w.takeovers)
	w.t.Logf("%d writes to %d registers acknowledged, %d stages lived, %d power requests, %d commands of agents, "+
		"%d commands that changed nothing, %d connections",
		w.registers.known, len(w.registers.all), w.lived.Load(), requests, commands, late, w.most)
	if commands == 0 {
		w.t.Error("no agent was given a command")
	}
	if len(w.takeovers) == 0 {
		w.t.Error("no leader was in trouble")
		return
	}
	if w.t.Failed() {
		return
	}
	if *update {
		w.keepFigures()
	}
	fmt.Printf("cluster: ok %d kills, takeover p50 %.2f s, worst %.2f s, lost %d, doubled %d, seed %d\n", *troubles,
		w.takeovers[len(w.takeovers)/2].Seconds(), w.takeovers[len(w.takeovers)-1].Seconds(), len(lost), doubled, *seed)
}
