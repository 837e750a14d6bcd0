package cluster

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Headers of a forwarded request: its sender, scheme and group. They are trusted from members only.
const (
	callerHeader = "Ferrite-Forwarded-For"
	schemeHeader = "Ferrite-Forwarded-Scheme"
	groupHeader  = "Ferrite-Forwarded-Group"
)

// MemberPaths is where members answer each other alone. No client's request gets there.
const MemberPaths = "/cluster/"

// Forwarded reports whether a member's request is forwarded for a client. The caller knows that a member sent it.
func Forwarded(r *http.Request) bool {
	return r.Header.Get(groupHeader) != "" || r.Header.Get(callerHeader) != ""
}

// againAfter is the Retry-After of requests to a group without a leader.
const againAfter = time.Second

// Front answers every request: by this conductor where it leads the group, else by the leader.
type Front struct {
	cluster *Cluster
	groups  Groups
	log     *slog.Logger
	proxy   *httputil.ReverseProxy
	local   http.Handler                         // answers requests that every member can answer; nil for none
	isLocal func(r *http.Request, led bool) bool // led: the default group has a leader
	streams *connlimit.Streams
	// Bodies bounds the bodies that are read to find a request's group, before the sender is authenticated.
	Bodies Bound
	// Failed logs requests that could not be given to a leader, at a rate that is bounded.
	Failed func(text string, args ...any)
}

// NewFront makes a front. The handler local answers requests that isLocal picks, on every member. streams bounds the
// number of answers without an end; nil for no bounds.
func NewFront(c *Cluster, id Identity, groups Groups, streams *connlimit.Streams, local http.Handler,
	isLocal func(r *http.Request, led bool) bool) *Front {
	f := &Front{cluster: c, groups: groups, log: c.Log, streams: streams, local: local, isLocal: isLocal,
		Failed: c.Log.Warn}
	f.proxy = &httputil.ReverseProxy{
		Rewrite:        rewrite,
		FlushInterval:  -1,
		Transport:      id.transport(),
		ModifyResponse: f.answered,
		ErrorHandler:   f.failed,
		ErrorLog:       slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
	return f
}

// transport calls other members.
func (id Identity) transport() *http.Transport {
	return &http.Transport{
		TLSClientConfig: id.client, TLSHandshakeTimeout: validTime, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute,
		DialContext:        towardsMembers().DialContext,
		DisableCompression: true,
	}
}

// Client calls other members at their addresses, by https.
func (id Identity) Client() *http.Client { return &http.Client{Transport: id.transport()} }

// towardsMembers dials members. A way that is cut ends a connection within seconds: without that, a request under way
// waits for as long as the kernel sends it again, which is a quarter of an hour.
func towardsMembers() *net.Dialer {
	return &net.Dialer{
		Timeout:         3 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 2 * time.Second, Interval: time.Second, Count: 3},
		Control: func(_, _ string, c syscall.RawConn) (err error) {
			refused := c.Control(func(fd uintptr) {
				err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(validTime.Milliseconds()))
			})
			return errors.Join(err, refused)
		},
	}
}

// way is where a request goes. cancel ends it, and leave gives back the place of its answer.
type way struct {
	group, address string
	from           netip.Addr
	cancel         context.CancelCauseFunc
	leave          func()
}

type wayKey struct{}

// ServeHTTP answers a request of a client.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, h := range []string{callerHeader, schemeHeader, groupHeader, leaderHeader} {
		r.Header.Del(h)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, MemberPaths):
		http.NotFound(w, r)
		return
	case r.URL.Path == "/readyz":
		f.readiness(w)
		return
	case f.local != nil && f.isLocal(r, true) && f.answers(w, r):
		return
	}
	group, err := f.group(r)
	if err != nil {
		f.unrouted(w, r, err)
		return
	}
	if t := f.cluster.local(group); t != nil && t.answer(w, r) {
		return
	}
	leader, epoch, ok := f.cluster.View().Leader(group)
	if !ok { // it may have begun since the last look
		leader, epoch, ok = f.cluster.LookAgain(r.Context()).Leader(group)
	}
	if !ok || leader.Name == f.cluster.Self.Name || leader.Address == "" {
		if f.local != nil && f.isLocal(r, false) {
			f.local.ServeHTTP(w, r)
			return
		}
		unavailable(w, "no conductor leads the conductor group "+strconv.Quote(group)+" at the moment")
		return
	}
	f.forward(w, r, &way{group: group, address: leader.Address, from: clientaddr.Of(r), leave: func() {}}, epoch)
}

// answers has the local handler answer. It returns false if that refuses the sender: the leader then refuses, for its
// audit.
func (f *Front) answers(w http.ResponseWriter, r *http.Request) bool {
	before, answer := w.Header().Clone(), &unlessRefused{ResponseWriter: w}
	if f.local.ServeHTTP(answer, r); answer.refused {
		clear(w.Header())
		maps.Copy(w.Header(), before)
	}
	return !answer.refused
}

// unlessRefused drops an answer that refuses its sender.
type unlessRefused struct {
	http.ResponseWriter
	refused bool
}

// WriteHeader begins the answer, or drops it.
func (u *unlessRefused) WriteHeader(status int) {
	if u.refused = status == http.StatusUnauthorized || status == http.StatusForbidden; !u.refused {
		u.ResponseWriter.WriteHeader(status)
	}
}

