package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Default duration of a watch, interval between bookmarks, and time for a client to read.
const (
	watchTime     = 30 * time.Minute
	bookmarkEvery = time.Minute
	readPatience  = 30 * time.Second
)

// watching is one watch.
type watching struct {
	s        *Server
	c        *call
	sel      selected
	form     form
	control  *http.ResponseController
	bookmark bool
	lasts    time.Duration
}

// watchEvent is one line of a watch.
type watchEvent struct {
	Type   objects.EventType `json:"type"`
	Object any               `json:"object"`
}

// watch streams changes of documents until its time is over or the client leaves.
func (s *Server) watch(c *call) error {
	w, err := s.watching(c)
	if err != nil {
		return err
	}
	if w.sel, err = c.selected(); err != nil {
		return err
	}
	docs, from, err := w.from()
	if err != nil {
		return err
	}
	events, err := s.keeper.Watch(w.sel.Filter, from)
	if err != nil {
		return err
	}
	return w.answer(func(ctx context.Context) error { return w.follow(ctx, docs, events) })
}

// watching is a watch as a client asks for it.
func (s *Server) watching(c *call) (w watching, err error) {
	w = watching{s: s, c: c, control: http.NewResponseController(c.w), bookmark: c.yes("allowWatchBookmarks"),
		lasts: watchTime}
	if w.form, err = c.accepted(); err != nil {
		return w, err
	}
	seconds, err := c.count("timeoutSeconds")
	if seconds > 0 {
		w.lasts = min(w.lasts, time.Duration(seconds)*time.Second)
	}
	return w, err
}

// answer begins the answer, which follow continues with until its time is over.
func (w *watching) answer(follow func(context.Context) error) error {
	lasts, cancel := context.WithTimeout(w.c.Context(), w.lasts)
	defer cancel()
	defer context.AfterFunc(w.s.stopping, cancel)()
	ctx, end, err := w.s.watches.Open(lasts, w.c.w, w.c.Request, w.c.caller, nil)
	if err != nil {
		return busy(err)
	}
	defer end()
	w.c.w.Header().Set("Content-Type", "application/json")
	nodeapi.Unbuffered(w.c.w.Header())
	w.c.w.WriteHeader(http.StatusOK)
	err = follow(ctx)
	if way := auth.GaveWay(ctx); way != nil {
		err = errors.Join(err, w.line(watchEvent{"ERROR", busy(way).Status}))
	}
	if err != nil { // the answer has begun
		w.s.log.Debug("watch ended", "path", w.c.URL.Path, "err", err)
	}
	return nil
}

// busy is the answer without a place for a watch. At this status client-go waits for longer each time, and then watches
// on from where it was; at 410 it would list anew.
func busy(err error) *failure { return failed(http.StatusTooManyRequests, tooManyRequests, "%v", err) }

// since is the revision that a watch goes on from; said is false where the request has none, and the watch begins with
// the present documents.
func (c *call) since() (from int64, said bool, err error) {
	text := c.arg("resourceVersion")
	if text == "" || text == "0" {
		return 0, false, nil
	}
	from, err = strconv.ParseInt(text, 10, 64)
	if err != nil || from < 0 {
		return 0, false, badRequest("resourceVersion %q: expected the resourceVersion of a list or a watch", text)
	}
	return from, true, nil
}

// from is the documents that a watch begins with, and the revision it goes on from.
func (w *watching) from() (docs documents, from int64, err error) {
	from, said, err := w.c.since()
	if err != nil {
		return nil, 0, err
	}
	_, newest, err := w.s.keeper.List(w.c.Context(), objects.Query{Kind: w.c.kind.Kind, Limit: 1})
	switch {
	case err != nil:
		return nil, 0, err
	case !said:
		return w.s.read(w.c, w.sel, objects.Key{}, nil), newest, nil
	case from > newest: // of a database that has been restored: changes up to there would go unseen
		return nil, from, objects.ErrExpired
	}
	return func(func(hostapi.Document, error) bool) {}, from, nil
}

