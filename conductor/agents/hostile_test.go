package agents

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestHostileAnswers: for any answer of an agent, the error about it is short, printable and without the token, and
// comes in time.
func TestHostileAnswers(t *testing.T) {
	const esc = "\x1b[2J\x07\u202e"
	long := strings.Repeat("A"+esc, 1<<17)
	answer := func(status, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
	}
	for name, raw := range map[string]string{
		"nothing":             "",
		"no HTTP":             "SSH-2.0-OpenSSH_9.2\r\n",
		"a long line":         "HTTP/1.1 " + long + "\r\n\r\n",
		"a long first line":   long + "\r\n\r\n",
		"a long header":       "HTTP/1.1 200 OK\r\nX: " + long + "\r\n\r\n",
		"a broken header":     "HTTP/1.1 200 OK\r\n" + long[:9000] + "\r\n\r\n",
		"many headers":        "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<17) + "\r\n",
		"many 100s":           strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+long[:900]+"\r\n\r\n", 1<<11),
		"switching protocols": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"a negative length":   "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"two lengths":         "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
		"a length too large":  "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
		"cut short":           "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{",
		"a broken chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + long[:900] + "\r\n",
		"gzip":                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
		"a redirect": "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/" + esc +
			"\r\nContent-Length: 0\r\n\r\n",
		"a status of its own": answer("999 "+long[:900], ""),
		"an odd status":       answer("2000 OK", ""),
		"a fault": answer("400 x",
			`{"faultcode":"Client","faultstring":"`+strings.Repeat(`A\u001b[2J\u0007`, 1<<16)+`"}`),
		"busy":                  answer("409 x", `{"faultstring":"`+strings.Repeat(`busy\u202e`, 1<<16)+`"}`),
		"a page":                answer("502 x", "<html>"+long),
		"the request in a page": answer("404 x", "GET /v1/commands/?agent_token="+agentToken+"&wait=true "+esc),
		"a token that is cut":   answer("404 x", strings.Repeat("x", 280)+agentToken),
		"the token in a fault":  answer("401 x", `{"faultstring":"Token `+agentToken+` invalid."}`),
		"a text":                answer("200 OK", long),
		"a deep list":           answer("200 OK", strings.Repeat("[", 1<<17)),
		"a deep object":         answer("200 OK", strings.Repeat(`{"commands":`, 1<<15)),
		"a number":              answer("200 OK", `{"commands":1e999999}`),
		"a field of its own":    answer("200 OK", `{"commands":[{"id":{"`+long[:9000]+`":1}}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			c := NewClient(ClientOptions{PlainHTTP: true})
			defer c.Close()
			_, err := c.Commands(ctx, of(node.Agent{URL: peer(t, raw), Token: agentToken}))
			if err == nil || ctx.Err() != nil {
				t.Fatalf("error %v, after %v", err, ctx.Err())
			}
			odd := func(r rune) bool { return !unicode.IsPrint(r) }
			if text := err.Error(); len(text) > 3000 || strings.ContainsFunc(text, odd) ||
				strings.Contains(text, agentToken[:9]) {
				t.Errorf("%d bytes: %.300q", len(text), text)
			}
		})
	}
}

// peer answers every connection with the same bytes.
func peer(t *testing.T, raw string) string {
	t.Helper()
	return "http://" + bmctest.Listen(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = c.Write([]byte(raw))
	}).String()
}

// TestEndlessAnswer: an answer without end is given up, and is not kept whole.
func TestEndlessAnswer(t *testing.T) {
	for _, status := range []int{200, 500} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			for block := make([]byte, 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}))
		c := NewClient(ClientOptions{PlainHTTP: true})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Commands(t.Context(), of(node.Agent{URL: srv.URL, Token: agentToken}))
		runtime.ReadMemStats(&after)
		if want := map[int]string{200: "more than 64 MiB", 500: "agent answered 500"}[status]; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%d: error %.300v, want %q", status, err, want)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; status == 500 && grown > 8<<20 {
			t.Errorf("%d MiB were taken for a fault", grown>>20)
		}
		c.Close()
		srv.Close()
	}
}
