// Package nova notifies OpenStack's Nova of power changes of machines that have an instance, as Ironic does ([nova]
// send_power_notifications). It reads them from the events of the database: no node waits for Nova.
package nova

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Store has events.
type Store interface {
	Events(ctx context.Context, after int64, limit int) ([]node.ChangeEvent, error)
	EventLog(ctx context.Context) (node.EventLog, error)
}

// Cloud logs the conductor in, and finds the URLs of services.
type Cloud interface {
	// Service is a client of a service by its type.
	Service(ctx context.Context, kind string) (*gophercloud.ServiceClient, error)
}

// Config has the dependencies and times of a Notifier.
type Config struct {
	Store Store
	Cloud Cloud
	Log   *slog.Logger
	Poll  time.Duration    // between two looks at the events; a second when zero
	Pause time.Duration    // before the second try, twice as long before each one after; a second when zero
	Now   func() time.Time // time.Now when nil
}

const (
	// tries of one power change. Nova finds it by itself later (sync_power_state_interval, ten minutes).
	tries = 4
	// fresh is the greatest age of a change that is sent: Nova finds older ones by itself.
	fresh = 10 * time.Minute
	// requestTime bounds one request, a login included.
	requestTime = 15 * time.Second
	page        = 256
	// microversion is the first with power-update.
	microversion = "2.76"
)

// Notifier sends power changes to Nova.
type Notifier struct{ Config }

// New makes a Notifier.
func New(c Config) *Notifier {
	if c.Poll <= 0 {
		c.Poll = time.Second
	}
	if c.Pause <= 0 {
		c.Pause = time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Notifier{c}
}

// Run sends changes from now on, until ctx ends. It keeps no place: Nova finds changes between two conductors by
// itself.
func (t *Notifier) Run(ctx context.Context) {
	at, known := int64(0), false
	for ctx.Err() == nil {
		var (
			found []node.ChangeEvent
			err   error
		)
		if known {
			found, err = t.Store.Events(ctx, at, page)
		} else {
			var log node.EventLog
			if log, err = t.Store.EventLog(ctx); err == nil {
				at, known = log.Newest, true
			}
		}
		if err != nil && ctx.Err() == nil {
			t.Log.Error("power changes for Nova cannot be read; tried again", "err", err)
		}
		if len(found) > 0 {
			at = found[len(found)-1].Position
			t.notify(ctx, t.changes(found))
		}
		if len(found) < page {
			sleep(ctx, t.Poll)
		}
	}
}

// change is the power that an instance has now.
type change struct {
	instance, node, tag string
}

// tags are the words of Nova for power states (os-server-external-events, power-update).
var tags = map[string]string{string(node.PowerOn): "POWER_ON", string(node.PowerOff): "POWER_OFF"}

// changes are the power changes among events, the last one of each instance.
func (t *Notifier) changes(events []node.ChangeEvent) (out []change) {
	last := map[string]int{}
	for _, e := range events {
		var said nodeapi.Event
		if err := json.Unmarshal(e.Doc, &said); err != nil {
			t.Log.Error("an event cannot be read, and is passed over", "position", e.Position, "err", err)
			continue
		}
		if said.Power == nil || said.Node == nil || said.Node.Instance == "" || t.Now().Sub(e.At) > fresh {
			continue
		}
		c := change{said.Node.Instance, said.Node.UUID, tags[said.Power.To]}
		if c.tag == "" { // the power is unknown, which Nova has no word for
			continue
		}
		if i, told := last[c.instance]; told {
			out[i] = c
			continue
		}
		last[c.instance] = len(out)
		out = append(out, c)
	}
	return out
}

// notify sends changes until Nova has taken or refused them, or until the last try.
func (t *Notifier) notify(ctx context.Context, changes []change) {
	pause := t.Pause
	for try := 1; len(changes) > 0 && ctx.Err() == nil; try++ {
		err := t.post(ctx, changes)
		if err == nil || ctx.Err() != nil {
			return
		}
		var lasting interface{ Permanent() bool }
		if try == tries || errors.As(err, &lasting) && lasting.Permanent() {
			t.Log.Warn("Nova was not notified of power changes; it finds them by itself within minutes", "count", len(changes),
				"nodes", nodesOf(changes), "try", try, "err", err)
			return
		}
		sleep(ctx, pause)
		pause *= 2
	}
}

// maxNamed is how many nodes a line of the log names.
const maxNamed = 10

// nodesOf names the first nodes of changes.
func nodesOf(changes []change) (nodes []string) {
	for _, c := range changes[:min(len(changes), maxNamed)] {
		nodes = append(nodes, c.node)
	}
	return nodes
}

// post sends changes as one request.
func (t *Notifier) post(ctx context.Context, changes []change) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	compute, err := t.Cloud.Service(ctx, "compute")
	if err != nil {
		return fmt.Errorf("find Nova: %w", err)
	}
	events := make([]map[string]string, 0, len(changes))
	for _, c := range changes {
		events = append(events, map[string]string{"name": "power-update", "server_uuid": c.instance, "tag": c.tag})
	}
	resp, err := compute.Post(ctx, compute.ServiceURL("os-server-external-events"),
		map[string]any{"events": events}, nil, &gophercloud.RequestOpts{
			OkCodes: []int{http.StatusOK, http.StatusMultiStatus},
			MoreHeaders: map[string]string{"OpenStack-API-Version": "compute " + microversion,
				"X-OpenStack-Nova-API-Version": microversion},
			KeepResponseBody: true,
		})
	var code gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &code) {
		return &statusError{code.URL, code.Actual}
	}
	if err != nil {
		return fmt.Errorf("ask Nova: %w", err)
	}
	defer resp.Body.Close()
	t.note(resp.Body)
	return nil
}

// maxAnswer bounds an answer of Nova, which has some hundred bytes for each event.
const maxAnswer = 1 << 20

// note logs the events that Nova did not take. It has taken the others: an answer that cannot be read has none of them
// sent again.
func (t *Notifier) note(body io.Reader) {
	var answer struct {
		Events []struct {
			Server string `json:"server_uuid"`
			Code   int    `json:"code"`
		} `json:"events"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&answer); err != nil {
		t.Log.Info("Nova took power changes, and its answer cannot be read", "err", err)
	}
	for _, e := range answer.Events {
		if e.Code != http.StatusOK { // an instance that is gone, or on its way
			t.Log.Info("Nova takes no power change of an instance", "instance", e.Server, "status", e.Code)
		}
	}
}

// statusError is an answer of Nova. Its body is left out: a stranger may have written it.
type statusError struct {
	url    string
	status int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("Nova answered %d %s to %s%s", e.status, http.StatusText(e.status), e.url, remedies[e.status])
}

// remedies are the remedies by status.
var remedies = map[int]string{
	http.StatusForbidden: ": give the conductor's user the role admin in its project",
	http.StatusNotFound:  ": none of the instances is known; or it is no Nova",
}

// Permanent reports whether trying again is of no use.
func (e *statusError) Permanent() bool {
	return e.status < 500 && e.status != http.StatusTooManyRequests && e.status != http.StatusRequestTimeout
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