// follow writes events as they come.
func (w *watching) follow(ctx context.Context, docs documents, events *objects.Watcher) error {
	ahead, err := w.present(ctx, docs, events.Seen())
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		e, err := w.next(ctx, events)
		switch {
		case errors.Is(err, errQuiet):
			err = w.mark(events.Seen())
		case errors.Is(err, objects.ErrExpired):
			return w.line(watchEvent{"ERROR", failureOf(w.c, err).Status})
		case err != nil:
			return w.mark(events.Seen()) // its time is over, or the client has gone
		case e.Revision > ahead[e.Key]:
			err = w.event(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// present writes the documents that there are, in batches of the store. A document that has changed since revision from
// is returned with its revision: no event up to there may take the client back to an older version, or add it again.
func (w *watching) present(ctx context.Context, docs documents, from int64) (ahead map[objects.Key]int64, err error) {
	ahead = map[objects.Key]int64{}
	for d, err := range docs {
		if err == nil {
			err = w.writeDocument(ctx, objects.Added, d)
		}
		if err != nil {
			return nil, err
		}
		m := d.Meta()
		if revision, err := strconv.ParseInt(m.ResourceVersion, 10, 64); err == nil && revision > from {
			ahead[objects.Key{Kind: w.c.kind.Kind, Namespace: m.Namespace, Name: m.Name}] = revision
		}
	}
	return ahead, w.flush()
}

// errQuiet is the end of a wait without events.
var errQuiet = errors.New("nothing has happened")

func (w *watching) next(ctx context.Context, events *objects.Watcher) (objects.Event, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bookmarkEvery, errQuiet)
	defer cancel()
	return events.Next(ctx)
}

// event sends a write, as far as it concerns the selection: a document that no longer is has
// gone, for this client.
func (w *watching) event(e objects.Event) error {
	was := e.Type != objects.Added && w.sel.labels.matches(e.Before)
	is := e.Type != objects.Deleted && w.sel.labels.matches(e.After)
	kind := objects.Modified
	switch {
	case w.sel.none || !was && !is:
		return nil
	case !was:
		kind = objects.Added
	case !is:
		kind = objects.Deleted
	}
	text, err := w.s.lines.of(w.key(kind, e.Revision), func() ([]byte, error) {
		d, err := e.Document()
		if err != nil {
			return nil, err
		}
		return w.render(kind, d)
	})
	if err != nil {
		return err
	}
	return w.send(text)
}

// key is all that render takes from this watch.
func (w *watching) key(kind objects.EventType, revision int64) lineKey {
	k := lineKey{revision: revision, kind: kind, as: w.form.as, masked: !unmasked(w.c)}
	if k.as == "Table" {
		k.include, k.second = w.c.arg("includeObject"), w.s.now().Unix()
	}
	return k
}

// render is the line with a document.
func (w *watching) render(kind objects.EventType, d hostapi.Document) ([]byte, error) {
	d, err := masked(w.c, d)
	if err != nil {
		return nil, err
	}
	return text(watchEvent{kind, w.s.shown(w.c, w.form, d)})
}

// writeDocument writes a document without a flush, unless ctx has ended: the first documents of a watch may take long.
func (w *watching) writeDocument(ctx context.Context, kind objects.EventType, d hostapi.Document) error {
	text, err := w.render(kind, d)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	return w.write(text)
}

// mark sends a bookmark.
func (w *watching) mark(seen int64) error {
	if !w.bookmark {
		return nil
	}
	d := w.c.kind.New()
	*d.About() = hostapi.TypeMeta{Kind: w.c.kind.Kind, APIVersion: w.c.kind.APIVersion()}
	d.Meta().ResourceVersion = strconv.FormatInt(seen, 10)
	object := w.s.shown(w.c, w.form, d)
	if t, ok := object.(table); ok {
		t.Rows = []row{{Cells: make([]any, len(t.Columns)), Object: partial(d)}}
		object = t
	}
	return w.line(watchEvent{"BOOKMARK", object})
}

func (w *watching) line(e watchEvent) error {
	text, err := text(e)
	if err != nil {
		return err
	}
	return w.send(text)
}

// text is an event as it is sent.
func text(e watchEvent) ([]byte, error) {
	text, err := json.Marshal(e)
	return append(text, '\n'), err
}

// send writes one event at once.
func (w *watching) send(text []byte) error {
	if err := w.write(text); err != nil {
		return err
	}
	return w.flush()
}

// write adds an event to the answer, for which the client has its time. Other watches share the text.
func (w *watching) write(text []byte) error {
	// Writers in tests may lack deadlines; a server's have them.
	if err := w.control.SetWriteDeadline(time.Now().Add(readPatience)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := w.c.w.Write(text)
	return err
}

func (w *watching) flush() error { return w.control.Flush() }
