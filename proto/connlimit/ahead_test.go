package connlimit

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestSentAhead: a client that sends hundreds of requests at once gets few answers, and has to connect again. A client
// that waits for each answer keeps the connection.
func TestSentAhead(t *testing.T) {
	const many = 200
	answers := func(write func(s *served) (next func() (*http.Response, error))) (n int) {
		s := serve(t, 10, 10)
		next := write(s)
		for ; n < many; n++ {
			res, err := next()
			if err != nil {
				break
			}
			if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("answer %d: %s, %v", n+1, res.Status, err)
			}
		}
		return n
	}
	const request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	if n := answers(func(s *served) func() (*http.Response, error) {
		c := bufio.NewReader(s.dial("127.0.0.1", strings.Repeat(request, many)))
		return func() (*http.Response, error) { return http.ReadResponse(c, nil) }
	}); n < 1 || n > 3 {
		t.Errorf("%d of %d requests sent at once are answered, want 1 to 3", n, many)
	}
	if n := answers(func(s *served) func() (*http.Response, error) {
		c := s.dial("127.0.0.1", "")
		r := bufio.NewReader(c)
		return func() (*http.Response, error) {
			if _, err := fmt.Fprint(c, request[:20]); err != nil {
				return nil, err
			}
			fmt.Fprint(c, request[20:])
			return http.ReadResponse(r, nil)
		}
	}); n != many {
		t.Errorf("%d of %d requests sent one after the other are answered", n, many)
	}
	if n := answers(func(s *served) func() (*http.Response, error) {
		c := s.dial("127.0.0.1", "")
		r := bufio.NewReader(c)
		return func() (*http.Response, error) {
			fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab")
			fmt.Fprint(c, "cde")
			return http.ReadResponse(r, nil)
		}
	}); n != many {
		t.Errorf("%d of %d requests with a body are answered", n, many)
	}
}
