//go:build cluster

package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// registers are values in the extra field of nodes, written and read by several clients through any conductor. Each is
// used some times only: a write without an answer may happen at any later time, so that long histories take for ever to
// check.
type registers struct {
	*client
	began time.Time
	mu    sync.Mutex
	all   map[register][]porcupine.Operation
	known int // writes that were acknowledged
}

// register is one value of a node.
type register struct{ node, name string }

// uses is how often a client uses one register.
const uses = 12

// access is a client's request to a register.
type access struct {
	write bool
	value string
}

// model is a register that holds a text.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		in, _ := input.(access)
		if in.write {
			return true, in.value
		}
		return output == state, state
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %v", input, output) },
}

// use writes or reads a register, as the nth client of its node.
func (r *registers) use(by *client, node string, client, nth int) {
	at := register{node, fmt.Sprintf("value%d", nth/uses)}
	in, call := access{write: rand.IntN(2) == 0, value: fmt.Sprintf("%d-%d", client, nth)}, r.now()
	op := porcupine.Operation{ClientId: client, Call: call}
	if in.write {
		patch := []map[string]any{{"op": "add", "path": "/extra/" + at.name, "value": in.value}}
		_, err := by.ask("", http.MethodPatch, "/v1/nodes/"+node, patch, nil)
		op.Input, op.Return = in, r.now()
		if err != nil { // it may have been written, or may still be
			op.Return = math.MaxInt64
		}
		r.note(at, op, err == nil)
		return
	}
	var n shown
	if _, err := by.ask("", http.MethodGet, "/v1/nodes/"+node+"?fields=uuid,extra", nil, &n); err == nil {
		op.Input, op.Output, op.Return = access{}, n.Extra[at.name], r.now()
		r.note(at, op, false)
	}
}

func (r *registers) now() int64 { return time.Since(r.began).Nanoseconds() }

func (r *registers) note(at register, op porcupine.Operation, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[at] = append(r.all[at], op)
	if known {
		r.known++
	}
}

// told leaves out writes without an answer if no client has read their value: they may have happened last, or never.
// Without them the check is short.
func told(history []porcupine.Operation) (left []porcupine.Operation) {
	read := map[any]bool{}
	for _, op := range history {
		if in, _ := op.Input.(access); !in.write {
			read[op.Output] = true
		}
	}
	for _, op := range history {
		if in, _ := op.Input.(access); !in.write || op.Return != math.MaxInt64 || read[in.value] {
			left = append(left, op)
		}
	}
	return left
}

// check reads every register once more, and returns the registers with a history that no single register can have.
func (r *registers) check() (wrong []register, err error) {
	for at := range r.all {
		var n shown
		for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			call := r.now()
			if _, err = r.ask("", http.MethodGet, "/v1/nodes/"+at.node+"?fields=uuid,extra", nil, &n); err == nil {
				r.note(at, porcupine.Operation{Input: access{}, Call: call, Output: n.Extra[at.name], Return: r.now()}, false)
				break
			}
			if time.Now().After(end) {
				return nil, err
			}
		}
		switch porcupine.CheckOperationsTimeout(model, told(r.all[at]), time.Minute) {
		case porcupine.Ok:
		case porcupine.Illegal:
			wrong = append(wrong, at)
		case porcupine.Unknown:
			return wrong, fmt.Errorf("the history of %s of node %s, %d operations, takes too long to check", at.name, at.node,
				len(r.all[at]))
		}
	}
	return wrong, nil
}
