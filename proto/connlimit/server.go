package connlimit

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// NewServer makes a server of h for strangers, and tracks it. Clients that send no header for 10 s, or no request for
// 2 minutes, are cut off. Its errors are its clients', and logged at debug level.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	Track(srv)
	return srv
}

// Track makes srv report waiting connections to the listener of Limit. srv answers 503 over a connection without a
// place, and bounds the time of a request's body (see body). Requests through Proxies reach the handler as their
// clients sent them: RemoteAddr is the client's, and TLS describes the connection to the proxy. Call it once, when srv
// has its handler and before it serves.
func Track(srv *http.Server) {
	next, contextOf, changed := srv.Handler, srv.ConnContext, srv.ConnState
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, next) })
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if contextOf != nil {
			ctx = contextOf(ctx, c)
		}
		return context.WithValue(ctx, key{}, ticketOf(c))
	}
	srv.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateIdle {
			ticketOf(c).idleNow()
		}
		if changed != nil {
			changed(c, s)
		}
	}
}

// key is the key of the connection's ticket in a request's context.
type key struct{}

// Known notes that a request has shown a right token or password: its connection
// is the last to lose its place.
func Known(r *http.Request) {
	t := of(r)
	t.change(func() { t.known = true })
}

// Cut ends the connection that a request came over, and gives its place to others.
func Cut(r *http.Request) {
	if t := of(r); t != nil {
		t.leave()
		t.end()
	}
}

// of is the ticket of the connection that a request came over, nil if none.
func of(r *http.Request) *ticket {
	t, _ := r.Context().Value(key{}).(*ticket)
	return t
}

// ticketOf looks for a connection's ticket below TLS.
func ticketOf(c net.Conn) *ticket {
	for {
		switch at := c.(type) {
		case interface{ place() *ticket }:
			return at.place()
		case interface{ NetConn() net.Conn }:
			c = at.NetConn()
		default:
			return nil
		}
	}
}

// tooMany answers a client that has its share.
func tooMany(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many connections: "+err.Error(), http.StatusServiceUnavailable)
}

func handle(w http.ResponseWriter, r *http.Request, next http.Handler) {
	t := of(r)
	if t != nil && t.refused {
		w.Header().Set("Connection", "close")
		tooMany(w, &ShareError{t.pool.each})
		return
	}
	if t.begin() {
		// Requests sent ahead (RFC 9112, 9.3.2) are cheap to send by the hundred, and
		// keep a processor from others until all are answered. Clients of ours wait.
		w.Header().Set("Connection", "close")
	}
	defer t.done()
	r, err := t.sent(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	uncount, err := t.count(peer(r.RemoteAddr))
	if err != nil {
		tooMany(w, err)
		return
	}
	defer uncount()
	if r.Body == nil || r.Body == http.NoBody {
		next.ServeHTTP(w, r)
		return
	}
	b := newBody(w, r, t)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		// Nothing reads it, and net/http would wait for it within a Write of the
		// answer, where the connection counts as busy.
		if err := b.skip(); err != nil {
			w.Header().Set("Connection", "close")
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	with := *r
	with.Body = b
	next.ServeHTTP(w, &with)
}
