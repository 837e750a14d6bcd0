package redfish

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds on a BMC's answers. Its firmware may be faulty, or in the hands of an attacker that took its machine over, and
// must not cost the conductor its memory.
const (
	maxBody     = 4 << 20   // of one answer, decompressed; the largest of real BMCs are a few hundred kilobytes
	maxHeader   = 256 << 10 // of its header
	maxCall     = 64 << 20  // of all answers of a call
	maxRequests = 5000      // of a call
	maxDepth    = 64        // levels of JSON
	maxValues   = 100000    // JSON values and keys of one answer; a registry of BIOS settings has some 60,000
	maxPages    = 100       // of a collection
	maxMembers  = 10000     // of a collection
	maxLink     = 2048      // bytes of a path that the BMC names
)

// budget is the rest of the bytes and requests that a call may take.
type budget struct {
	mu              sync.Mutex
	bytes, requests int
}

// begin gives a new call all of it.
func (b *budget) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes, b.requests = maxCall, maxRequests
}

// ask takes one request of it, and answers how large the answer may be.
func (b *budget) ask() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests--; b.requests < 0 {
		return 0, fmt.Errorf("the BMC makes one call take more than %d requests", maxRequests)
	}
	return min(maxBody, b.bytes), nil
}

// spend takes an answer of it.
func (b *budget) spend(size int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if size > maxBody {
		return fmt.Errorf("the answer is larger than %d bytes", maxBody)
	}
	if b.bytes -= size; b.bytes < 0 {
		return fmt.Errorf("the answers to one call are larger than %d bytes", maxCall)
	}
	return nil
}

// checkShape refuses JSON that would cost much to decode.
func checkShape(body []byte) error {
	if err := nodeapi.CheckShape(body, maxDepth, maxValues); err != nil {
		return fmt.Errorf("the answer is JSON of %w", err)
	}
	return nil
}

// isADocument reports an answer that has to be one.
func isADocument(method string, answer *http.Response) bool {
	return method == http.MethodGet && answer.StatusCode == http.StatusOK
}

// checkAnswer refuses answers that are not usable documents. Errors need not be JSON: many BMCs answer them with a web
// page.
func checkAnswer(r *http.Request, answer *http.Response, body []byte, root string) error {
	if isADocument(r.Method, answer) {
		switch err := checkShape(body); {
		case err != nil:
			return &documentError{r.URL.Path, err.Error()}
		case !json.Valid(body):
			what := "the answer is not JSON, but " + kindOf(answer, body)
			if strings.TrimRight(r.URL.Path, "/") == strings.TrimRight(root, "/") {
				return &documentError{r.URL.Path, what + ": check that redfish_address is a Redfish service's"}
			}
			return &documentError{r.URL.Path, what + ": if it stays so, restart the BMC, or update its firmware"}
		}
		return nil
	}
	if !looksLikeJSON(body) {
		return nil
	}
	return checkShape(body)
}

func looksLikeJSON(body []byte) bool {
	text := strings.TrimLeft(string(body[:min(len(body), 64)]), " \t\r\n")
	return text == "" || strings.ContainsAny(text[:1], "{[")
}

// kindOf describes an answer that is not repeated: only its content type, if
// that is one, and its size.
func kindOf(answer *http.Response, body []byte) string {
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); len(kind) > 60 || strings.Count(kind, "/") != 1 ||
		strings.ContainsFunc(kind, notInType) {
		kind = "of no content type"
	}
	return fmt.Sprintf("%s, %d bytes", kind, len(body))
}

// notInType matches characters that a content type lacks (RFC 6838, 4.2).
func notInType(r rune) bool {
	alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !alphanumeric && !strings.ContainsRune("/!#$&-^_.+", r)
}

// checkLink refuses a path of the BMC that would lead elsewhere: it is put after
// the BMC's address, where ".example.com" or "@host" would make another host of it.
func checkLink(path string) error {
	if len(path) > maxLink {
		return broken("the BMC names a resource by a path of %d bytes, at most %d are taken", len(path), maxLink)
	}
	switch u, err := url.Parse(path); {
	case strings.HasPrefix(path, "/"):
		return nil
	case path == "":
		return broken("the BMC names a resource without a path: update its firmware")
	case err == nil && u.Host != "":
		return broken("the BMC names a resource on another host, by %.100q, which is not followed: set redfish_address to "+
			"that host, or correct the host name that is set on the BMC", path)
	}
	return broken("the BMC names a resource by %.100q, which is no path: update its firmware", path)
}
