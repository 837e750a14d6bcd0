package redfish_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var hostileRuns = flag.Int("hostile.runs", 30, "how many altered values TestHostileValues tries; 0 for all there are")

// hung is far more than an operation takes on a busy machine. An operation takes longer if it waits for invented work
// of the controller.
const hung = 30 * time.Second

// liar hands on the controller's answers, with one value of one of them altered.
type liar struct {
	next http.Handler

	mu     sync.Mutex
	lie    lie
	gets   map[string]any // answers to GET as they were, by path
	values int            // that were altered
}

// lie is an altered value: of the resource at a path, at some keys, or, with
// texts, all texts of the resource that are no links.
type lie struct {
	path  string
	keys  []any // string or int
	put   any
	texts bool
}

func (l lie) String() string { return fmt.Sprintf("%s %v = %.60q", l.path, l.keys, fmt.Sprint(l.put)) }

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := httptest.NewRecorder()
	l.next.ServeHTTP(rec, r)
	body := rec.Body.Bytes()
	var doc any
	if json.Unmarshal(body, &doc) == nil {
		l.mu.Lock()
		if r.Method == http.MethodGet && l.lie.path == "" {
			l.gets[r.URL.Path] = doc
		}
		if l.lie.path == r.URL.Path {
			changed := l.lie.texts
			if changed {
				doc = allTexts(doc, fmt.Sprint(l.lie.put))
			} else {
				doc, changed = alter(doc, l.lie.keys, l.lie.put)
			}
			if changed {
				l.values++
				body, _ = json.Marshal(doc) // it was JSON before
			}
		}
		l.mu.Unlock()
	}
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body) // the driver may have gone
}

func alter(doc any, keys []any, put any) (any, bool) {
	if len(keys) == 0 {
		return put, true
	}
	var was any
	var ok bool
	var set func(any)
	switch at := doc.(type) {
	case map[string]any:
		key, _ := keys[0].(string)
		was, ok = at[key]
		at = maps.Clone(at)
		doc, set = at, func(v any) { at[key] = v }
	case []any:
		i, isIndex := keys[0].(int)
		if ok = isIndex && i < len(at); ok {
			was = at[i]
			at = slices.Clone(at)
			doc, set = at, func(v any) { at[i] = v }
		}
	}
	if !ok {
		return doc, false
	}
	v, changed := alter(was, keys[1:], put)
	set(v)
	return doc, changed
}

// allTexts alters all texts of a document that are no links.
func allTexts(doc any, put string) any {
	switch at := doc.(type) {
	case string:
		if !strings.HasPrefix(at, "/") {
			return put
		}
	case map[string]any:
		for k, v := range at {
			at[k] = allTexts(v, put)
		}
	case []any:
		for i, v := range at {
			at[i] = allTexts(v, put)
		}
	}
	return doc
}

// places are the keys of every value in a document.
func places(doc any, keys []any, all *[][]any) {
	*all = append(*all, slices.Clone(keys))
	switch at := doc.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(at)) {
			places(at[k], append(keys, k), all)
		}
	case []any:
		for i := range min(len(at), 2) {
			places(at[i], append(keys, i), all)
		}
	}
}

// evil is part of the texts that a lie makes; its escapes must not be shown.
const evil = "e\x1b[31mv\u0000i\u202el\x07\u009b2J\nERROR done"

// hostileValues stand for any other.
func hostileValues(path, other string) []any {
	link := func(to string) any { return map[string]any{"@odata.id": to} }
	return []any{
		nil, true, -1, 0, 1e308, -1e308, 1e-300, "", evil, strings.Repeat("long"+evil, 20000), []any{}, map[string]any{},
		[]any{nil}, []any{[]any{}},
		[]any{evil, evil}, []any{1, "a", nil}, map[string]any{evil: evil}, link(path), link(other),
		link("file:///etc/passwd"), link("//" + strings.TrimPrefix(other, "http://")),
		link("/redfish/v1/" + evil), []any{link(path), link(path)}, link("/redfish/v1/../../x?y#z"), link(""), other, path,
		slices.Repeat([]any{evil}, 5000),
	}
}

