package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// FreeAnswer is how many bytes of an answer take no room and no turn: nearly all answers have fewer.
const FreeAnswer = 64 << 10

// ErrFull is about an answer that is longer than FreeAnswer. The machine may be asked again.
var ErrFull = errors.New("the answers of other machines leave no room for this one: it is tried again later")

// Room is the memory that the answers of all machines may take together, beyond the free bytes of each. A bound of one
// answer is none of them all: hostile machines are as many as their owner enrolls.
type Room struct {
	free int
	left *semaphore.Weighted
}

// NewRoom makes room of size bytes. Each answer has the free ones besides.
func NewRoom(size int64, free int) *Room { return &Room{free, semaphore.NewWeighted(size)} }

// Read reads an answer of at most most bytes; of a longer one, it returns one byte more. Room is taken as the bytes
// come, and held until done is called.
func (r *Room) Read(ctx context.Context, from io.Reader, most int) (b []byte, done func(), err error) {
	held := int64(0)
	done = sync.OnceFunc(func() { r.left.Release(held) })
	for step := min(r.free, most+1); ; step = min(max(len(b), FreeAnswer), most+1-len(b)) {
		if n := int64(len(b)+step-r.free) - held; n > 0 {
			if err := r.take(ctx, n); err != nil {
				return b, done, err
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

// patience is how long an answer waits for room: those that hold some may wait for one another.
const patience = 10 * time.Second

func (r *Room) take(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.left.Acquire(ctx, n); err != nil {
		return fmt.Errorf("%w (%v)", ErrFull, err) //nolint:errorlint // it is not the machine that was late
	}
	return nil
}

// turns bounds the long answers that are decoded at a time: each takes many times its bytes, and a processor.
var turns = semaphore.NewWeighted(int64(max(2, runtime.GOMAXPROCS(0))))

// Turn waits until an answer of size bytes may be decoded. end, which may be called again, ends its turn.
func Turn(ctx context.Context, size int) (end func(), err error) {
	if size <= FreeAnswer {
		return func() {}, nil
	}
	if err := turns.Acquire(ctx, 1); err != nil {
		return func() {}, fmt.Errorf("%w (%v)", ErrFull, err) //nolint:errorlint // as above
	}
	return sync.OnceFunc(func() { turns.Release(1) }), nil
}
