package ramdisk

import (
	"context"
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// unknownMachines are the machines without an enrolled node that are looked up and written now. Calls of one machine
// wait for each other, because the second must find the node of the first. Calls of different machines run side by
// side.
type unknownMachines struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // by identity key (machine UUID, MAC, BMC address); closed when its call is over
	made int                      // nodes that are being made
}

// identityKeys returns the identity keys of a machine: its MACs, its UUID and the addresses of its BMC.
func identityKeys(macs []string, data agentapi.Inspection) []string {
	all := slices.Clone(macs)
	if key := node.SystemKey(data.SystemUUID); key != "" {
		all = append(all, "system "+key)
	}
	for _, a := range reportedAddresses(data.Inventory) {
		all = append(all, "BMC "+a.String())
	}
	return all
}

// begin waits until no call of a machine with one of these is under way, and begins one, until leave.
func (s *unknownMachines) begin(ctx context.Context, keys []string) (leave func(), err error) {
	over := make(chan struct{})
	for {
		other := s.claim(keys, over)
		if other == nil {
			break
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, t := range keys {
			delete(s.busy, t)
		}
		close(over)
	}, nil
}

// claim takes all, or returns the end of another's call that has one of them.
func (s *unknownMachines) claim(keys []string, over chan struct{}) (other chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range keys {
		if other := s.busy[t]; other != nil {
			return other
		}
	}
	if s.busy == nil {
		s.busy = map[string]chan struct{}{}
	}
	for _, t := range keys {
		s.busy[t] = over
	}
	return nil
}

// reserve takes a place for a new node, if the nodes in undecided and the reserved places are fewer than most. made
// frees the place. A new node may be counted twice for a moment, but is always counted.
func (s *unknownMachines) reserve(undecided func() int, most int) (made func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if undecided()+s.made >= most {
		return nil, false
	}
	s.made++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made--
	}, true
}