// Write continues with the answer.
func (u *unlessRefused) Write(p []byte) (int, error) {
	if u.refused {
		return len(p), nil
	}
	return u.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (u *unlessRefused) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// unrouted answers a request of an unknown group.
func (f *Front) unrouted(w http.ResponseWriter, r *http.Request, err error) {
	var body *bodyError
	if !errors.As(err, &body) {
		f.Failed("a request cannot be given to the leader of its group", "path", r.URL.Path, "err", err)
		unavailable(w, "the database cannot be asked for the node of the request")
		return
	}
	f.log.Debug("request cut off", "path", r.URL.Path, "err", err)
	var fault *nodeapi.Fault
	if !errors.As(err, &fault) {
		fault = nodeapi.NewFault(http.StatusBadRequest, "%s", err)
	}
	w.Header().Set("Connection", "close")
	_ = fault.Write(w) // a client that has gone
}

// group is the group that a request concerns.
func (f *Front) group(r *http.Request) (string, error) {
	if !f.cluster.View().several() && !makesNode(r) {
		return "", nil
	}
	group, err := groupOf(r, f.groups, f.Bodies)
	if r.Method == http.MethodPost && !f.cluster.Knows(r.Context(), group) {
		return "", err // the leader of the default group refuses a node in a group without members
	}
	return group, err
}

// forward hands a request to the leader of its group, until another one leads it.
func (f *Front) forward(w http.ResponseWriter, r *http.Request, to *way, epoch int64) {
	ctx, cancel := f.cluster.while(context.WithValue(r.Context(), wayKey{}, to), to.group, epoch, nil)
	to.cancel = cancel
	defer func() { cancel(nil); to.leave() }()
	f.proxy.ServeHTTP(&answering{w, http.NewResponseController(w)}, r.WithContext(ctx))
}

func wayOf(r *http.Request) *way {
	to, _ := r.Context().Value(wayKey{}).(*way)
	return to
}

var errLeaderChanged = errors.New("another conductor leads the group since")

func rewrite(p *httputil.ProxyRequest) {
	to := wayOf(p.In)
	p.Out.URL.Scheme, p.Out.URL.Host = "https", to.address
	p.Out.Host = p.In.Host
	p.Out.Header.Set(callerHeader, p.In.RemoteAddr) // the member has evaluated the headers of proxies
	p.Out.Header.Set(groupHeader, to.group+".")     // an empty header would be none
	p.Out.Header.Set(schemeHeader, scheme(p.In))
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	if p.In.Method == http.MethodGet || p.In.Method == http.MethodHead { // the server has let go of a body by then
		p.Out.Body, p.Out.ContentLength = http.NoBody, 0
	}
}

func scheme(r *http.Request) string {
	if r.TLS == nil {
		return "http"
	}
	return "https"
}

// failed answers for a leader that did not.
func (f *Front) failed(w http.ResponseWriter, r *http.Request, err error) {
	var full *connlimit.FullError
	var dial *net.OpError
	if !errors.Is(context.Cause(r.Context()), context.Canceled) { // the client is still there
		f.log.Info("a request was not answered by the leader", "path", r.URL.Path, "err", err)
	}
	switch {
	case errors.As(err, &full):
		unavailable(w, full.Error())
	case errors.As(err, &dial) && dial.Op == "dial":
		unavailable(w, "the conductor that leads the group cannot be reached")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		unavailable(w, "the conductor that led the group has ended")
	default:
		unavailable(w, "the conductor that led the group has ended; it is not known whether it did this: look before you "+
			"ask again")
	}
}

// unavailable is the answer of a member that cannot help at the moment.
func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(int(againAfter.Seconds())))
	_ = nodeapi.NewFault(http.StatusServiceUnavailable, "%s; try again", why).Write(w) // a client that has gone
}

// readiness is whether this conductor can answer, itself or by a leader.
func (f *Front) readiness(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set(nodeapi.HeaderDatabaseClock, f.cluster.DatabaseTime().UTC().Format(time.RFC3339))
	if why := f.NotReady(); why != "" {
		w.Header().Set("Retry-After", strconv.Itoa(int(againAfter.Seconds())))
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(why + "\n"))
		return
	}
	_, _ = w.Write([]byte("ok"))
}

// NotReady is why this conductor can neither answer nor forward, "" when it can.
func (f *Front) NotReady() string {
	v := f.cluster.View()
	if !v.fresh() {
		return "the database cannot be reached"
	}
	for _, group := range []string{"", f.cluster.Self.Group} {
		if t := f.cluster.local(group); t != nil {
			if serving, err := t.serving(); err != nil {
				return err.Error()
			} else if serving {
				continue
			}
		}
		leader, _, ok := v.Leader(group)
		if !ok || leader.Name == f.cluster.Self.Name || !leader.Alive {
			return "no conductor leads the conductor group " + strconv.Quote(group)
		}
	}
	return ""
}

// Inner answers requests that other members forward. It forwards nothing.
func (f *Front) Inner() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		group, ok := strings.CutSuffix(r.Header.Get(groupHeader), ".")
		if t := f.cluster.local(group); ok && t != nil && t.answer(w, asSent(r)) {
			return
		}
		unavailable(w, "this conductor does not lead the conductor group "+strconv.Quote(group)+" (yet, or any longer)")
	})
}

// asSent is a forwarded request as its client sent it to a member.
func asSent(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.RemoteAddr = r.Header.Get(callerHeader)
	if r.Header.Get(schemeHeader) == "http" {
		r.TLS = nil
	}
	for _, h := range []string{callerHeader, schemeHeader, groupHeader} {
		r.Header.Del(h)
	}
	return r
}

// Address is where others reach a listener: at a host of its own where it listens on all.
func Address(l net.Addr, host string) string {
	at, ok := l.(*net.TCPAddr)
	if !ok || host == "" {
		return l.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(at.Port))
}
