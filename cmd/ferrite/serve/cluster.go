package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/cluster/handover"
	"github.com/ferrite-metal/ferrite/conductor/cluster/sharing"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
	"github.com/ferrite-metal/ferrite/conductor/server/ratelimit"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// instanceFile holds the word that distinguishes this conductor from another one of its name.
const instanceFile = "conductor-id"

// How long requests may take at the end of a term that ends in order, and the clients of consoles to take their close
// frame: the next leader waits for both.
const (
	termRequests = 400 * time.Millisecond
	termConsoles = 200 * time.Millisecond
)

// member is this conductor as a member of a cluster.
type member struct {
	Config
	log  *slog.Logger
	rows *store.Members
	keys datafolder.Keys
	ring *seal.Ring
	lost bool // values of lost keys are dropped by the first term
	who  *auth.Authenticator
	cert *certificate.Certificate
	api  net.Addr
	// agentsAt is where agents call.
	agentsAt net.Addr
	all      *cluster.Cluster // since it has joined

	images *imagestore.Store // of all terms
	peers  sharing.Peers
	calls  *cluster.Caller

	counters *metrics.Member
	streams  *connlimit.Streams

	shared *sharing.Certificate // of the API
}

// serveCluster runs a conductor that shares its database with others, until ctx ends.
func serveCluster(ctx context.Context, c Config, log *slog.Logger) (err error) {
	key, err := cluster.ReadKey(c.ClusterKey, log)
	if err != nil {
		return err
	}
	rows, err := store.OpenMembers(ctx, c.Database, store.PostgresOptions{Password: c.server().Password})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	m := &member{Config: c, log: log, rows: rows, streams: newStreams(log)}
	if m.images, err = c.openImages(log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.images.Close()) }()
	if err := m.open(ctx, key); err != nil {
		return err
	}
	listener, err := c.listen(log)
	if err != nil {
		return err
	}
	defer listener.Close() // the server does, too, once it serves
	agents, err := c.listenAgents(log)
	if err != nil {
		return err
	}
	if agents != nil {
		defer agents.Close() // as above
		agents = encrypted(agents, m.cert)
	}
	m.api, m.agentsAt = listener.Addr(), agentsAt(listener, agents)
	inner, err := c.listenMembers(log)
	if err != nil {
		return err
	}
	defer inner.Close()
	return m.run(ctx, key, encrypted(listener, m.cert), agents, inner)
}

// open reads the data that the members share.
func (m *member) open(ctx context.Context, key cluster.Key) error {
	shared, err := cluster.NewShared(m.rows, key)
	if err != nil {
		return err
	}
	used, err := m.rows.KeysInUse(ctx)
	if err != nil {
		return err
	}
	source := sharing.KeySource{Dir: m.DataDir, Init: m.Init, Log: m.log}
	if m.keys, err = source.Keys(ctx, shared, used); err != nil {
		return err
	}
	if m.ring, err = seal.NewRing(m.keys.Secrets); err != nil {
		return err
	}
	m.lost = m.Init
	m.shared = &sharing.Certificate{Host: m.ConductorName, Dir: m.DataDir, Cert: m.TLSCert, Key: m.TLSKey, Shared: shared,
		Log: m.log}
	switch cert, key, err := m.shared.Open(ctx); {
	case err != nil:
		return err
	case cert != "":
		m.TLSCert, m.TLSKey = cert, key
	}
	m.who, m.cert, err = m.access(m.keys.Secrets, m.log)
	return err
}

// listenMembers opens the port that other members forward to.
func (c Config) listenMembers(log *slog.Logger) (net.Listener, error) {
	at := c.ClusterAddress
	if at == "" {
		host, _, err := net.SplitHostPort(c.APIAddress)
		if err != nil {
			return nil, fmt.Errorf("--api-address %s: %w", c.APIAddress, err)
		}
		at = net.JoinHostPort(host, "0")
	}
	listener, err := connlimit.Listen(at, maxForwarded, maxForwardedEach, nil, log)
	if err != nil {
		return nil, fmt.Errorf("--cluster-address: %w", err)
	}
	return listener, nil
}

// reachedAt is where other members reach this one.
func (m *member) reachedAt(inner net.Addr) string {
	at, ok := inner.(*net.TCPAddr)
	if !ok || !at.IP.IsUnspecified() {
		return inner.String()
	}
	return cluster.Address(inner, m.rows.LocalAddress())
}

