//go:build e2e

package scale

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/agenttest"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

var (
	machines = flag.Int("machines", 40, "how many machines are discovered and made available")
	atATime  = flag.Int("at-a-time", 400,
		"how many machines are on their way at a time; before that, a few with a 16th and a 4th")
	rate = flag.Float64("rate", 0, "how many machines a minute are to become available at least")
)

// TestE2EScaleDiscovered: unknown machines are discovered, get credentials, are verified, cleaned by their agents, and
// become available.
func TestE2EScaleDiscovered(t *testing.T) {
	c := newCluster(t, nil, "--boot=false", "--discovery", "redfish", "--discovery-limit", fmt.Sprint(*machines+1),
		"--max-concurrent-clean", "0", "--sync-power-state-interval", "30m")
	c.start()
	r := &ramdisks{callers: newCallers(c.members), all: map[int]*agenttest.Machine{}}
	newBMCs(t, false, r.pushed)
	serveAll(t, agentPort, r)
	o := &operator{cluster: c, ramdisks: r, took: map[string]*atomic.Int64{}}
	for _, stage := range stages {
		o.took[stage] = &atomic.Int64{}
	}
	few := 0
	if *machines >= 1000 { // the knee is between these
		for _, part := range []int{16, 4} {
			o.measure(few, *machines/20, max(1, *atATime/part), false)
			few += *machines / 20
		}
	}
	o.measure(few, *machines-few, *atATime, true)
	c.stop()
}

// lookEvery is how often a client looks whether its node has arrived.
const lookEvery = 2 * time.Second

// stages of a machine's way.
var stages = []string{"discovered", "managed", "available"}

// operator takes machines on their way.
type operator struct {
	*cluster
	ramdisks *ramdisks
	next     atomic.Int64
	took     map[string]*atomic.Int64 // by stage, in ns
}

// measure takes machines on their way, so many at a time.
func (o *operator) measure(first, count, atATime int, last bool) {
	o.t.Helper()
	leader := o.leader()
	if last {
		leader.Signal(syscall.SIGUSR1)
		o.forget()
	}
	used, made, began := o.usage(), o.transactions(), time.Now()
	machines := make(chan int)
	var all sync.WaitGroup
	for range atATime {
		all.Go(func() {
			for nth := range machines {
				if err := o.take(nth); err != nil {
					o.t.Errorf("machine %d: %v", nth, err)
				}
			}
		})
	}
	for nth := range count {
		machines <- first + nth
	}
	close(machines)
	all.Wait()
	took := time.Since(began)
	perMinute := float64(count) / took.Minutes()
	fmt.Printf("scale: %d machines discovered and made available, %d at a time: %.1f s, %.0f a minute, %.0f transactions "+
		"a second\n", count, atATime, took.Seconds(), perMinute, float64(o.transactions()-made)/took.Seconds())
	fmt.Printf("scale: processors: %s; %s leads\n", o.usage().since(used, took), leader.Name)
	for _, stage := range stages {
		fmt.Printf("scale: to be %s: %.2f s each\n", stage,
			time.Duration(o.took[stage].Swap(0)).Seconds()/float64(count))
	}
	if !last {
		return
	}
	leader.Signal(syscall.SIGUSR1)
	for _, m := range o.members {
		fmt.Printf("scale: %s has %.0f MiB\n", m.Name, m.memory())
	}
	o.statements()
	o.top(leader)
	if perMinute < *rate {
		o.t.Errorf("expected %.0f a minute", *rate)
	}
}

// take takes one machine from its first call to available.
func (o *operator) take(nth int) error {
	began := time.Now()
	stage := func(name string) {
		o.took[name].Add(int64(time.Since(began)))
		began = time.Now()
	}
	var made agentapi.LookupReply
	err := patiently(o.t.Context(), func() (int, error) {
		return o.ramdisks.call(nth, http.MethodPost, agentapi.ContinueInspectionPath, inspectionOf(nth), &made)
	})
	if err != nil {
		return err
	}
	stage("discovered")
	path := "/v1/nodes/" + made.Node.UUID
	base := []map[string]any{{"op": "add", "path": "/driver_info", "value": map[string]any{
		"redfish_address":  fmt.Sprintf("http://%s:%d", address(bmcNet, nth), bmcPort),
		"redfish_username": redfishtest.User, "redfish_password": redfishtest.Password,
		"deploy_kernel": "http://127.0.0.1/kernel", "deploy_ramdisk": "http://127.0.0.1/ramdisk",
	}}}
	if err := o.ask(http.MethodPatch, path, base, nil); err != nil {
		return err
	}
	if err := o.reach(path, "manage", "enroll", "manageable"); err != nil {
		return err
	}
	stage("managed")
	if err := o.reach(path, "provide", "manageable", "available"); err != nil {
		return err
	}
	stage("available")
	return nil
}

// reach requests a verb, and waits until the node is in the verb's goal. When the answer to a verb was lost, a repeated
// request is refused: the node has left the state in which the verb is possible.
func (o *operator) reach(path, verb, from, goal string) error {
	refused := o.ask(http.MethodPut, path+"/states/provision", map[string]string{"target": verb}, nil)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(lookEvery) {
		var n struct {
			State string `json:"provision_state"`
			Error string `json:"last_error"`
		}
		if err := o.ask(http.MethodGet, path+"/states", nil, &n); err != nil {
			return err
		}
		switch {
		case n.State == goal:
			return nil
		case n.State == from && refused != nil:
			return refused
		case n.Error != "":
			return fmt.Errorf("%s: %s: %s", verb, n.State, n.Error)
		}
	}
	return fmt.Errorf("%s: not %s within %s", verb, goal, patience)
}

// ask asks the conductors in turn.
func (o *operator) ask(method, path string, body, answer any) error {
	return patiently(o.t.Context(), func() (int, error) {
		return o.members[int(o.next.Add(1))%len(o.members)].call(o.http, method, path, body, answer)
	})
}

// patiently repeats requests that a busy conductor has refused.
func patiently(ctx context.Context, do func() (int, error)) error {
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Second) {
		status, err := do()
		if err == nil || status != 0 && status != http.StatusServiceUnavailable && status != http.StatusConflict {
			return err
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return errors.Join(last, ctx.Err())
}
