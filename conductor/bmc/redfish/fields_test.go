package redfish_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

// recordedTrees are other trees for TestFields, by hand, which take minutes.
var recordedTrees = flag.String("trees", "", "pattern of recorded BMCs' files, whose documents TestFields changes")

// every has TestFields try each change of each document, which takes minutes: TestMendTrees tries all on the layer.
var every = flag.Bool("every", false, "TestFields: try each kind of each field")

// strides are how many changes TestFields goes on by: no multiples of the number of kinds, so that each has a turn.
var strides = []int{11, 41}

// acts are the operations that one field of a document must not end.
var acts = []struct {
	name string
	do   func(ctx context.Context, d *redfish.Driver, n node.Node, s *spoilt) error
}{
	{"manage, power and boot device", func(ctx context.Context, d *redfish.Driver, n node.Node, s *spoilt) error {
		v, err := d.Vitals(ctx, n)
		if err == nil && v.Power != node.PowerOn {
			err = fmt.Errorf("the power is %q", v.Power)
		}
		aim := d.SetBootDevice(ctx, n, "pxe", false)
		_, _, read := d.BootDevice(ctx, n)
		power := d.SetPower(ctx, n, node.PowerOff)
		return errors.Join(err, aim, read, power, s.sent("PATCH", `"Pxe"`), s.sent("POST", `"ForceOff"`))
	}},
	{"inspect", func(ctx context.Context, d *redfish.Driver, n node.Node, _ *spoilt) error {
		_, system := d.System(ctx, n)
		_, parts := d.Parts(ctx, n)
		_, report := d.ReportHardware(ctx, n)
		return errors.Join(system, parts, report)
	}},
}

// change is one way to spoil a document: the field at a place becomes a value, or is gone.
type change struct {
	at    []any // names, and whole numbers of items
	value any
	gone  bool
	raw   func(w http.ResponseWriter) // answers instead; nil: the document
}

// field is the place as in Boot.BootOrder[0].
func (c change) field() string {
	text := ""
	for _, step := range c.at {
		if name, ok := step.(string); ok {
			text += "." + name
		} else {
			text += fmt.Sprintf("[%d]", step)
		}
	}
	return strings.TrimPrefix(text, ".")
}

// in makes the change in a document, or in a part of one.
func (c change) in(doc any) any {
	step, rest := c.at[0], change{at: c.at[1:], value: c.value, gone: c.gone}
	switch doc := doc.(type) {
	case map[string]any:
		name, _ := step.(string)
		switch inner, has := doc[name]; {
		case !has:
		case len(rest.at) > 0:
			doc[name] = rest.in(inner)
		case c.gone:
			delete(doc, name)
		default:
			doc[name] = c.value
		}
	case []any:
		if i, _ := step.(int); i < len(doc) && len(rest.at) > 0 {
			doc[i] = rest.in(doc[i])
		} else if i < len(doc) {
			doc[i] = c.value
		}
	}
	return doc
}

// kinds are values of every kind of JSON.
var kinds = []any{nil, true, 4711, "x", []any{4711}, map[string]any{"x": 1}}

// changes are all of a document: each field in each kind, and each property gone.
func changes(at []any, doc any) (all []change) {
	in := func(step, inner any, item bool) {
		place := append(slices.Clip(at), step)
		for _, v := range kinds {
			all = append(all, change{at: place, value: v})
		}
		if !item {
			all = append(all, change{at: place, gone: true})
		}
		all = append(all, changes(place, inner)...)
	}
	switch doc := doc.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(doc)) {
			in(key, doc[key], false)
		}
	case []any:
		for i, inner := range doc {
			in(i, inner, true)
		}
	}
	return all
}

// spoilt is a recorded BMC with a change of one document.
type spoilt struct {
	bmc http.Handler
	at  string // path of the document, "" for none
	c   change

	mu    sync.Mutex
	read  map[string]bool
	wrote []string
}

func (s *spoilt) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := strings.TrimSuffix(r.URL.Path, "/")
	if r.Method != http.MethodGet {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		s.mu.Lock()
		s.wrote = append(s.wrote, r.Method+" "+string(body))
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.bmc.ServeHTTP(w, r)
		return
	}
	s.mu.Lock()
	s.read[at] = true
	s.mu.Unlock()
	if at != s.at {
		s.bmc.ServeHTTP(w, r)
		return
	}
	if s.c.raw != nil {
		s.c.raw(w)
		return
	}
	as := httptest.NewRecorder()
	s.bmc.ServeHTTP(as, r)
	w.Header().Set("ETag", as.Header().Get("ETag"))
	var doc any
	if json.Unmarshal(as.Body.Bytes(), &doc) == nil {
		doc = s.c.in(doc)
	}
	_ = json.NewEncoder(w).Encode(doc) // a client that is gone needs none
}