// run takes part in the cluster, and serves the API, until ctx ends or one of them fails.
func (m *member) run(ctx context.Context, key cluster.Key, listener, agents, inner net.Listener) error {
	instance, err := m.instance()
	if err != nil {
		return err
	}
	id, err := cluster.NewIdentity(key, m.ConductorName)
	if err != nil {
		return err
	}
	all, err := cluster.Join(ctx, cluster.Config{Rows: cluster.Database{Members: m.rows}, Log: m.log, Lead: m.lead,
		Self: store.Member{Name: m.ConductorName, Instance: instance, Group: m.Group, Address: m.reachedAt(inner.Addr()),
			HardwareTypes: m.HardwareTypes}})
	if err != nil {
		return m.named(err)
	}
	options := api.Options{Log: m.log, PublicURL: m.PublicURL}
	if m.who != nil { // a nil pointer in an interface would not be nil
		options.Auth, options.Policy = m.who, m.who.Policy()
	}
	m.all, m.peers = all, sharing.Peers{Self: m.ConductorName, Cluster: all, Client: id.Client()}
	m.calls = cluster.NewCaller(all, id)
	m.counters = metrics.NewMember(metrics.MemberConfig{
		Leads: func() map[string]bool { return all.View().Leading(m.ConductorName) },
		Ready: func() error { return all.View().Reached() }, Streams: m.streams.Counts,
	})
	scrapes, err := m.listenMetrics(m.counters, m.log)
	if err != nil {
		return err
	}
	if scrapes == nil { // which have an address of their own
		options.Metrics = m.counters
	}
	front := cluster.NewFront(all, id, m.rows, m.streams, api.NewConductors(membersOf{m, all}, options), api.OfConductors)
	front.Bodies, front.Failed = rest.NewStrangers(), ratelimit.NewLines(m.log, time.Now).Warn
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	requests, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	faces := append(m.faces(requests, front, listener, agents, m.log),
		face{id.Server(requests, sharing.Images(m.images, front.Inner()), m.log), id.Listener(inner)})
	var parts sync.WaitGroup
	faces.serve(&parts, fail)
	m.announce(m.api, m.log)
	manager := serviceManagerOf(m.log)
	manager.notify("READY=1")
	parts.Go(func() { m.shared.Renew(ctx) })
	parts.Go(func() { imagelibrary.Sweep(ctx, m.images, m.rows.ImageDigests) })
	if scrapes != nil {
		parts.Go(func() {
			if err := scrapes.run(ctx, m.log); err != nil {
				fail(err)
			}
		})
	}
	parts.Go(func() { manager.watch(ctx, func(context.Context) error { return all.Alive() }) })
	err = m.named(all.Run(ctx))
	fail(err)
	manager.notify("STOPPING=1")
	faces.drain(cutOff, m.log)
	parts.Wait()
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if err == nil {
		m.log.Info("stopped")
	}
	return err
}

// named adds the data folder to an error about it.
func (m *member) named(err error) error {
	if errors.Is(err, store.ErrFolderTaken) {
		return fmt.Errorf("--data-dir %s: %w", m.DataDir, err)
	}
	return err
}

// instance distinguishes this conductor from another one of its name. It joins a word of the data folder, which may
// have been copied, and a word of this process.
func (m *member) instance() (string, error) {
	path := filepath.Join(m.DataDir, instanceFile)
	text, err := os.ReadFile(path) //nolint:gosec // in the data folder
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		return strings.Fields(string(text))[0] + " " + uuid.NewString(), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("--data-dir: %w", err)
	}
	id := uuid.NewString()
	if err := keys.WriteFile(path, []byte(id+"\n")); err != nil {
		return "", fmt.Errorf("--data-dir: %w", err)
	}
	return id + " " + uuid.NewString(), nil
}

// lead serves a term: it runs a conductor for the nodes of one group, which starts as a restarted conductor does.
func (m *member) lead(ctx context.Context, t *cluster.Term) (err error) {
	c, group := m.Config, t.Lease.Group
	c.Metrics = "" // the member's own
	if group != c.Group {
		c.Boot = false // it is the own group's
	}
	db, err := store.OpenPostgres(ctx, c.Database, store.PostgresOptions{
		Options:  store.Options{Keys: m.ring, DropLost: m.lost, Sealing: datafolder.LoggedSealing(m.log, nil)},
		Password: c.server().Password, Connections: store.Share(m.all.View().Size()),
		Term: &store.Term{Group: group, Epoch: t.Lease.Epoch, Over: t.Lease.Context(),
			Lost: func() { t.Lease.End(store.ErrSuperseded) }},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	go m.share(ctx, db)
	leave, err := m.takeBootAddress(ctx, c, t.Lease)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	log := m.log.With("group", group, "epoch", t.Lease.Epoch)
	if err := db.ForgetOldBMCSessions(ctx, time.Now()); err != nil {
		return err
	}
	counters := m.counters.Begin(group)
	defer m.counters.End(counters)
	w, err := c.assemble(ctx, parts{db: db, images: m.images, peers: m.peers, keys: m.keys, who: m.who, cert: m.cert,
		agentsAt: m.agentsAt, ready: t.Lease.Check,
		leaders: membersOf{m, m.all}, metrics: counters, bmcs: bmcSessions{db},
		logs: handover.NewLogs(t.Lease.Context(), db), observations: handover.NewObservations(db, log),
		others: m.otherGroups(t, db), streams: m.streams,
		fail: fail, group: &group, check: t.Lease.Check}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	defer fail(nil)
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(t.Lease.Context(), stop)()
	running := w.start(work)
	t.Serve(w.answering(), db.Ready)
	for _, run := range w.reachable {
		w.kept.Go(func() { run(ctx) })
	}
	log.Info("the nodes of the group were taken over")
	<-ctx.Done()
	t.Finish(termRequests)
	if t.Lease.Check() == nil {
		w.endConsoles(ctx, termConsoles)
	}
	stop()
	if left := leave(); left != nil {
		log.Warn("the boot address was not given back: it goes by itself", "after", t.Lease.Left(), "err", left)
	}
	running.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && t.Lease.Check() == nil {
		return cause
	}
	return nil
}

// share has the store of a term open its part of the room's connections, until ctx ends.
func (m *member) share(ctx context.Context, db *store.Database) {
	for last := 0; ; {
		changed := m.all.Looked()
		if now := store.Share(m.all.View().Size()); now != last {
			db.Resize(now)
			last = now
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
