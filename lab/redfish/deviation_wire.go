package redfish

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// atTimes is how often the deviations busy-at-times and cut-at-times hit: every so many requests.
const atTimes = 20

// disturb applies the deviations of the connection. It returns the writer to answer with; answered means that the
// answer has been given.
func (s *Server) disturb(w http.ResponseWriter, r *http.Request) (to http.ResponseWriter, answered bool) {
	if s.personality.has(SlowAnswers) {
		delay(s.life, r, s.config.Delays.Answer)
	}
	nth := s.recent.requests.Add(1)%atTimes == 0
	switch {
	case nth && s.personality.has(BusyAtTimes):
		w.Header().Set("Retry-After", "1")
		s.writeError(w, r, problem(temporarilyAway, "1"))
		return w, true
	case nth && s.personality.has(CutAtTimes):
		return &cutting{ResponseWriter: w}, false
	}
	return w, false
}

// delay waits before a request is answered, unless its client or the server goes.
func delay(life context.Context, r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-life.Done():
	}
}

// cutting announces a whole body, sends half of it, and closes the connection.
type cutting struct {
	http.ResponseWriter
	status int
}

// WriteHeader waits for the body: its length belongs into the header.
func (c *cutting) WriteHeader(status int) {
	if c.status = status; status == http.StatusNoContent || status == http.StatusNotModified {
		c.ResponseWriter.WriteHeader(status)
	}
}

func (c *cutting) Write(b []byte) (int, error) {
	c.Header().Set("Content-Length", strconv.Itoa(len(b)))
	c.ResponseWriter.WriteHeader(max(c.status, http.StatusOK))
	_, err := c.ResponseWriter.Write(b[:len(b)/2])
	if err = errors.Join(err, http.NewResponseController(c.ResponseWriter).Flush()); err != nil {
		return 0, err
	}
	panic(http.ErrAbortHandler) // net/http's way to close the connection
}

// compress is body as gzip.
func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(body)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}