// sent reports whether something was written to the BMC.
func (s *spoilt) sent(method, what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.wrote {
		if strings.HasPrefix(w, method) && strings.Contains(w, what) {
			return nil
		}
	}
	return fmt.Errorf("no %s of %s in %q", method, what, s.wrote)
}

// orchard serves one tree, fresh for each act.
type orchard struct {
	tree *recorded.Tree
	web  *httptest.Server
	node node.Node
	cut  *spoilt // the BMC of the act that is done
}

func plant(t *testing.T, folder string) *orchard {
	t.Helper()
	tree, err := recorded.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	o := &orchard{tree: tree}
	o.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.cut.ServeHTTP(w, r) }))
	t.Cleanup(o.web.Close)
	o.node = node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": o.web.URL}}
	if systems := tree.Systems(); len(systems) > 1 {
		i := max(0, slices.IndexFunc(systems, tree.Switchable))
		o.node.DriverInfo["redfish_system_id"] = systems[i]
	}
	return o
}

// doc is a document of the tree; nil where it has none.
func (o *orchard) doc(at string) (doc map[string]any) {
	w := httptest.NewRecorder()
	recorded.New(recorded.Config{Tree: o.tree}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, nil))
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &doc) != nil {
		return nil
	}
	return doc
}

// try does one act with a change of the document at a path.
func (o *orchard) try(ctx context.Context, i int, at string, c change) (read map[string]bool, err error) {
	o.cut = &spoilt{bmc: recorded.New(recorded.Config{Tree: o.tree}), at: at, c: c, read: map[string]bool{}}
	d := redfish.New(redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond, Pause: time.Nanosecond})
	err = acts[i].do(ctx, d, o.node, o.cut)
	return o.cut.read, errors.Join(err, d.Close())
}

// trees are the tests' own, by name.
func trees(t *testing.T) map[string]map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]map[string]any{"plain": recordedtest.Small()}
	files, err := filepath.Glob("testdata/trees/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d trees", err, len(files))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var docs map[string]map[string]any
		if err := json.Unmarshal(text, &docs); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".json")] = docs
	}
	return all
}

// TestFields: no field of any document that is of another kind, null or missing ends an operation, but for Demands and
// the values that the BMC offers.
func TestFields(t *testing.T) {
	for name, docs := range trees(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			walkFields(t, plant(t, recordedtest.Folder(t, docs, false)))
		})
	}
	others, err := filepath.Glob(*recordedTrees)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range others {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			walkFields(t, plant(t, name))
		})
	}
}

func walkFields(t *testing.T, o *orchard) {
	t.Helper()
	tried, broken := 0, 0
	for i, act := range acts {
		read, err := o.try(t.Context(), i, "", change{})
		if err != nil {
			t.Errorf("%s of the tree as it is: %v", act.name, err)
			continue
		}
		for _, at := range slices.Sorted(maps.Keys(read)) {
			doc := o.doc(at)
			for turn, c := range changes(nil, any(doc)) {
				if !*every && turn%strides[i] != 0 || asked(at, doc, c.field()) {
					continue
				}
				tried++
				if _, err := o.try(t.Context(), i, at, c); err != nil {
					broken++
					t.Errorf("%s, %s %s = %v: %.300v", act.name, at, c.field(), c.value, err)
				}
			}
		}
	}
	t.Logf("%d of %d changes end an operation", broken, tried)
}

// asked reports the fields that matter to an operation: the demanded ones, the objects around them, and the values that
// the BMC offers.
func asked(at string, doc map[string]any, field string) bool {
	kind, _ := doc["@odata.type"].(string)
	switch at {
	case "/redfish/v1":
		kind = "#ServiceRoot."
	case "/redfish/v1/Systems":
		kind = "#ComputerSystemCollection."
	}
	for _, d := range redfish.Demands() {
		rest, in := strings.CutPrefix(d.Property, field)
		if in && strings.HasPrefix(kind, "#"+d.Document+".") && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			return true
		}
	}
	return strings.Contains(field, "AllowableValues") || field == "Boot.BootSourceOverrideTarget" // which is read back
}

// TestMendTrees: each change of each document leaves all that was not changed, for every type of the driver.
func TestMendTrees(t *testing.T) {
	tried := 0
	for name, docs := range trees(t) {
		for at, doc := range docs {
			whole, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes(nil, any(doc)) {
				var copied any
				if err := json.Unmarshal(whole, &copied); err != nil {
					t.Fatal(err)
				}
				text, err := json.Marshal(c.in(copied))
				if err != nil {
					t.Fatal(err)
				}
				tried++
				for _, what := range redfish.Undecoded(text, at) {
					t.Errorf("%s %s %s = %v: %s", name, at, c.field(), c.value, what)
				}
			}
		}
	}
	t.Logf("%d changes", tried)
}
