package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// isWalk reports whether a transcript is the log of Ironic's command line client.
func isWalk(text string) bool { return strings.HasPrefix(text, "### ") }

// readWalk reads the requests in such a log, each a curl command in one line with
// its answer in the next two.
func readWalk(t *testing.T, number, text string) []exchange {
	t.Helper()
	var all []exchange
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "REQ: ") {
			continue
		}
		e, err := readCurl(line)
		if err == nil {
			err = e.readLogged(lines[i+1], lines[i+2])
		}
		if err != nil {
			t.Fatalf("transcript %s, line %d: %v", number, i+1, err)
		}
		e.id = fmt.Sprintf("%s#%d", number, len(all)+1)
		all = append(all, e)
	}
	return all
}

func readCurl(line string) (exchange, error) {
	said := regexp.MustCompile(`^REQ: curl -g -i -X ([A-Z]+) http://[^/ ]+(\S*)`).FindStringSubmatch(line)
	if said == nil {
		return exchange{}, fmt.Errorf("no request in %.80q", line)
	}
	e := exchange{method: said[1], path: said[2], header: http.Header{}}
	if e.path == "" {
		e.path = "/"
	}
	rest, sent, found := strings.Cut(line, " -d '")
	if found {
		e.sent = strings.TrimSuffix(sent, "'")
	}
	for _, h := range regexp.MustCompile(`-H "([^":]+): ([^"]*)"`).FindAllStringSubmatch(rest, -1) {
		if http.CanonicalHeaderKey(h[1]) == nodeapi.HeaderVersion {
			e.version, e.versioned = h[2], true
			continue
		}
		e.header.Set(h[1], h[2])
	}
	return e, nil
}

// readLogged reads an answer: status and headers in one line, the body in the
// next unless the client left it out.
func (e *exchange) readLogged(head, body string) error {
	if _, err := fmt.Sscanf(head, "RESP: [%d]", &e.status); err != nil {
		return fmt.Errorf("no answer in %.80q: %w", head, err)
	}
	e.answered = http.Header{}
	for _, h := range regexp.MustCompile(
		`(Content-Type|Location|X-Openstack-Ironic-Api-[A-Za-z-]+): (\S+)`).FindAllStringSubmatch(head, -1) {
		e.answered.Set(h[1], h[2])
	}
	body, found := strings.CutPrefix(body, "RESP BODY: ")
	if !found {
		return fmt.Errorf("no body in %.80q", body)
	}
	if !strings.HasPrefix(body, "Omitted, ") {
		e.body = body
	}
	return nil
}
