package reconciler

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// waits records the changes elsewhere that the errors of hosts ask for. A change has the host tried again at once,
// without its back-off.
type waits struct {
	mu      sync.Mutex
	changed map[key]time.Time         // hosts, by the time of a change that they depend on
	nodes   map[string]map[key]bool   // hosts, by the UUID of a node that is in their way
	secrets map[key][sha256.Size]byte // contents, by the secret
}

// await notes that a node is in the way of a host, and reports whether that is new.
func (w *waits) await(k key, uuid string) (isNew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nodes == nil {
		w.nodes = map[string]map[key]bool{}
	}
	if w.nodes[uuid] == nil {
		w.nodes[uuid] = map[key]bool{}
	}
	isNew = !w.nodes[uuid][k]
	w.nodes[uuid][k] = true
	return isNew
}

// take removes and returns the hosts that a changed node was in the way of. If it still is, the next look notes it
// again.
func (w *waits) take(uuid string) (all []key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.nodes[uuid] {
		all = append(all, k)
	}
	delete(w.nodes, uuid)
	return all
}

// forget drops a host that is no more.
func (w *waits) forget(k key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.changed, k)
	for uuid, hosts := range w.nodes {
		if delete(hosts, k); len(hosts) == 0 {
			delete(w.nodes, uuid)
		}
	}
}

// note records the time of a change that hosts depend on.
func (w *waits) note(at time.Time, hosts []key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = map[key]time.Time{}
	}
	for _, k := range hosts {
		w.changed[k] = at
	}
}

// secretDiffers remembers the contents of a secret, and reports whether they have changed. The marks of the hosts that
// hold it are no change.
func (w *waits) secretDiffers(k key, sum [sha256.Size]byte) (differs bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.secrets == nil {
		w.secrets = map[key][sha256.Size]byte{}
	}
	was, known := w.secrets[k]
	w.secrets[k] = sum
	return !known || was != sum
}

// awaitNode has a host looked at once that node has changed. The first time it is looked at once more: the node may
// have changed since it was read.
func (r *Reconciler) awaitNode(k key, uuid string) {
	if r.waits.await(k, uuid) {
		r.enqueue(k)
	}
}

// changedAt is the time of the last change that a host depends on. It is at least the start of this conductor, which
// may have other flags than the one before.
func (r *Reconciler) changedAt(k key) time.Time {
	r.waits.mu.Lock()
	defer r.waits.mu.Unlock()
	if at := r.waits.changed[k]; at.After(r.started) {
		return at
	}
	return r.started
}

// changedFor has hosts tried again for which something has changed.
func (r *Reconciler) changedFor(hosts []key) {
	r.waits.note(r.Now(), hosts)
	r.enqueue(hosts...)
}

// ImageAdded is called when the conductor has come to have an image. It does not block.
func (r *Reconciler) ImageAdded(name string) {
	r.changedFor(r.known.hostsWith(func(_ key, e *entry) bool { return node.NamedImage(e.image) == name }))
}

// secretChanged handles an event of a secret.
func (r *Reconciler) secretChanged(k key, e objects.Event) error {
	d, err := e.Document()
	if err != nil {
		return err
	}
	s, ok := d.(*hostapi.Secret)
	if !ok {
		return nil
	}
	text, err := json.Marshal(s.Data)
	if err != nil {
		return fmt.Errorf("secret %s: %w", k, err)
	}
	if e.Type == objects.Deleted {
		text = nil
	}
	hosts := r.known.hostsWith(func(h key, e *entry) bool {
		return h.namespace == k.namespace && slices.Contains(e.secrets, k.name)
	})
	if r.waits.secretDiffers(k, sha256.Sum256(text)) {
		r.waits.note(r.Now(), hosts)
	}
	r.enqueue(hosts...)
	return nil
}
