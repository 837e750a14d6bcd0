package auth

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestListed: names, roles, projects and the ends of tokens, and no hash.
func TestListed(t *testing.T) {
	h, _ := newHouse(t)
	h.invite(0, time.Hour)
	h.reopen()
	text, err := json.Marshal(h.Listed())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"users":[{"name":"alice","role":"admin","project":"","password":true,"tokens":[]},` +
		`{"name":"bob","role":"reader","project":"blue","password":true,` +
		`"tokens":[{"label":"ci","expires":"2001-09-09T02:46:40Z","expired":false}]}],` +
		`"ways":["basic","token"],"roles":true}`
	ends := h.now.Add(time.Hour).Format(time.RFC3339)
	if got := strings.ReplaceAll(string(text), ends, "2001-09-09T02:46:40Z"); got != want {
		t.Errorf("found %s\nwant %s", got, want)
	}
	h.now = h.now.Add(2 * time.Hour)
	if l := h.Listed(); !l.Users[1].Tokens[0].Expired {
		t.Error("a token that has expired is not said to have")
	}
	h.open(Options{Htpasswd: h.path("htpasswd")})
	l := h.Listed()
	if len(l.Users) != 3 || l.Users[2].Name != "carol" || l.Users[2].Role != "admin" || l.Roles || len(l.Ways) != 1 {
		t.Errorf("of passwords alone: %+v", l)
	}
}
