//go:build e2e

package crash

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// ask is one thing an operator's script asks for, and where the node ends.
type ask struct {
	name   string
	path   string // below /v1/nodes/{id}; "" makes the node
	body   map[string]any
	wanted string // the provision state, or the power state
	node   string // UUID; "" for servetest.NodeUUID
}

func (a ask) of() string { return cmp.Or(a.node, servetest.NodeUUID) }

func verb(target, wanted string, with ...map[string]any) ask {
	body := map[string]any{"target": target}
	for _, w := range with {
		for k, v := range w {
			body[k] = v
		}
	}
	return ask{name: target, path: "/states/provision", body: body, wanted: wanted}
}

func power(target, wanted string) ask {
	return ask{name: target, path: "/states/power", body: map[string]any{"target": target}, wanted: wanted}
}

func enrolled(uuid string, with map[string]any) ask {
	body := map[string]any{"uuid": uuid, "driver": "fake-hardware"}
	maps.Copy(body, with)
	return ask{name: "enroll", body: body, wanted: "enroll", node: uuid}
}

var (
	enroll = enrolled(servetest.NodeUUID,
		map[string]any{"rescue_interface": "fake", "instance_info": map[string]any{"image_source": "http://images/os.raw"}})
	child = enrolled(servetest.ChildUUID, map[string]any{"parent_node": servetest.NodeUUID})
	ipa   = enrolled(servetest.NodeUUID, map[string]any{"deploy_interface": "direct"}) // cleaned by the agent of a ramdisk
)

// Steps: two of the driver, Ironic's reserved ones, one for the child nodes, and an unknown one.
var (
	settings = map[string]any{
		"interface": "bios", "step": "apply_configuration", "args": map[string]any{"settings": []any{}},
	}
	reset  = map[string]any{"interface": "bios", "step": "factory_reset"}
	reboot = map[string]any{"interface": "power", "step": "reboot"}
	hold   = map[string]any{"interface": "deploy", "step": "hold"}
	wait   = map[string]any{"interface": "deploy", "step": "wait", "args": map[string]any{"seconds": 0.05}}
	below  = map[string]any{"interface": "power", "step": "power_on", "execute_on_child_nodes": true}
	nobody = map[string]any{"interface": "deploy", "step": "nobody"}
)

func steps(list string, all ...map[string]any) map[string]any { return map[string]any{list: all} }

// cycles are whole lives of a node. writes is how many a conductor needs to get
// on: to claim an effect and to bring it home; or, with a ramdisk, to start, to
// give it a token and to take its call.
var cycles = []struct {
	name   string
	writes int
	asks   []ask
}{
	{"life", 2, []ask{
		enroll, verb("manage", "manageable"), verb("inspect", "manageable"), verb("provide", "available"),
		verb("active", "active",
			map[string]any{"configdrive": map[string]any{"meta_data": map[string]any{"hostname": "one"}}}),
		power("power on", "power on"), verb("rebuild", "active"), power("power off", "power off"),
		verb("deleted", "available"),
	}},
	{"deploy", 2, []ask{
		enroll, verb("manage", "manageable"), verb("provide", "available"),
		verb("active", "deploy hold",
			steps("deploy_steps", ranked(settings, 90), ranked(wait, 70), ranked(hold, 50), ranked(reset, 30))),
		verb("unhold", "active"), verb("deleted", "available"),
	}},
	{"rescue", 2, []ask{
		enroll, verb("manage", "manageable"), verb("adopt", "active"),
		verb("rescue", "rescue", map[string]any{"rescue_password": "x"}),
		verb("unrescue", "active"), verb("rescue", "rescue", map[string]any{"rescue_password": "y"}),
		verb("deleted", "available"),
	}},
	{"service", 2, []ask{
		enroll, verb("manage", "manageable"), verb("adopt", "active"),
		verb("service", "service hold", steps("service_steps", settings, wait, hold, reboot)), verb("unhold", "active"),
		verb("service", "service failed", steps("service_steps", nobody)), verb("abort", "active"),
	}},
	{"clean", 2, []ask{
		enroll, verb("manage", "manageable"),
		verb("clean", "clean hold", steps("clean_steps", reset, reboot, hold, wait, settings)), verb("unhold", "manageable"),
		verb("clean", "clean failed", steps("clean_steps", settings, nobody)), verb("manage", "manageable"),
	}},
	{"children", 2,
		[]ask{enroll, verb("manage", "manageable"), child, verb("clean", "manageable", steps("clean_steps", below))}},
	{"ramdisk", 3, []ask{
		ipa, verb("manage", "manageable"), verb("clean", "manageable", steps("clean_steps", servetest.Beat)),
	}},
}

