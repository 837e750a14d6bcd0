package exchange

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// FreeAnswer is how many bytes of an answer take no room and no turn: nearly all answers have fewer.
const FreeAnswer = 64 << 10

// ErrFull is about an answer that is longer than FreeAnswer. The machine may be asked again.
var ErrFull = errors.New("the answers of other machines leave no room for this one: it is tried again later")

// Budget is the memory that the answers of all machines may take together, beyond the free bytes of each. A bound of
// one answer is none of them all: hostile machines are as many as their owner enrolls.
type Budget struct {
	free    int
	left    *shares
	waiting atomic.Int64
}

// NewBudget makes a budget of size bytes. Each answer has the free ones besides.
func NewBudget(size int64, free int) *Budget { return &Budget{free: free, left: newShares(size)} }

// Read reads an answer of at most most bytes; of a longer one, it returns one byte more. Room is taken as the bytes
// come, and held until done is called. An answer that takes longer than holdTime is cut off when others wait.
func (r *Budget) Read(ctx context.Context, from io.Reader, most int, cut func() error) (b []byte, done func(),
	err error) {
	held := int64(0)
	read, waits := make(chan struct{}), new(atomic.Int64) // odd: it waits
	defer close(read)
	done = sync.OnceFunc(func() { r.left.release(ctx, held) })
	for step := min(r.free, most+1); ; step = min(max(len(b), FreeAnswer), most+1-len(b)) {
		if n := int64(len(b)+step-r.free) - held; n > 0 {
			if err := r.take(ctx, n, waits); err != nil {
				return b, done, err
			}
			if held == 0 {
				go r.watch(read, waits, cut)
			}
			held += n
		}
		b = slices.Grow(b, step)
		for end := len(b) + step; len(b) < end; {
			n, err := from.Read(b[len(b):end])
			if b = b[:len(b)+n]; errors.Is(err, io.EOF) {
				return b, done, nil
			} else if err != nil {
				return b, done, err
			}
		}
		if len(b) > most {
			return b, done, nil
		}
	}
}

// patience is how long an answer waits for room: answers that hold some may wait for each other.
const patience = 10 * time.Second

// holdTime is how long an answer may come while it holds room that others wait for.
const holdTime = 5 * time.Second

// watch cuts off an answer that keeps others waiting, until it is read. Time in which it waits itself is not its
// machine's fault: the count begins anew then.
func (r *Budget) watch(read <-chan struct{}, waits *atomic.Int64, cut func() error) {
	waited := waits.Load()
	for t := time.NewTimer(holdTime); ; {
		select {
		case <-read:
			return
		case <-t.C:
		}
		switch now := waits.Load(); {
		case now != waited || now%2 == 1:
			waited = now
			t.Reset(holdTime)
		case r.waiting.Load() > 0:
			_ = cut() // its reader has the error
			return
		default:
			t.Reset(time.Second)
		}
	}
}

func (r *Budget) take(ctx context.Context, n int64, waits *atomic.Int64) error {
	if r.left.try(ctx, n) {
		return nil
	}
	r.waiting.Add(1)
	waits.Add(1)
	defer func() {
		waits.Add(1)
		r.waiting.Add(-1)
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return r.left.take(ctx, n)
}

// turns bounds the long answers that are decoded at a time: each takes many times its bytes, and a processor.
var turns = newShares(int64(max(2, runtime.GOMAXPROCS(0))))

// Turn waits until an answer of size bytes may be decoded. end, which may be called again, ends its turn.
func Turn(ctx context.Context, size int) (end func(), err error) {
	if size <= FreeAnswer {
		return func() {}, nil
	}
	if err := turns.take(ctx, 1); err != nil {
		return func() {}, err
	}
	return sync.OnceFunc(func() { turns.release(ctx, 1) }), nil
}
