package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestBodies: two large bodies of one address, three in all.
func TestBodies(t *testing.T) {
	const large = 10 * freeBody
	b := newBodies(2*large, 3*large)
	begin := func(from string, size int) (end func(), err error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", strings.NewReader(strings.Repeat("x", size)))
		r.RemoteAddr = from + ":1"
		end = b.bound(r)
		_, err = nodeapi.ReadBody(httptest.NewRecorder(), r, large)
		return end, err
	}
	full := func(err error) bool {
		var f *nodeapi.Fault
		return errors.As(err, &f) && f.Status == http.StatusServiceUnavailable
	}
	let := func(from string) func() {
		t.Helper()
		end, err := begin(from, large)
		if err != nil {
			t.Fatalf("a body of %s: %v", from, err)
		}
		return end
	}
	first, second := let("10.0.0.1"), let("10.0.0.1")
	refused, err := begin("10.0.0.1", large)
	if !full(err) {
		t.Errorf("a third one of that address: %v", err)
	}
	refused()
	third := let("10.0.0.2")
	if refused, err = begin("10.0.0.3", large); !full(err) {
		t.Errorf("a fourth one in all: %v", err)
	}
	refused()
	small, err := begin("10.0.0.1", freeBody)
	if err != nil {
		t.Errorf("a small one: %v", err)
	}
	for _, end := range []func(){first, second, third, small} {
		end()
	}
	if b.all != 0 || len(b.by) != 0 {
		t.Errorf("%d bytes of %v are held by nobody", b.all, b.by)
	}
}

// TestLongAnswers: room for an answer is taken before it is made. Answers that slow readers have not taken do not pile
// up in memory: requests wait for room, ten seconds at the most. Short answers always get through. An answer that is
// longer than the bound for all is sent if it is alone.
func TestLongAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Server{answers: newBodies(10*freeBody, 15*freeBody)}
		a.buffers.New = func() any { return new([]byte) }
		answer := func(from string, estimate, size int, slow time.Duration) (status string) {
			made := "not made"
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = from + ":1"
			c := &Call{memory: a.Memory(r), Context: echo.New().NewContext(r, &slowWriter{httptest.NewRecorder(), slow})}
			defer c.memory.End()
			err := c.Reserve(int64(estimate * freeBody))
			if err == nil {
				made = "made"
				err = a.Buffer(c, http.StatusOK, func(dst []byte) []byte { return append(dst, make([]byte, size*freeBody)...) })
			}
			var fault *nodeapi.Fault
			if errors.As(err, &fault) {
				return fmt.Sprint(fault.Status, " ", made)
			}
			return "200 made"
		}
		slow := func(from string, size int, slow time.Duration) {
			go answer(from, size, size, slow)
			synctest.Wait()
		}
		check := func(what, want, got string) {
			t.Helper()
			if want != got {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		slow("10.0.0.1", 100, answerWait*3)
		check("beside one that is longer than all", "503 not made", answer("10.0.0.2", 2, 2, 0))
		check("a short one beside it", "200 made", answer("10.0.0.1", 0, 1, 0))
		time.Sleep(answerWait * 3 / 2)
		check("when it is about to end", "200 made", answer("10.0.0.2", 2, 2, answerWait))
		slow("10.0.0.1", 9, answerWait*3)
		check("another of an address that has most of its own", "503 not made", answer("10.0.0.1", 4, 4, 0))
		slow("10.0.0.2", 6, answerWait*2)
		check("one that is longer than it looked", "503 made", answer("10.0.0.3", 1, 8, 0))
		time.Sleep(answerWait * 2)
		check("afterwards", "200 made", answer("10.0.0.1", 4, 100, 0))
		if a.answers.all != 0 || len(a.answers.by) != 0 {
			t.Errorf("%d bytes of %v are held by nobody", a.answers.all, a.answers.by)
		}
	})
}

// slowWriter is a client that takes its answer late.
type slowWriter struct {
	*httptest.ResponseRecorder
	after time.Duration
}

func (w *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(w.after)
	w.after = 0
	return w.ResponseRecorder.Write(p)
}
