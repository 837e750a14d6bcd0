package e2e

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const hostsPath = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts"

// watchedOver has Debian's kubectl watch hosts by the follower, while hosts are made and the leader is killed. The
// watch ends in order and is begun again where it ended. It begins after another list where the next leader does not
// know the later revisions. Every host is seen, no revision twice, and of each host the last.
func watchedOver(database string) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) (err error) {
		r, done, err := b.room(ctx, database, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		_, other, err := r.roles(ctx)
		if err != nil {
			return err
		}
		if err := r.kubeconfig(other); err != nil {
			return err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		w := &watcher{room: r, last: map[string]string{}}
		if err := w.make(ctx, "before", 10); err != nil {
			return err
		}
		table := &shown{cmd: r.kubectl(ctx, "get", "bmh", "-w", "--output-watch-events")}
		if err := table.start(); err != nil {
			return err
		}
		if err := w.takeStock(ctx); err != nil {
			return err
		}
		var over sync.WaitGroup
		over.Go(func() { w.err = w.run(ctx) })
		err = w.lives(ctx, table)
		stop()
		over.Wait()
		return errors.Join(err, w.err)
	}
}

// kubeconfig has kubectl speak to a conductor.
func (r *room) kubeconfig(to *member) error {
	roots, err := os.ReadFile(filepath.Join(r.dir, rootsFile))
	if err != nil {
		return err
	}
	const text = `{apiVersion: v1, kind: Config, current-context: c,
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}],
users: [{name: root, user: {username: root, password: %q}}],
contexts: [{name: c, context: {cluster: c, user: root, namespace: metal3}}]}`
	return os.WriteFile(filepath.Join(r.dir, "kubeconfig"), fmt.Appendf(nil, text, to.url(),
		base64.StdEncoding.EncodeToString(roots), rootPassword), 0o600)
}

// kubectl is Debian's, in the lab's network.
func (r *room) kubectl(ctx context.Context, args ...string) *exec.Cmd {
	cmd := r.Network.Command(ctx, "kubectl", args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(r.dir, "kubeconfig"), "HOME="+r.dir)
	return cmd
}

// watcher is a client that begins its watch again where it has ended.
type watcher struct {
	*room
	err error

	mu     sync.Mutex
	last   map[string]string // the last revision seen of each host
	at     string            // of all
	begun  int
	listed int
}

// hostList is a list of hosts.
type hostList struct {
	Metadata struct{ ResourceVersion string }
	Items    []struct {
		Metadata struct{ Name, ResourceVersion string }
	}
}

// takeStock lists hosts: a watch goes on from there.
func (w *watcher) takeStock(ctx context.Context) error {
	list, err := w.list(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.listed = list.Metadata.ResourceVersion, w.listed+1
	for _, item := range list.Items {
		w.last[item.Metadata.Name] = item.Metadata.ResourceVersion
	}
	return nil
}

func (w *watcher) list(ctx context.Context) (l hostList, err error) {
	err = w.Call(ctx, http.MethodGet, hostsPath, nil, &l)
	return l, err
}

// shown is a kubectl that people look at.
type shown struct {
	cmd   *exec.Cmd
	ended chan error

	mu   sync.Mutex
	said strings.Builder
}

func (t *shown) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.said.Write(p)
}

func (t *shown) start() error {
	t.cmd.Stdout, t.cmd.Stderr, t.ended = t, t, make(chan error, 1)
	if err := t.cmd.Start(); err != nil {
		return err
	}
	go func() { t.ended <- t.cmd.Wait() }()
	return nil
}

// shows waits until the table has a host, or has ended in order.
func (t *shown) shows(host string) error {
	for end := time.Now().Add(takeoverTime); ; time.Sleep(50 * time.Millisecond) {
		t.mu.Lock()
		said := t.said.String()
		t.mu.Unlock()
		if strings.Contains(said, host+" ") {
			return nil
		}
		select {
		case err := <-t.ended:
			if err != nil {
				err = fmt.Errorf("kubectl get -w: %w\n%s", err, said)
			}
			return err
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("kubectl get -w neither shows %s nor ends\n%s", host, said)
		}
	}
}

// watched is an event of a watch.
type watched struct {
	Type   string
	Object struct {
		Metadata struct{ Name, ResourceVersion string }
		Code     int
		Message  string
	}
}

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context) error {
	for ctx.Err() == nil {
		w.mu.Lock()
		w.begun++
		at := w.at
		w.mu.Unlock()
		cmd := w.kubectl(ctx, "get", "--raw", fmt.Sprintf("%s?watch=1&resourceVersion=%s", hostsPath, at))
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return err
		}
		read := w.read(out)
		err = cmd.Wait()
		switch {
		case ctx.Err() != nil:
			return nil
		case read != nil:
			return fmt.Errorf("watch from revision %s: %w", at, read)
		case err != nil && strings.Contains(complaint.String(), "(Expired)"): // as informers do
			if err := w.takeStock(ctx); err != nil {
				say("%s: list: %v", w.name, err)
			}
		case err != nil && !strings.Contains(complaint.String(), "ServiceUnavailable"): // there is no leader for the time
			say("%s: kubectl: %v: %s", w.name, err, strings.TrimSpace(complaint.String()))
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

// read takes the events of one watch, until it ends.
func (w *watcher) read(out interface{ Read([]byte) (int, error) }) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e watched
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("%w in %q", err, lines.Text())
		}
		if e.Type == "ERROR" {
			return fmt.Errorf("error %d: %s", e.Object.Code, e.Object.Message)
		}
		revision := e.Object.Metadata.ResourceVersion
		w.mu.Lock()
		before := w.at
		w.at, w.last[e.Object.Metadata.Name] = revision, revision
		w.mu.Unlock()
		this, err := strconv.ParseInt(revision, 10, 64)
		last, lerr := strconv.ParseInt(before, 10, 64)
		if err = errors.Join(err, lerr); err != nil || this <= last {
			return fmt.Errorf("the revision %s of %s came after %s: %w", revision, e.Object.Metadata.Name, before, err)
		}
	}
	return nil // an end amid a line ends the watch, too
}

