package reconciler

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/claim"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// index has the facts about all hosts' documents that events need: the hosts that a node or a secret belongs to, and
// the first claim of each BMC or address.
type index struct {
	mu       sync.Mutex
	hosts    map[key]*entry
	nodes    map[string]key   // by the UUID of the node behind the host
	groups   map[key][]string // conductor groups of their nodes, without hosts that name none and have the default one
	claims   map[string]map[key]since
	lastTurn int // claims noted so far
}

// entry is one host, as far as it matters here.
type entry struct {
	generation   int64
	beingDeleted bool
	annotations  map[string]string
	group        string // of the node that is made for it
	finalizers   []string
	image        string   // that it names; "" for none
	secrets      []string // that it names
	holds        []string // and that stay for it
	claims       []string
	uid          string
	created      hostapi.Time
	registered   bool
	accepted     bool // registered, and not in vain
	labels       map[string]string
	free         bool // for a HostClaim
	consumer     key  // the HostClaim that its consumerRef names; zero for none
}

// since is since when a host claims something.
type since struct{ turn int }

func newIndex() *index {
	return &index{hosts: map[key]*entry{}, nodes: map[string]key{}, groups: map[key][]string{},
		claims: map[string]map[key]since{}}
}

func keyOf(h hostapi.Host) key { return key{h.Namespace, h.Name} }

// update records a document. It reports whether a user has changed it, rather than this program, and which other hosts
// that frees.
func (x *index) update(h hostapi.Host) (userChanged bool, freed []key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k, was := keyOf(h), x.hosts[keyOf(h)]
	is := &entry{
		generation: h.Generation, beingDeleted: h.DeletionTimestamp != nil, annotations: h.Annotations,
		group:      host.NodeGroup(h, nil),
		finalizers: h.Finalizers, image: translate.ImageURL(h.Spec.Image),
		secrets: translate.SecretNames(h), holds: host.HeldSecrets(h), claims: host.Claims(h), uid: h.UID,
		created:    h.CreationTimestamp,
		registered: h.Status.Provisioning.ID != "",
		accepted:   h.Status.Provisioning.ID != "" && h.Status.ErrorType != hostapi.RegistrationError,
		labels:     h.Labels, free: claim.Free(h),
	}
	is.consumer.namespace, is.consumer.name, _ = claim.Consumer(h)
	x.hosts[k] = is
	if id := h.Status.Provisioning.ID; id != "" {
		x.bindLocked(id, k)
	}
	if was == nil {
		was = &entry{}
		userChanged = true
	}
	for _, c := range is.claims {
		if x.claims[c] == nil {
			x.claims[c] = map[key]since{}
		}
		if _, known := x.claims[c][k]; !known {
			x.lastTurn++
			x.claims[c][k] = since{x.lastTurn}
		}
	}
	freed = x.releaseClaims(k, was.claims, is.claims)
	return userChanged || was.generation != is.generation || was.beingDeleted != is.beingDeleted || was.uid != is.uid ||
		!maps.Equal(was.annotations, is.annotations) || !slices.Equal(was.finalizers, is.finalizers), freed
}

// current reports whether a document equals the recorded one. The conflicts of any other document are not known yet.
func (x *index) current(h hostapi.Host) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.hosts[keyOf(h)]
	return ok && e.uid == h.UID && e.generation == h.Generation
}

// releaseClaims takes away the claims of a host that it has no longer, and names the
// others that have them.
func (x *index) releaseClaims(k key, was, is []string) (freed []key) {
	for _, c := range was {
		if slices.Contains(is, c) {
			continue
		}
		delete(x.claims[c], k)
		freed = slices.AppendSeq(freed, maps.Keys(x.claims[c]))
		if len(x.claims[c]) == 0 {
			delete(x.claims, c)
		}
	}
	return freed
}

// remove forgets a host that is no more.
func (x *index) remove(k key) (freed []key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.hosts[k]
	if !ok {
		return nil
	}
	delete(x.hosts, k)
	delete(x.groups, k)
	maps.DeleteFunc(x.nodes, func(_ string, of key) bool { return of == k })
	return x.releaseClaims(k, e.claims, nil)
}

