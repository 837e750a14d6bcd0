package doctor

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/bmc/savedtree"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// driver has the operations that every BMC has.
type driver interface {
	PowerState(ctx context.Context, n node.Node) (node.PowerState, error)
	SetPower(ctx context.Context, n node.Node, target node.PowerState) error
	BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error)
	SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error
	BootMode(ctx context.Context, n node.Node) (string, error)
	System(ctx context.Context, n node.Node) (node.System, error)
	Sensors(ctx context.Context, n node.Node) (node.SensorReport, error)
	Close() error
}

// visit is one look at a BMC.
type visit struct {
	driver   driver
	redfish  *redfish.Driver // nil for IPMI
	node     node.Node
	exercise Exercise
	trials   map[string]Trial
	pause    time.Duration // between two looks at the power

	offer    redfish.Offer
	system   node.System
	hardware *node.HardwareReport // read once, for two operations

	mu       sync.Mutex // over the fields below, which the driver's requests and log write
	requests []redfish.Request
	odd      []redfish.Oddity
	notes    []string
	tree     savedtree.Tree // all documents that were read
}

// saw notes a request.
func (v *visit) saw(r redfish.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests = append(v.requests, r)
}

// oddity keeps a departure from the standard that the driver has met.
func (v *visit) oddity(o redfish.Oddity) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.odd = append(v.odd, o)
}

// read keeps a document. A document that is not an object is left out: it has no properties with private values.
func (v *visit) read(path string, document []byte) {
	var doc map[string]any
	if json.Unmarshal(document, &doc) != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tree.Add(path, doc)
}

// note keeps an operation's oddities, each a part and a reason. A reason that the driver's log already gave is not
// repeated.
func (v *visit) note(texts []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, text := range texts[:min(len(texts), maxNotes)] {
		_, reason, _ := strings.Cut(text, ": ")
		if !slices.ContainsFunc(v.notes, func(known string) bool { return strings.HasSuffix(known, reason) }) {
			v.notes = append(v.notes, text)
		}
	}
}

// basic reports whether no session was made.
func (v *visit) basic() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.requests {
		if r.Method == "POST" && r.Status < 300 && r.Status > 0 {
			return false
		}
	}
	return true
}

// report reads BIOS settings and firmware, once.
func (v *visit) report(ctx context.Context) (node.HardwareReport, error) {
	if v.hardware != nil {
		return *v.hardware, nil
	}
	r, err := v.redfish.ReportHardware(ctx, v.node)
	if err == nil {
		v.hardware = &r
	}
	return r, err
}

// do looks at one operation, and measures it.
func (v *visit) do(ctx context.Context, op operation) Finding {
	before, start := len(v.requests), time.Now()
	f := Finding{Operation: op.name, Need: op.need}
	detail, err := op.look(ctx, v)
	if f.Verdict, f.Detail = verdictOf(err); err == nil {
		f.Detail = detail
		v.change(ctx, op, &f)
	}
	f.Took = time.Since(start)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.requests[before:] {
		f.Requests++
		f.Slowest = max(f.Slowest, r.Took)
	}
	for _, q := range v.offer.Quirks {
		for _, about := range op.quirk {
			if q.Quirk == about {
				f.Quirks = append(f.Quirks, string(q.Quirk))
			}
		}
	}
	return f
}

// change exercises an operation that works, as far as that was asked for.
func (v *visit) change(ctx context.Context, op operation, f *Finding) {
	done, err := "", error(nil)
	if trial := v.trials[op.name]; trial != nil {
		err = trial(ctx, v.redfish, v.node)
	} else if op.exercise != nil {
		done, err = op.exercise(ctx, v)
	}
	if err != nil {
		f.Verdict, f.Detail = verdictOf(err)
	} else if done != "" {
		f.Detail += "; tried: " + done
	}
}

// maxNotes bounds the notes that are kept.
const maxNotes = 100

// notes is a log handler that keeps the driver's warnings, and the ways around a quirk that it takes.
type notes struct{ v *visit }

func (n notes) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (n notes) Handle(_ context.Context, r slog.Record) error {
	var about []string
	reason, isOddity := "", false
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "bmc":
		case "odd":
			isOddity = true // redfish.Options.Odd reports it, too
		case "err":
			reason = ": " + a.Value.String()
		default:
			about = append(about, a.Key+" "+a.Value.String())
		}
		return true
	})
	if isOddity {
		return nil
	}
	text := r.Message
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	text += reason
	n.v.mu.Lock()
	defer n.v.mu.Unlock()
	if len(n.v.notes) < maxNotes && !slices.Contains(n.v.notes, text) {
		n.v.notes = append(n.v.notes, text)
	}
	return nil
}

func (n notes) WithAttrs([]slog.Attr) slog.Handler { return n }

func (n notes) WithGroup(string) slog.Handler { return n }