// operations are all that a driver is asked for.
func operations(images string) map[string]func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) {
	type op = func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error)
	only := func(f func(ctx context.Context, d *redfish.Driver, n node.Node) error) op {
		return func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) { return nil, f(ctx, d, n) }
	}
	all := map[string]op{
		"vitals": func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) { return d.Vitals(ctx, n) },
		"system": func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) { return d.System(ctx, n) },
		"report": func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) {
			return d.ReportHardware(ctx, n)
		},
		"slots":       func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) { return d.MediaSlots(ctx, n) },
		"indicators":  func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) { return d.Indicators(ctx, n) },
		"secure boot": func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) { return d.SecureBoot(ctx, n) },
		"boot mode":   func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) { return d.BootMode(ctx, n) },
		"boot device": func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) {
			device, _, err := d.BootDevice(ctx, n)
			return device, err
		},
		"light": func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) {
			return d.IndicatorState(ctx, n, "system", "1")
		},
		"set light": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error {
			return d.SetIndicatorState(ctx, n, "system", "1", "ON")
		}),
		"set power": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error {
			return d.SetPower(ctx, n, node.Rebooting)
		}),
		"nmi": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error { return d.InjectNMI(ctx, n) }),
		"set boot device": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error {
			return d.SetBootDevice(ctx, n, "pxe", true)
		}),
		"set boot mode": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error {
			return d.SetBootMode(ctx, n, "bios")
		}),
		"set secure boot": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error {
			return d.SetSecureBoot(ctx, n, true)
		}),
		"attach": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error {
			return d.AttachMedium(ctx, n, node.Medium{Device: "cdrom", Image: images + "/a.iso"})
		}),
		"detach": only(func(ctx context.Context, d *redfish.Driver, n node.Node) error { return d.DetachMedia(ctx, n, nil) }),
	}
	vendor := func(method string, args map[string]any) {
		all["vendor "+method] = func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) {
			return d.CallVendor(ctx, n, method, args)
		}
	}
	vendor("create_subscription", map[string]any{"Destination": "https://events.test/x"})
	vendor("get_all_subscriptions", nil)
	vendor("get_subscription", map[string]any{"id": "1"})
	vendor("delete_subscription", map[string]any{"id": "9"})
	vendor("eject_vmedia", map[string]any{"boot_device": "cd"})
	for _, s := range scenarios() {
		kind, name, _ := strings.Cut(s.step, ".")
		all["step "+s.name] = func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error) {
			n.TargetRAIDConfig = raid(map[string]any{"size_gb": "MAX", "raid_level": "1", "physical_disks": []any{"1", "2"},
				"volume_name": "v"})
			step, task := node.Step{Interface: kind, Step: name, Args: s.arguments(images)}, ""
			for range 8 {
				report, err := d.DoStep(ctx, n, step, task)
				if err != nil || report.Done {
					return report, err
				}
				if len(report.Task) > 256<<10 || len(report.Note) > 4096 {
					return report, fmt.Errorf("a step keeps %d bytes, and says %d", len(report.Task), len(report.Note))
				}
				task = report.Task
			}
			return nil, nil
		}
	}
	return all
}

// attempt does one operation while the controller lies.
func (l *liar) attempt(t *testing.T, n node.Node, name string,
	do func(ctx context.Context, d *redfish.Driver, n node.Node) (any, error), given lie) {
	t.Helper()
	l.mu.Lock()
	l.lie = given
	l.mu.Unlock()
	d := redfish.New(
		redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond, RequestTimeout: 2 * time.Second})
	began := time.Now()
	result, err := do(t.Context(), d, n)
	l.mu.Lock()
	l.lie = lie{}
	l.mu.Unlock()
	if took := time.Since(began); took > hung {
		t.Errorf("%s took %v with %v", name, took, given)
	}
	if closed := d.Close(); closed != nil {
		t.Errorf("%s: close: %v", name, closed)
	}
	if err != nil {
		if text := err.Error(); len(text) > 4096 || nodeapi.Printable(text) != text {
			t.Errorf("%s fails with %d bytes %.300q after %v", name, len(text), text, given)
		}
		return
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Errorf("%s answers what is no JSON (%v) after %v", name, err, given)
	}
	if len(text) > 4<<20 || bytes.Contains(text, []byte(`\u001b`)) || bytes.Contains(text, []byte("\u202e")) {
		t.Errorf("%s answers %d bytes %.300s after %v", name, len(text), text, given)
	}
}

// TestHostileValues alters each value of each answer of a controller in many ways. In each operation, the driver
// neither panics nor waits nor goes elsewhere, and shows no text that a terminal would obey.
func TestHostileValues(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	s := newStage(t)
	l := &liar{next: s.Server, gets: map[string]any{}}
	s.wire.lead(l)
	ops := operations(redfishtest.Images(t))
	type trial struct {
		op, path string
		keys     []any
		value    int // of hostileValues
	}
	values := len(hostileValues("", ""))
	reading := []string{"system", "report", "slots", "indicators", "set power", "vendor get_subscription",
		"step volumes by argument", "step bios settings"}
	var trials []trial
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		s.clock.Advance(restartTime)
		clear(l.gets)
		l.attempt(t, s.node, name, ops[name], lie{})
		for _, path := range slices.Sorted(maps.Keys(l.gets)) {
			if slices.Contains(reading, name) {
				l.attempt(t, s.node, name, ops[name], lie{path: path, put: strings.Repeat(evil, 120), texts: true})
			}
			var all [][]any
			places(l.gets[path], nil, &all)
			for _, keys := range all {
				for i := range values {
					trials = append(trials, trial{name, path, keys, i})
				}
			}
		}
	}
	all := len(trials)
	if *hostileRuns > 0 {
		rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)).Shuffle(len(trials),
			func(i, k int) { trials[i], trials[k] = trials[k], trials[i] })
		trials = trials[:min(len(trials), *hostileRuns)]
	}
	for _, x := range trials {
		s.clock.Advance(restartTime)
		l.attempt(t, s.node, x.op, ops[x.op], lie{path: x.path, keys: x.keys, put: hostileValues(x.path, other.URL)[x.value]})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests went to another host", n)
	}
	t.Logf("%d of %d altered values were tried; %d answers were altered", len(trials), all, l.values)
}