// lives makes hosts across and after a kill, and compares the hosts seen with the hosts that exist.
func (w *watcher) lives(ctx context.Context, table *shown) error {
	if err := table.shows("before-9"); err != nil {
		return err
	}
	var making sync.WaitGroup
	var failed error
	making.Go(func() { failed = w.make(ctx, "across", 30) })
	time.Sleep(time.Second)
	killed, err := w.takeOver(ctx, "beside kubectl")
	making.Wait()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if err := table.shows("across-29"); err != nil {
		return err
	}
	if err := w.revive(ctx, killed); err != nil {
		return err
	}
	if err := w.make(ctx, "after", 10); err != nil {
		return err
	}
	return w.sawAll(ctx, 50)
}

// make makes hosts, and tries again where there was no leader.
func (w *watcher) make(ctx context.Context, name string, n int) error {
	for i := range n {
		host := map[string]any{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
			"metadata": map[string]any{"name": fmt.Sprintf("%s-%d", name, i), "namespace": "metal3"},
			"spec":     map[string]any{"online": false}}
		for end := time.Now().Add(2 * takeoverTime); ; time.Sleep(50 * time.Millisecond) {
			err := w.Call(ctx, http.MethodPost, hostsPath, host, nil)
			if err == nil || strings.Contains(err.Error(), "AlreadyExists") { // a write without an answer was done
				break
			}
			if time.Now().After(end) || ctx.Err() != nil {
				return err
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// sawAll waits until the watch has seen the last revision of every host.
func (w *watcher) sawAll(ctx context.Context, hosts int) error {
	for end := time.Now().Add(takeoverTime); ; time.Sleep(200 * time.Millisecond) {
		list, err := w.list(ctx)
		if err != nil {
			return err
		}
		var missed []string
		w.mu.Lock()
		begun, listed := w.begun, w.listed
		for _, item := range list.Items {
			if seen := w.last[item.Metadata.Name]; seen != item.Metadata.ResourceVersion {
				missed = append(missed, fmt.Sprintf("%s at %s, seen %s", item.Metadata.Name, item.Metadata.ResourceVersion, seen))
			}
		}
		w.mu.Unlock()
		if listed > 2 {
			return fmt.Errorf("the hosts were listed %d times, expected once, and once more after the kill at most", listed)
		}
		if len(missed) == 0 && len(list.Items) == hosts {
			say("%s: the watch has seen %d hosts to their last revisions, begun %d times, listed %d times", w.name, hosts,
				begun, listed)
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("of %d hosts, expected %d, the watch has missed %v", len(list.Items), hosts, missed)
		}
	}
}
