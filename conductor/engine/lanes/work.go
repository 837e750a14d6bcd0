package lanes

import "time"

// Work is the pending effect of a node, as far as its turn depends on it. A node has one at most.
type Work struct {
	Node    string    // its UUID
	Due     time.Time // not carried out before
	Project string    // of the machine: its lessee, else its owner, else ""
	Kind    string    // the interface of the effect: power, management, agent
	Peer    string    // the called party: the host of a BMC, an agent; "" for none outside
	Proven  bool      // the peer has answered before, by the node's record
}

// Grade says how promptly a peer answered last. It is the lane that its work waits in.
type Grade int

// Grades in the order in which free workers are filled.
const (
	Prompt   Grade = iota // answered within Patience
	Unproven              // has never answered
	Slow                  // answered, but held its worker for longer than Patience
	Silent                // let its last call time out
	grades
)

// String names a grade for logs and tests.
func (g Grade) String() string { return [...]string{"prompt", "unproven", "slow", "silent"}[g] }

// Patience is how long work of a prompt or unproven peer may hold its worker. After that the
// worker is free for others, while the work goes on.
const Patience = 2 * time.Second

// overflow bounds the work that goes on without a worker, as a multiple of the workers of a lane.
const overflow = 16