func ranked(step map[string]any, priority int) map[string]any {
	out := map[string]any{"priority": priority}
	for k, v := range step {
		out[k] = v
	}
	return out
}

// TestE2EKillNine kills a conductor before, amid and after every single write of whole lives of a node. Each time it
// starts the conductor again, and lets an operator's script go on. The script repeats only requests that were not
// accepted, by the node's state. Every stage ends as it does undisturbed, and SQLite's file is whole. Then each life is
// gone through by conductors that live for no more writes than it takes to get on.
func TestE2EKillNine(t *testing.T) { killNine(t, inFolder, sample) }

// TestE2EKillNineOnPostgres does the same to conductors with their database on a server.
func TestE2EKillNineOnPostgres(t *testing.T) { killNine(t, postgrestest.URL, *postgresSample) }

// killNine kills at every so many a write.
func killNine(t *testing.T, database func(testing.TB) string, sample int) {
	t.Helper()
	var table []string
	eventLog := map[string]bool{} // beginnings of lives that were cut at their last write
	for _, c := range cycles {
		smooth := &operator{t: t, dir: t.TempDir(), database: database(t), address: "127.0.79.1"}
		want := smooth.script(c.asks)
		writes := smooth.diary()
		if len(writes) < len(c.asks) {
			t.Fatalf("%s: only %d writes are known of: %v", c.name, len(writes), writes)
		}
		var all sync.WaitGroup
		rows := make([]string, 3*len(writes))
		turns := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
		for i, write := range writes {
			story := strings.Join(writes[:i+1], "; ")
			if eventLog[story] || i%sample != 0 {
				continue
			}
			eventLog[story] = true
			for k, m := range []moment{before, amid, after} {
				all.Go(func() {
					turns <- struct{}{}
					defer func() { <-turns }()
					name := fmt.Sprintf("%s, %s write %d", c.name, m, i+1)
					t.Run(name, func(t *testing.T) {
						o := &operator{t: t, dir: t.TempDir(), database: database(t), address: fmt.Sprintf("127.0.%d.%d", 80+k, 1+i),
							cuts: []cut{{moment: m, nth: i + 1}}}
						compare(t, want, o.script(c.asks))
						if got := o.diary(); o.lives != 2 || len(got) < i || !slices.Equal(got, writes[:len(got)]) {
							t.Errorf("%d lives, the first wrote %q; want 2, cut off at %q", o.lives, got, writes[:i+1])
						}
						rows[3*i+k] = fmt.Sprintf("%-8s %3d %-6s  %-60s  %s", c.name, i+1, m, write, o.went)
					})
				})
			}
		}
		all.Wait()
		table = append(table, slices.DeleteFunc(rows, func(row string) bool { return row == "" })...)
		t.Run(fmt.Sprintf("%s, %d writes a life", c.name, c.writes), func(t *testing.T) {
			o := &operator{t: t, dir: t.TempDir(), database: database(t), address: "127.0.79.2",
				everyLife: cut{moment: after, nth: c.writes}}
			compare(t, want, o.script(c.asks))
			if o.lives < len(c.asks) {
				t.Errorf("the conductor had only %d lives", o.lives)
			}
			table = append(table,
				fmt.Sprintf("%-8s all after   each of %d lives ends after write %d", c.name, o.lives, c.writes))
		})
	}
	t.Logf("%d cuts\n%s", len(table), strings.Join(table, "\n"))
}

func compare[T any](t *testing.T, want, got []T) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("not as in an undisturbed life (-undisturbed +killed):\n%s", diff)
	}
}
