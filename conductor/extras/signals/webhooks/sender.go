package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Store has events, and the places of their readers. Its methods are safe for concurrent use. After an error the Sender
// tries again. If a place was not saved, a restarted conductor sends its events again.
type Store interface {
	Events(ctx context.Context, after int64, limit int) ([]node.ChangeEvent, error)
	EventLog(ctx context.Context) (node.EventLog, error)
	events.Places
}

// Config has the dependencies and limits of a Sender.
type Config struct {
	Hooks  []Hook
	Store  Store
	Client *http.Client // that may refuse addresses
	Log    *slog.Logger
	Now    func() time.Time // time.Now when nil
	Most   int64            // how many events are kept for a receiver that does not take them
}

// How a receiver is asked.
const (
	requestTime = 15 * time.Second
	firstPause  = time.Second
	longPause   = time.Minute
	pollEvery   = time.Second
	page        = 64
)

// Sender sends events to all receivers.
type Sender struct {
	Config
	client *http.Client

	mu     sync.Mutex
	places map[string]int64
}

// New makes a Sender.
func New(c Config) *Sender {
	if c.Now == nil {
		c.Now = time.Now
	}
	client := *c.Client
	client.Timeout, client.CheckRedirect = requestTime, stay
	return &Sender{Config: c, client: &client, places: map[string]int64{}}
}

// Needed is the position after which a receiver needs the events, negative if there is no receiver.
func (s *Sender) Needed(newest int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := int64(math.MaxInt64)
	for _, h := range s.Hooks {
		least = min(least, s.places[h.Name])
	}
	if len(s.Hooks) == 0 {
		return -1
	}
	return max(least, newest-s.Most)
}

// Run sends until ctx ends. Receivers that the file no longer has are forgotten.
func (s *Sender) Run(ctx context.Context) {
	names := []string{}
	for _, h := range s.Hooks {
		names = append(names, h.Name)
	}
	if err := s.Store.KeepEventReaders(ctx, names); err != nil && ctx.Err() == nil {
		s.Log.Error("receivers that the file of webhooks no longer has could not be forgotten", "err", err)
	}
	var all sync.WaitGroup
	for _, h := range s.Hooks {
		all.Go(func() { s.serve(ctx, h) })
	}
	all.Wait()
}

// Open reads the places of the receivers. It is called before events can be deleted.
func (s *Sender) Open(ctx context.Context) error {
	log, err := s.Store.EventLog(ctx)
	if err != nil {
		return err
	}
	for _, h := range s.Hooks {
		at, known, err := s.Store.EventReader(ctx, h.Name)
		if err != nil {
			return err
		}
		if !known {
			if at = log.Newest; h.From == "oldest" {
				at = log.Gone
			}
			if err := s.Store.SaveEventReader(ctx, h.Name, at); err != nil {
				return err
			}
		}
		s.place(h.Name, at)
	}
	return nil
}

func (s *Sender) place(name string, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[name] = at
}

// serve sends to one receiver, an event at a time, from its place on.
func (s *Sender) serve(ctx context.Context, h Hook) {
	r := receiver{s, h, s.Log.With("webhook", h.Name), 0}
	s.mu.Lock()
	r.at = s.places[h.Name]
	s.mu.Unlock()
	for ctx.Err() == nil {
		more, err := r.page(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Error("events for a receiver cannot be read or its place not kept; tried again", "err", err)
		}
		if !more || err != nil {
			_ = sleep(ctx, pollEvery) // it ends early only with ctx, as the loop does
		}
	}
}

type receiver struct {
	*Sender
	hook Hook
	log  *slog.Logger
	at   int64
}

// page sends some events, and keeps the place after them. It reports whether there may be more at once.
func (r *receiver) page(ctx context.Context) (more bool, err error) {
	log, err := r.Store.EventLog(ctx)
	if err != nil {
		return false, err
	}
	if r.at < log.Gone {
		r.log.Error("events were deleted before the receiver has taken them", "count", log.Gone-r.at)
		r.at = log.Gone
	}
	found, err := r.Store.Events(ctx, r.at, page)
	if err != nil || len(found) == 0 {
		return false, err
	}
	began := r.at
	for _, e := range found {
		if !r.sent(ctx, log.ID, e) {
			break
		}
		r.at = e.Position
	}
	if r.at == began {
		return false, nil
	}
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second) // also when the conductor ends
	defer cancel()
	if err := r.Store.SaveEventReader(keep, r.hook.Name, r.at); err != nil {
		return false, err // they are sent again after a restart: at least once
	}
	r.place(r.hook.Name, r.at)
	return len(found) == page, nil
}

// sent sends an event until the receiver has taken it; false when ctx has ended before.
func (r *receiver) sent(ctx context.Context, database string, e node.ChangeEvent) bool {
	if !r.hook.wants(e.Type) {
		return true
	}
	m, err := formats[r.hook.Format](database, e)
	if err != nil {
		r.log.Error("an event has no form to be sent in, and is passed over", "position", e.Position, "err", err)
		return true
	}
	if m == nil {
		return true
	}
	for try, pause := 1, firstPause; ; try++ {
		err := r.post(ctx, m)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if try == 1 || try%10 == 0 {
			r.log.Warn("a receiver has not taken an event; it is sent again", "event", m.id, "try", try, "err", err)
		}
		if sleep(ctx, pause) != nil {
			return false
		}
		pause = min(2*pause, longPause)
	}
}

// post sends one request. Any answer but 2xx is an error.
func (r *receiver) post(ctx context.Context, m *message) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.hook.URL, bytes.NewReader(m.body))
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(r.Now().Unix(), 10)
	q.Header.Set("Content-Type", m.media)
	q.Header.Set("User-Agent", "ferrite")
	q.Header.Set("Webhook-Id", m.id)
	q.Header.Set("Webhook-Timestamp", stamp)
	if r.hook.secret != nil {
		q.Header.Set("Webhook-Signature", Signature(r.hook.secret, m.id, stamp, m.body))
	}
	answer, err := r.client.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 4<<10) // so that the connection can be used again
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return fmt.Errorf("%s: redirects are not followed: name the last URL", answer.Status)
	case answer.StatusCode < 200 || answer.StatusCode >= 400:
		return fmt.Errorf("the receiver answered %s", answer.Status)
	}
	return nil
}

// Signature signs a message as Standard Webhooks does: HMAC-SHA256 of id, time and body.
func Signature(secret []byte, id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
