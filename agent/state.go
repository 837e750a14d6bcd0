package agent

import (
	"fmt"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// state holds the conductor's answers to lookups. It is safe for several
// goroutines.
type state struct {
	mu     sync.Mutex
	nodeID string
	secret string
	looked agentapi.LookupConfig
}

// adopt stores a lookup's answer. An agent that does not hold the real token cannot
// use a masked one.
func (s *state) adopt(r agentapi.LookupReply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch t := r.Config.AgentToken; {
	case t == agentapi.MaskedToken && s.secret == "":
		return fmt.Errorf("node %s: %w", r.Node.UUID, ErrLockedDown)
	case t != agentapi.MaskedToken && t != "":
		s.secret = t
	}
	s.nodeID, s.looked = r.Node.UUID, r.Config
	return nil
}

func (s *state) setToken(t string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secret = t
}

func (s *state) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secret
}

func (s *state) uuid() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodeID
}

func (s *state) config() agentapi.LookupConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked
}

// timeout is the conductor's heartbeat timeout.
func (s *state) timeout() time.Duration {
	return time.Duration(s.config().HeartbeatTimeout) * time.Second
}
