package ipmi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/bougou/go-ipmi/pkg/client"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
)

// session is the context of a call: a client that is logged in.
type session struct {
	client  *client.Client
	wire    *wire
	log     *slog.Logger
	address string        // of the BMC
	timeout time.Duration // of a command's first try, doubled with each
	tries   int
}

// How often a command is sent. An old session may have been forgotten, and only silence
// shows it: a packet is sent fewer times before a new session is made.
const (
	triesFresh = 3
	triesOld   = 2
)

// ask sends one command until the BMC answers. Each try is a packet with numbers of its own, since a BMC drops a
// repeated packet. The BMC may have done a command that it did not answer, so a command must be harmless twice.
func ask[T any](ctx context.Context, s *session, c types.Command,
	do func(ctx context.Context) (T, error)) (answer T, err error) {
	start, timeout := time.Now(), s.timeout
	for try := 1; ; try++ {
		began := time.Now()
		answer, err = once(ctx, s, c, timeout, do)
		exchange.Ended(ctx, exchange.Exchange{Protocol: exchange.IPMI, Name: c.Name, Server: s.address, Began: began,
			Err: err})
		var e *wireError
		if errors.As(err, &e) {
			e.took = time.Since(start)
		}
		s.log.Debug("ipmi command", "command", c.Name, "try", try, "ms", time.Since(start).Milliseconds(), "err", err)
		if e == nil || !e.silence() || ctx.Err() != nil || try == s.tries {
			return answer, err
		}
		timeout *= 2
	}
}

// once is one try of a command.
func once[T any](ctx context.Context, s *session, c types.Command, timeout time.Duration,
	do func(ctx context.Context) (T, error)) (answer T, err error) {
	try, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// go-ipmi's parsers run here, and have not been written for hostile answers.
	defer func() {
		if p := recover(); p != nil {
			err = &garbledError{c.Name, p}
		}
	}()
	s.wire.ask()
	answer, err = do(try)
	if try.Err() != nil {
		s.wire.interrupt()
	}
	return answer, s.explain(ctx, try, c, err)
}

// explain derives the end of a command from go-ipmi's error and the packets seen.
func (s *session) explain(ctx, try context.Context, c types.Command, err error) error {
	news := s.wire.newsSinceAsk()
	if err == nil || errors.Is(err, client.ErrRAKPAuthentication) {
		return err
	}
	if answer, ok := types.IsResponseError(err); ok && answer.CompletionCode() != types.CodeOK {
		return &answerError{c, answer.CompletionCode()}
	}
	cause := cmp.Or(ctx.Err(), try.Err(), news.ended)
	if errors.Is(cause, os.ErrDeadlineExceeded) {
		cause = context.DeadlineExceeded // the socket's clock was ahead of the context's
	}
	switch {
	case news.status != types.RmcpStatusCodeNoErrors:
		return types.NewRmcpStatusError(news.status)
	case cause != nil:
		return &wireError{command: c.Name, dropped: news.dropped, cause: cause}
	}
	return &garbledError{c.Name, err}
}

// close gives the session back and ends the socket, even if the BMC refuses.
func (s *session) close(ctx context.Context) error {
	s.tries = 1
	_, err := ask(ctx, s, types.CommandCloseSession, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.client.Close(ctx)
	})
	return errors.Join(err, s.wire.Conn.Close())
}
