package api

import (
	"context"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// liveAnswer sends an answer in pieces, as they come. The server's limits on a whole request do not fit a long answer,
// so each piece has its own.
type liveAnswer struct {
	c       *rest.Call
	control *http.ResponseController
	media   string
}

func newLiveAnswer(c *rest.Call, media string) (*liveAnswer, error) {
	control := http.NewResponseController(c.Response())
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return &liveAnswer{c, control, media}, nil
}

// begin sends the header, once.
func (a *liveAnswer) begin() {
	r := a.c.Response()
	if r.Committed {
		return
	}
	r.Header().Set("Content-Type", a.media)
	nodeapi.Unbuffered(r.Header())
	r.WriteHeader(http.StatusOK)
}

// endedTrailer gives the reason why an answer ended before its time, where its media type cannot.
const endedTrailer = http.TrailerPrefix + "Ferrite-Ended"

// ends is the end of an answer that is whole so far.
func (a *liveAnswer) ends(ctx context.Context) {
	a.begin()
	if err := auth.GaveWay(ctx); err != nil {
		a.c.Response().Header().Set(endedTrailer, err.Error())
	}
}

// emit sends a piece, or the header alone.
func (a *liveAnswer) emit(piece []byte) error {
	if err := a.control.SetWriteDeadline(time.Now().Add(readerPatience)); err != nil {
		return err
	}
	a.begin()
	if _, err := a.c.Response().Write(piece); err != nil {
		return err
	}
	return a.control.Flush()
}
