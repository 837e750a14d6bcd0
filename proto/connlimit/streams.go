package connlimit

import (
	"fmt"
	"slices"
	"sync"
)

// StreamLimits bound the concurrent answers without an end: event streams, followed logs, watches, consoles. Such a
// request keeps its connection for as long as its reader likes, so that Limit never sees it idle. 0 is no bound.
type StreamLimits struct {
	All, Project, User int
	Kinds              map[string]int // of a kind that costs more than a connection
	// Loopback is for readers on the server's own host. Their places are beside all others, so that an operator there
	// can always work. Beyond these they have half as many that others have, too, since some may come through a
	// proxy of the host. The host's other connections are left to requests that end.
	Loopback int
}

// Reader identifies the reader of a stream.
type Reader struct {
	User    string
	Project string // "" for none
	Kind    string
	Local   bool // on the server's own host; of an open stream: it has a place of the loopback
}

// holder is the unit by which places are compared first: all users of a project count together.
func (r Reader) holder() string {
	if r.Project != "" {
		return "project " + r.Project
	}
	return r.user()
}

func (r Reader) user() string { return "user " + r.User }

// FullError says that there is no place for one more stream.
type FullError struct {
	Share  string // unit with used up places: "user ada", "project blue", "all readers"
	Places int
	Most   string // reader with most of them
	Open   int    // how many
}

// Error is the message for the refused reader, which must not reveal other readers.
func (e *FullError) Error() string {
	return fmt.Sprintf("%s: %d streams, watches and consoles are open, as many as may be: end one, and try again in a "+
		"few seconds", e.Share, e.Places)
}

// GaveWayError ends a stream when another reader gets its place.
type GaveWayError struct{ FullError }

func (e *GaveWayError) Error() string {
	return fmt.Sprintf("%s: all %d places for streams were in use, and %s had most, %d: another reader got the place of "+
		"this one, the oldest; go on in a few seconds", e.Share, e.Places, e.Most, e.Open)
}

// Streams gives places to answers without an end. When a share is full, the reader with most gives way to a reader
// with at least two less: its oldest stream ends. Streams is safe for concurrent use; nil has no bounds.
type Streams struct {
	limits StreamLimits
	full   func(err error, holder string)

	mu       sync.Mutex
	open     []*stream // in the order of their begin
	reported reports[string]
	gaveWay  uint64
	refused  uint64
}

type stream struct {
	Reader
	end  func(error)
	host bool // its reader is on the server's own host, in any kind of place
}

// NewStreams makes an empty Streams. full is called for each used up share, once a minute at most, with a *FullError
// or a *GaveWayError and the holder with most. It must not wait; nil for none.
func NewStreams(l StreamLimits, full func(err error, holder string)) *Streams {
	return &Streams{limits: l, full: full, reported: reports[string]{}}
}

// Open gives a stream its place until leave is called, or answers a *FullError. end is called with a *GaveWayError when
// another reader gets the place, and must not wait.
func (s *Streams) Open(r Reader, end func(error)) (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	t := &stream{r, end, r.Local}
	gone, err := s.place(t)
	for victim, why := range gone {
		victim.end(why)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(t)
	}, nil
}

// scope is a share of the places.
type scope struct {
	name string
	most int
	of   func(*stream) bool
}

// scopes are the shares that a stream counts in, the narrowest first.
func (s *Streams) scopes(t *stream) []scope {
	r := t.Reader
	if r.Local {
		return []scope{{"the loopback", s.limits.Loopback, func(o *stream) bool { return o.Local }}}
	}
	var all []scope
	if t.host {
		all = append(all, scope{"the loopback", s.limits.Loopback / 2, func(o *stream) bool { return o.host && !o.Local }})
	}
	all = append(all, []scope{
		{r.user(), s.limits.User, func(o *stream) bool { return !o.Local && o.User == r.User }},
		{"all " + r.Kind, s.limits.Kinds[r.Kind], func(o *stream) bool { return !o.Local && o.Kind == r.Kind }},
		{"all readers", s.limits.All, func(o *stream) bool { return !o.Local }},
	}...)
	if r.Project != "" {
		all = slices.Insert(all, 1, scope{r.holder(), s.limits.Project,
			func(o *stream) bool { return !o.Local && o.Project == r.Project }})
	}
	return all
}

