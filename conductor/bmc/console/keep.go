package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// keep holds a line open until ctx ends. If the first connection fails, the viewers get its error. A recorded line is
// tried again, and so is a line that broke.
func (c *Consoles) keep(ctx context.Context, node string, l *line, take bool) {
	why := ErrEnded // for a viewer that comes after the end, as the first one may
	defer func() { l.hub.close(why) }()
	connected, pause := false, firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := c.once(ctx, node, l, take, &connected)
		if ctx.Err() != nil {
			return
		}
		if why = ErrEnded; !connected {
			why = err
			l.hub.end(err)
		}
		c.mu.Lock()
		needed := l.recorded || l.viewers > 0 && connected
		c.mu.Unlock()
		if !needed {
			return
		}
		if time.Since(began) > maxPause {
			pause = firstPause
		}
		var permanent interface{ Permanent() bool }
		if errors.As(err, &permanent) && permanent.Permanent() {
			pause = permanentPause
		}
		c.conf.Log.Info("console lost, connecting again", "node", node, "err", err, "pause", pause)
		l.hub.say(fmt.Sprintf("The console's connection is lost: %v. Connecting again in %v.", err, pause))
		timer := time.NewTimer(pause)
		take = false
		select {
		case <-ctx.Done():
		case take = <-l.retry:
		case <-timer.C:
		}
		timer.Stop()
		pause = min(2*pause, maxPause)
	}
}

// Limits of a line's output: bytes a second in the long run, and bytes at once. The rate is over five times the output
// of 115,200 baud. A BMC that exceeds it is not read for a while: its data waits in network buffers.
const (
	lineRate  = 64 << 10
	lineBurst = 1 << 20
)

// once is one connection, from its opening to its end.
func (c *Consoles) once(ctx context.Context, node string, l *line, take bool, connected *bool) error {
	opening, cancel := context.WithTimeout(ctx, openTime)
	upstream, err := c.conf.Open(opening, node, take)
	cancel()
	if err != nil {
		return err
	}
	*connected = true
	l.hub.say("The console is connected.")
	var both sync.WaitGroup
	ctx, end := context.WithCancelCause(ctx)
	both.Go(func() {
		buf := make([]byte, 4<<10)
		for paid := time.Now(); ; {
			n, err := upstream.Read(buf)
			if n > 0 {
				l.hub.output(buf[:n])
			}
			if now := time.Now(); now.After(paid) {
				paid = now
			}
			paid = paid.Add(time.Duration(n) * time.Second / lineRate)
			if ahead := time.Until(paid) - lineBurst*time.Second/lineRate; ahead > 0 && err == nil {
				select {
				case <-time.After(ahead):
				case <-ctx.Done():
				}
			}
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = errors.New("the BMC ended it")
				}
				end(err)
				return
			}
		}
	})
	both.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case data := <-l.hub.input:
				if _, err := upstream.Write(data); err != nil {
					end(err)
					return
				}
			}
		}
	})
	<-ctx.Done()
	err = context.Cause(ctx)
	if closing := upstream.Close(); closing != nil {
		c.conf.Log.Info("console not given back cleanly", "node", node, "err", closing)
	}
	both.Wait()
	return err
}
