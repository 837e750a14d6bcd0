// Package bootlog keeps the logs of ramdisks: per node and per boot, in files or in a database, bounded in number and
// size. A log can be read while it comes in, after the boot and after the conductor's restart. An agent that sends no
// log sends an archive at the end, which is kept as one.
//
// It must not know the work of a node, nor why it logs. Its input comes from machines that may be hostile. Names are
// checked before they become paths. Lines are made harmless on arrival, so that any program can show them on a
// terminal.
package bootlog

import (
	"fmt"
	"os"
	"regexp"
	"sync"
)

// Limits bound the logs of one node.
type Limits struct {
	Boots int   // the oldest is dropped first; 5 when 0
	Bytes int64 // of one boot, of which the oldest lines are dropped; 4 MiB when 0
}

// Keeper keeps the logs of all nodes. It is safe for several goroutines.
type Keeper struct {
	storage Storage
	limits  Limits
	before  func(node string) []string

	mu      sync.Mutex
	shelves map[string]*shelf // by node, those that were asked for
}

// Open keeps logs in a folder, which is made when it is not there.
func Open(dir string, l Limits) (*Keeper, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("boot logs: %w", err)
	}
	return New(folder(dir), l), nil
}

// New keeps logs in a storage that nothing else changes meanwhile.
func New(s Storage, l Limits) *Keeper {
	if l.Boots == 0 {
		l.Boots = 5
	}
	if l.Bytes == 0 {
		l.Bytes = 4 << 20
	}
	return &Keeper{storage: s, limits: l, shelves: map[string]*shelf{}}
}

// BeforeBoot makes the log of every new boot begin with lines of its node: the latest output of its console. It must be
// called before Append.
func (k *Keeper) BeforeBoot(lines func(node string) []string) { k.before = lines }

// Append adds lines to the log of one boot of a node; a boot not seen before
// begins a new log. boot is 16 hexadecimal digits that no other boot has.
// first is the number of the first line, counted by the machine: lines that
// came before, when our answer was lost, are not taken twice.
func (k *Keeper) Append(node, boot string, first int64, lines []string) error {
	if !validBoot(boot) {
		return fmt.Errorf("boot log of %s: boot %q is not 16 hexadecimal digits", node, boot)
	}
	s, err := k.shelf(node)
	if err != nil {
		return err
	}
	var before func() []string
	if k.before != nil {
		before = func() []string { return k.before(node) }
	}
	return s.add(boot, first, lines, before)
}

// Forget removes all logs of a node.
func (k *Keeper) Forget(node string) error {
	s, err := k.shelf(node)
	if err != nil {
		return err
	}
	k.mu.Lock()
	delete(k.shelves, node)
	k.mu.Unlock()
	return s.remove()
}

// Nodes are those with a log.
func (k *Keeper) Nodes() ([]string, error) {
	nodes, err := k.storage.Nodes()
	if err != nil {
		return nil, fmt.Errorf("boot logs: %w", err)
	}
	return nodes, nil
}

// shelf is the logs of one node, read from the storage the first time.
func (k *Keeper) shelf(node string) (*shelf, error) {
	if !validNode(node) {
		return nil, fmt.Errorf("boot log: node %q is not a UUID in lower case", node)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, known := k.shelves[node]; known {
		return s, nil
	}
	s, err := openShelf(node, k.storage, k.limits)
	if err != nil {
		return nil, fmt.Errorf("boot log of %s: %w", node, err)
	}
	k.shelves[node] = s
	return s, nil
}

// The names that may become paths: they have no dot and no slash in them.
var (
	nodeName = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	bootName = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

func validNode(name string) bool { return nodeName.MatchString(name) }
func validBoot(name string) bool { return bootName.MatchString(name) }