// missingFrom are the known hosts that are not among these.
func (x *index) missingFrom(these map[key]bool) (gone []key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k := range x.hosts {
		if !these[k] {
			gone = append(gone, k)
		}
	}
	return gone
}

// bind records the node behind a host. It returns the node's owner, which is the first host as long as it exists, and
// whether that was recorded before.
func (x *index) bind(uuid string, k key) (owner key, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	was, known := x.nodes[uuid]
	owner = x.bindLocked(uuid, k)
	return owner, known && was == owner
}

func (x *index) bindLocked(uuid string, k key) (owner key) {
	if owner, ok := x.nodes[uuid]; ok && x.hosts[owner] != nil {
		return owner
	}
	x.nodes[uuid] = k
	return k
}

// hostOf is the host that a node is behind.
func (x *index) hostOf(uuid string) (k key, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k, ok = x.nodes[uuid]
	return k, ok
}

// setGroups records the conductor groups that matter for a host.
func (x *index) setGroups(k key, groups []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.hosts[k]
	if e == nil || len(groups) == 1 && groups[0] == "" && e.group == "" {
		delete(x.groups, k)
		return
	}
	x.groups[k] = groups
}

// groupOf is the conductor group of a host's node at the last look, or, before the first look, the group in the host's
// annotation.
func (x *index) groupOf(k key) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if groups := x.groups[k]; len(groups) > 0 {
		return groups[0]
	}
	if e := x.hosts[k]; e != nil {
		return e.group
	}
	return ""
}

// inGroup are the hosts that a conductor group concerns.
func (x *index) inGroup(group string) (all []key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, groups := range x.groups {
		if slices.Contains(groups, group) {
			all = append(all, k)
		}
	}
	return all
}

// hostsWith are the hosts for which is holds.
func (x *index) hostsWith(is func(key, *entry) bool) (all []key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, e := range x.hosts {
		if is(k, e) {
			all = append(all, k)
		}
	}
	return all
}

// free are the hosts that a HostClaim may bind.
func (x *index) free() (all []claim.Candidate) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, e := range x.hosts {
		if e.free {
			all = append(all, claim.Candidate{Namespace: k.namespace, Name: k.name, Labels: e.labels})
		}
	}
	slices.SortFunc(all, func(a, b claim.Candidate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// taken records that a host is free no longer, before its event does.
func (x *index) taken(k key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.hosts[k]; e != nil {
		e.free = false
	}
}

// changes are the changes that an event of a host makes, in the words of next.
func (x *index) changes(k key) (all []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	all = []string{changeOf(hostapi.KindHost, k)}
	if e := x.hosts[k]; e != nil && e.free {
		all = append(all, aFreeHost)
	}
	return all
}

// heldSecrets are the secrets that stay for a host.
func (x *index) heldSecrets(k key) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e, ok := x.hosts[k]; ok {
		return e.holds
	}
	return nil
}

// isHeld reports whether a secret stays for any host but one.
func (x *index) isHeld(namespace, secret string, except key) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, e := range x.hosts {
		if k != except && k.namespace == namespace && slices.Contains(e.holds, secret) {
			return true
		}
	}
	return false
}

// conflicts are the hosts that have made one of this host's claims before it.
func (x *index) conflicts(k key) (all []host.Conflict) {
	x.mu.Lock()
	defer x.mu.Unlock()
	me, ok := x.hosts[k]
	if !ok {
		return nil
	}
	for _, c := range me.claims {
		for other := range x.claims[c] {
			if other != k && x.precedes(c, other, k) {
				all = append(all, host.Conflict{Claim: c, Host: other.String()})
			}
		}
	}
	slices.SortFunc(all, func(a, b host.Conflict) int {
		return cmp.Or(cmp.Compare(a.Claim, b.Claim), cmp.Compare(a.Host, b.Host))
	})
	return all
}

// precedes orders two hosts with one claim: accepted registration, then any
// registration, then first seen since this start.
func (x *index) precedes(c string, a, b key) bool {
	ea, eb := x.hosts[a], x.hosts[b]
	switch {
	case ea.accepted != eb.accepted:
		return ea.accepted
	case ea.registered != eb.registered:
		return ea.registered
	}
	return x.claims[c][a].turn < x.claims[c][b].turn
}
