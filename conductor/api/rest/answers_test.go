package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// reader takes an answer at a rate, in bytes a second, until its deadline.
type reader struct {
	*httptest.ResponseRecorder
	rate    int
	took    int
	expired <-chan time.Time
	ended   chan struct{}
}

func (r *reader) SetWriteDeadline(at time.Time) error {
	if at.Before(time.Now()) {
		close(r.ended)
	}
	r.expired = time.After(time.Until(at))
	return nil
}

func (r *reader) Write(p []byte) (int, error) {
	select {
	case <-time.After(time.Duration(len(p)) * time.Second / time.Duration(r.rate)):
		r.took += len(p)
		return len(p), nil
	case <-r.expired:
	case <-r.ended:
	}
	return 0, os.ErrDeadlineExceeded
}

const onePage = 1 << 20

// pages is room for eight pages of an address, and twenty of all.
func pages() *Server {
	return &Server{answers: newYielding(8*(onePage-freeBody), 20*(onePage-freeBody))}
}

// page sends a page to a reader at an address. It returns the time until the page was whole, or the error.
func (s *Server) page(t *testing.T, from string, rate int) (after time.Duration, err error) {
	began := time.Now()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr = from
	m := s.Memory(r)
	defer m.End()
	if err := m.Resize(onePage); err != nil {
		return time.Since(began), err
	}
	_, err = m.Write(&reader{ResponseRecorder: httptest.NewRecorder(), rate: rate, ended: make(chan struct{})},
		make([]byte, onePage))
	return time.Since(began), err
}

// TestLeastRate: an answer that holds memory ends where its reader is too slow, and not before.
func TestLeastRate(t *testing.T) {
	for rate, whole := range map[int]bool{100 << 10: true, 32 << 10: true, 20 << 10: false, 1: false} {
		synctest.Test(t, func(t *testing.T) {
			after, err := pages().page(t, "10.0.0.1:1", rate)
			if whole != (err == nil) || !whole && !errors.Is(err, os.ErrDeadlineExceeded) || after > time.Minute {
				t.Errorf("%d bytes a second: %v after %v", rate, err, after)
			}
		})
	}
}

// TestSlowReadersGiveWay: slow readers, at few addresses or at many, do not keep others from their answers. Others wait
// for quick readers.
func TestSlowReadersGiveWay(t *testing.T) {
	const slow = 40 << 10
	for name, tc := range map[string]struct {
		n    int
		from func(i int) string
		rate int
		cut  int
	}{
		"three addresses":    {20, func(i int) string { return fmt.Sprintf("10.0.0.%d:1", i%3) }, slow, 1},
		"one each":           {20, func(i int) string { return fmt.Sprintf("10.0.0.%d:1", i) }, slow, 1},
		"the same address":   {8, func(int) string { return "192.0.2.1:1" }, slow, 1},
		"an IPv6 /64, twice": {16, func(i int) string { return fmt.Sprintf("[2001:db8:0:%d::%d]:1", i%2, i) }, slow, 0},
		"quick":              {20, func(i int) string { return fmt.Sprintf("10.0.0.%d:1", i%3) }, onePage / 2, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := pages()
			ended := make(chan error, tc.n)
			for i := range tc.n {
				go func() {
					_, err := s.page(t, tc.from(i), tc.rate)
					ended <- err
				}()
			}
			synctest.Wait()
			time.Sleep(time.Second)
			if after, err := s.page(t, "192.0.2.1:1", 10*onePage); err != nil || after > 3*time.Second {
				t.Errorf("%s: another reader has its page after %v: %v", name, after, err)
			}
			cut := 0
			for range tc.n {
				if err := <-ended; err != nil {
					cut++
				}
			}
			if cut != tc.cut || s.answers.all != 0 || len(s.answers.by)+len(s.answers.cut) != 0 {
				t.Errorf("%s: %d are cut off, want %d; %d bytes are held by nobody", name, cut, tc.cut, s.answers.all)
			}
		})
	}
}
