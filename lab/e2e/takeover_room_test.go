package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// takeoverTime bounds the time without a leader: the promise is 10 s, the rest is a busy machine's.
const takeoverTime = 20 * time.Second

// rootPassword opens the conductors of a room. Its files are gone with the room.
const rootPassword = "let me in, please"

// room is a lab with two conductors, each on a host of its own, that share a database, a boot network and a boot
// address.
type room struct {
	*bed
	*site.Site
	database string
	boot     netip.Addr // moves with the leader
	members  []*member
	serve    []string // more flags of all conductors
}

// member is a conductor and its host.
type member struct {
	name    string
	host    *network.Namespace
	address netip.Addr
	child   *lab.Child
}

// room brings up a lab with two conductors that share a database. done takes it down and looks for anything left
// behind.
func (b *bed) room(ctx context.Context, database string, machines []qemu.Spec, serve ...string) (r *room,
	done func() error, err error) {
	conf, logFile, err := b.lab(machines)
	if err != nil {
		return nil, nil, err
	}
	l, err := lab.New(ctx, conf)
	if err != nil {
		return nil, nil, errors.Join(err, logFile.Close())
	}
	done = func() error { return errors.Join(l.Close(), logFile.Close(), swept(conf.ID)) }
	r = &room{bed: b, database: database, boot: l.Network.Gateway.Next()}
	if err := r.open(ctx, l, serve); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return r, done, nil
}

// open makes hosts, keys and certificates, and starts both conductors.
func (r *room) open(ctx context.Context, l *lab.Lab, serve []string) (err error) {
	at := r.boot
	hosts := []string{r.boot.String()}
	for _, name := range []string{"a", "b"} {
		at = at.Next()
		m := &member{name: name, address: at}
		if m.host, err = l.Network.AddHost(name, netip.PrefixFrom(at, l.Network.Subnet.Bits())); err != nil {
			return err
		}
		r.members, hosts = append(r.members, m), append(hosts, at.String())
	}
	access := site.Access{Roots: filepath.Join(r.dir, rootsFile), User: "root", Password: rootPassword}
	own, err := certtest.Make()
	if err != nil {
		return err
	}
	if err := issue(own, r.dir, hosts...); err != nil {
		return err
	}
	if r.Site, err = site.Of(l, access); err != nil {
		return err
	}
	flags, err := r.passwords(ctx, r.Site, access)
	if err != nil {
		return err
	}
	key := filepath.Join(r.dir, "cluster-key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0123456789", 5)), 0o600); err != nil {
		return err
	}
	r.serve = slices.Concat(flags, []string{"--cluster-key-file", key, "--log-level", "debug"}, serve)
	for _, m := range r.members {
		if err := r.start(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// start starts a conductor, and waits until it can serve or forward.
func (r *room) start(ctx context.Context, m *member) error {
	args := append([]string{
		"serve", "--host", m.name, "--data-dir", filepath.Join(r.dir, "conductor-"+m.name), "--database", r.database,
		"--api-address", fmt.Sprintf("0.0.0.0:%d", site.APIPort), "--cluster-address", fmt.Sprintf("%s:6386", m.address),
		"--boot", "--boot-interface", network.HostLink,
		"--boot-address", fmt.Sprintf("%s/%d", r.boot, r.Network.Subnet.Bits()),
		"--ramdisk-kernel", r.kernel, "--ramdisk-initrd", r.initrd, "--kernel-append", site.KernelAppend,
	}, r.serve...)
	child, err := r.StartOn(m.host, "conductor-"+m.name, exec.Command(filepath.Join(r.bin, "ferrite"), args...))
	if err != nil {
		return err
	}
	m.child = child
	r.URL = m.url()
	for end := time.Now().Add(takeoverTime); ; time.Sleep(50 * time.Millisecond) {
		select {
		case <-child.Done():
			return fmt.Errorf("conductor %s ended at once; its log is %s", m.name, child.Log)
		default:
		}
		err := r.Call(ctx, http.MethodGet, "/ferrite/v1/nodes/none/status", nil, nil)
		var fault *nodeapi.Fault
		if errors.As(err, &fault) && fault.Status == http.StatusNotFound { // which only a leader says
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("conductor %s is not ready after %s; its log is %s: %w", m.name, takeoverTime, child.Log, err)
		}
	}
}

func (m *member) url() string { return fmt.Sprintf("https://%s:%d", m.address, site.APIPort) }

// roles finds the conductor that leads, and the other one.
func (r *room) roles(ctx context.Context) (leader, other *member, err error) {
	var all nodeapi.Conductors
	if err := r.Call(ctx, http.MethodGet, nodeapi.ConductorsPath, nil, &all); err != nil {
		return nil, nil, err
	}
	for _, c := range all.Conductors {
		if c.Leader && r.members[0].name == c.Name {
			return r.members[0], r.members[1], nil
		}
		if c.Leader && r.members[1].name == c.Name {
			return r.members[1], r.members[0], nil
		}
	}
	return nil, nil, fmt.Errorf("nobody leads: %+v", all.Conductors)
}

// takeOver kills the leader, speaks to the other conductor from then on, and waits until that answers for nodes. The
// killed one is started again by revive.
func (r *room) takeOver(ctx context.Context, when string) (killed *member, err error) {
	leader, other, err := r.roles(ctx)
	if err != nil {
		return nil, fmt.Errorf("kill %s: %w", when, err)
	}
	began := time.Now()
	if err := leader.child.Kill(); err != nil {
		return nil, fmt.Errorf("kill %s: %w", when, err)
	}
	r.URL = other.url()
	for {
		err := r.Call(ctx, http.MethodGet, "/v1/nodes?limit=1", nil, nil)
		if err == nil {
			break
		}
		if time.Since(began) > takeoverTime || ctx.Err() != nil {
			return nil, fmt.Errorf("kill %s: nobody leads %s later; the log of the other one is %s: %w", when,
				takeoverTime, other.child.Log, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	r.figures.tookOver(took)
	say("%s: killed %s %s, %s answers after %.1f s", r.name, leader.name, when, other.name, took.Seconds())
	return leader, nil
}

// revive starts a killed conductor again, as the follower. Requests go on to the leader.
func (r *room) revive(ctx context.Context, m *member) error {
	to := r.URL
	err := r.start(ctx, m)
	r.URL = to
	return err
}
