package steps

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// askPatience limits how long disks may take to answer. A sleeping disk needs less to
// spin up.
const askPatience = time.Minute

// answer is one disk's answer, or the error.
type answer[T any] struct {
	disk  agentapi.Disk
	value T
	err   error
}

// askDisks asks all disks something at the same time. Opening a dying disk can block
// for minutes in the kernel, where nothing can interrupt it. Such a disk is given up,
// and its later answer is dropped. Answers come in the order of the disks.
func askDisks[T any](
	ctx context.Context, disks []agentapi.Disk, ask func(context.Context, agentapi.Disk) (T, error),
) []answer[T] {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	began := time.Now()
	coming := make([]chan answer[T], len(disks))
	for i, d := range disks {
		c := make(chan answer[T], 1)
		coming[i] = c
		go func() { // ends when the kernel returns; c has room for the answer
			value, err := ask(ctx, d)
			c <- answer[T]{d, value, err}
		}()
	}
	answers := make([]answer[T], len(disks))
	for i, d := range disks {
		select {
		case answers[i] = <-coming[i]:
			continue
		case <-ctx.Done():
		}
		select { // which may have come while another was waited for
		case answers[i] = <-coming[i]:
		default:
			waited := time.Since(began).Round(time.Second)
			answers[i] = answer[T]{disk: d, err: fmt.Errorf("it has not answered for %v: "+
				"pull it out if it is dying, or keep it by skip_block_devices: %w", waited, ctx.Err())}
		}
	}
	return answers
}