// place gives t its place, and returns the streams that give way for it. When the loopback's places are taken, a free
// place of the others is better than one taken from another reader.
func (s *Streams) place(t *stream) (gone map[*stream]*GaveWayError, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tries := []bool{t.Local}
	if c := s.scopes(t)[0]; t.Local && c.most > 0 && len(s.within(c)) >= c.most {
		tries = []bool{false, true}
	}
	var full *FullError
	for _, t.Local = range tries {
		if gone, full = s.take(t); full != nil {
			continue
		}
		for victim, why := range gone {
			s.gaveWay++
			s.report(why, why.FullError)
			s.remove(victim)
		}
		s.open = append(s.open, t)
		return gone, nil
	}
	s.refused++
	s.report(full, *full)
	return nil, full
}

// within are the open streams of a share, the oldest first.
func (s *Streams) within(c scope) []*stream {
	return slices.DeleteFunc(slices.Clone(s.open), func(o *stream) bool { return !c.of(o) })
}

// take finds the streams that give way for t in the shares that it counts in. The lock is held.
func (s *Streams) take(t *stream) (gone map[*stream]*GaveWayError, refused *FullError) {
	gone = map[*stream]*GaveWayError{}
	for _, c := range s.scopes(t) {
		in := slices.DeleteFunc(s.within(c), func(o *stream) bool { return gone[o] != nil })
		if c.most == 0 || len(in) < c.most {
			continue
		}
		victim, most, n := givesWay(in, t.Reader)
		full := FullError{c.name, c.most, most, n}
		if victim == nil {
			return nil, &full
		}
		gone[victim] = &GaveWayError{full}
	}
	return gone, nil
}

// givesWay returns the stream that ends for a newcomer, nil for none, and the holder with most. A difference of one
// place decides nothing: two readers would take it from each other for ever.
func givesWay(in []*stream, newcomer Reader) (victim *stream, most string, n int) {
	most, n, mine := heaviest(in, Reader.holder, newcomer)
	in = slices.DeleteFunc(in, func(o *stream) bool { return o.holder() != most })
	user, users, own := heaviest(in, Reader.user, newcomer)
	if most == newcomer.holder() {
		most, n, mine = user, users, own
	}
	if n <= mine+1 {
		return nil, most, n
	}
	return in[slices.IndexFunc(in, func(o *stream) bool { return o.user() == user })], most, n
}

// heaviest returns the holder with most of some streams, the older one of equals, and how many the newcomer has.
func heaviest(in []*stream, by func(Reader) string, newcomer Reader) (most string, n, mine int) {
	counts := map[string]int{}
	for _, o := range in {
		counts[by(o.Reader)]++
	}
	for _, o := range in {
		if k := by(o.Reader); counts[k] > n {
			most, n = k, counts[k]
		}
	}
	return most, n, counts[by(newcomer)]
}

// report reports a used up share. The lock is held.
func (s *Streams) report(err error, of FullError) {
	if s.full != nil && s.reported.due(of.Share) {
		s.full(err, fmt.Sprintf("%s, %d", of.Most, of.Open))
	}
}

func (s *Streams) remove(t *stream) {
	if i := slices.Index(s.open, t); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// StreamCounts counts the open streams, and those ended or refused so far.
type StreamCounts struct {
	Open    map[string]int // by kind
	GaveWay uint64
	Refused uint64
}

// Counts counts streams.
func (s *Streams) Counts() StreamCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := StreamCounts{Open: map[string]int{}, GaveWay: s.gaveWay, Refused: s.refused}
	for _, o := range s.open {
		c.Open[o.Kind]++
	}
	return c
}
