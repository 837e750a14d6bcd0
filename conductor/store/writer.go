package store

import (
	"context"
	"errors"
	"sync"
)

// maxBatch bounds how many writes share one transaction, and so how long the
// first of them waits for the last.
const maxBatch = 256

// errClosed is the error of a write after Close.
var errClosed = errors.New("the database is closed")

// writeRequest is one write, all or nothing by itself. run may be called twice: it must
// start afresh each time.
type writeRequest struct {
	ctx  context.Context
	run  func(t *tx) error
	then func() // when it is safe, in the order of writing; may be nil
	err  error
	done chan struct{}
}

// writer writes one transaction at a time. Writes that arrive while the disk is
// busy with the last transaction share the next one, so that a hundred workers
// pay for one flush and not for a hundred.
type writer struct {
	jobs chan *writeRequest
	// transact runs jobs in one transaction. It leaves each job's own error in it, and returns
	// the error of the transaction: then none of the jobs has happened, unless it is
	// ErrUncertain.
	transact func(jobs []*writeRequest) error
	end      func() error  // called last
	stop     chan struct{} // closed by close
	quit     sync.Once
	over     chan struct{} // closed when loop has ended
	err      error         // of end
}

func newWriter(transact func([]*writeRequest) error, end func() error) *writer {
	w := &writer{
		jobs: make(chan *writeRequest), stop: make(chan struct{}), over: make(chan struct{}), transact: transact, end: end,
	}
	go w.loop()
	return w
}

// do runs a write and waits until it is on the disk or refused. A context that ends while the write is queued withdraws
// it. Later the context is ignored, so that its end never makes the answer uncertain.
func (w *writer) do(ctx context.Context, run func(t *tx) error) error { return w.doThen(ctx, run, nil) }

// doThen is do, and calls then as soon as the write is on the disk. Of several
// writes the first one's comes first.
func (w *writer) doThen(ctx context.Context, run func(t *tx) error, then func()) error {
	return w.wait(&writeRequest{ctx: ctx, run: run, then: then})
}

func (w *writer) wait(j *writeRequest) error {
	j.done = make(chan struct{})
	select {
	case w.jobs <- j:
	case <-w.stop:
		return errClosed
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
	<-j.done
	return j.err
}

func (w *writer) close() error {
	w.quit.Do(func() { close(w.stop) })
	<-w.over
	return w.err
}

func (w *writer) loop() {
	defer close(w.over)
	for {
		select {
		case j := <-w.jobs:
			w.batch(w.gather(j))
		case <-w.stop:
			w.err = w.end()
			return
		}
	}
}

// gather adds the requests that wait already, up to maxBatch.
func (w *writer) gather(first *writeRequest) []*writeRequest {
	batch := []*writeRequest{first}
	for len(batch) < maxBatch {
		select {
		case j := <-w.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// batch runs jobs in one transaction. When the transaction as a whole fails (a full disk), each job gets a transaction
// of its own. Only the jobs that do not fit then fail.
func (w *writer) batch(jobs []*writeRequest) {
	if err := w.transact(jobs); err != nil {
		for _, j := range jobs {
			if len(jobs) > 1 && !errors.Is(err, ErrUncertain) {
				err = w.transact([]*writeRequest{j})
			}
			if err != nil {
				j.err = err
			}
		}
	}
	for _, j := range jobs {
		if j.then != nil && j.err == nil {
			j.then()
		}
		close(j.done)
	}
}
