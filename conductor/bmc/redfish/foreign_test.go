package redfish_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
)

const inner = "AWS_SECRET_KEY=wJalr"

// A node's address may lead to another service, and its answers are not for users that edit nodes: only an error of
// Redfish is repeated.
func TestForeignAnswers(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		status     int
		body       string
		want       string
	}{
		{"text", "text/plain; charset=utf-8", 200, inner, "the answer is not JSON, but text/plain, 20 bytes"},
		{"a page", "text/html", 403, "INTERNAL-ADMIN " + inner,
			"403 Forbidden: no error of Redfish, but text/html, 35 bytes"},
		{"other JSON", "application/json", 404, `{"detail": "` + inner + `"}`,
			"404 Not Found: no error of Redfish, but application/json"},
		{"an error that is text", "application/json", 400, `{"error": "` + inner + `"}`, "no error of Redfish"},
		{"an error without a registry", "application/json", 400, `{"error": {"message": "` + inner + `"}}`,
			"no error of Redfish"},
		{"an error with a number", "application/json", 400, `{"error": {"code": 403, "message": "` + inner + `"}}`,
			"no error of Redfish"},
		{"a kind that is text", inner, 500, "", "no error of Redfish, but of no content type, 0 bytes"},
		{"JSON of another shape", "application/json", 200, `["` + inner + `"]`, "the answer is JSON of another form"},
		{"Redfish", "application/json", 400,
			`{"error": {"code": "Base.1.0.GeneralError", "@Message.ExtendedInfo": [{"MessageId": "a", "Message": "It is\u001b[31m \u0000too\nhot\u202e"}]}}`, "400 Bad Request: It is[31m too hot"},
		{"Redfish at length", "application/json", 400, `{"error": {"code": "Base.1.0.GeneralError", "message": "` +
			strings.Repeat("long ", 9999) + `"}}`, "long long ..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBoard(t)
			b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if isSystem(r) {
					w.Header().Set("Content-Type", c.kind)
					w.WriteHeader(c.status)
					fmt.Fprint(w, c.body)
				}
				return isSystem(r)
			}
			_, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), b.node())
			checkQuoted(t, err, c.want)
		})
	}
}

func checkQuoted(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wJalr") ||
		len(err.Error()) > 600 || strings.ContainsFunc(err.Error(), unicode.IsControl) {
		t.Errorf("got  %.700q\nwant %s", fmt.Sprint(err), want)
	}
}

// Answers that are not HTTP, and headers, are not repeated either.
func TestForeignProtocol(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{inner + "\r\n", "the answer is not HTTP"},
		{"HTTP/1.1 " + inner + "\r\n\r\n", "the answer is not HTTP"},
		{"HTTP/1.1 200 OK\r\n" + inner + "\r\n\r\n", "the answer is not HTTP"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + inner + "\r\n\r\n", "the answer is not HTTP"},
		{"HTTP/1.1 302 Found\r\nLocation: http://" + inner + "/\r\nContent-Length: 0\r\n\r\n", "redirected to another host"},
		{"HTTP/1.1 302 Found\r\nLocation: http://%zz" + inner + "\r\nContent-Length: 0\r\n\r\n", "Location is no URL"},
		{"HTTP/1.1 403 " + inner + "\r\nContent-Length: 0\r\n\r\n", "403 Forbidden"},
	} {
		at := bmctest.Listen(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 4096)) // the request, which does not matter
			fmt.Fprint(conn, c.raw)
		})
		b := newBoard(t)
		_, err := newDriver(t, redfish.Options{}).PowerState(t.Context(),
			b.node("redfish_address", "http://"+at.String()))
		checkQuoted(t, err, c.want)
	}
}
