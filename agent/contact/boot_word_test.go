package contact

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestBootWord: the word of the boot goes into a header, and no error quotes it; the boot
// mode into another.
func TestBootWord(t *testing.T) {
	var words, agents, modes []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		words, agents = append(words, r.Header.Get(agentapi.BootWordHeader)), append(agents, r.UserAgent())
		modes = append(modes, r.Header.Get(agentapi.BootModeHeader))
		if r.URL.RawQuery != "" && r.URL.Path == agentapi.ContinueInspectionPath && r.URL.RawQuery != "a=b" {
			t.Errorf("the URL says %s", r.URL)
		}
		http.Error(w, "no", http.StatusNotFound)
	}))
	defer srv.Close()
	secret := "hunter2"
	c := New(Options{URLs: []string{srv.URL}, Secret: func() string { return secret }, BootMode: "uefi"})
	_, err := c.Lookup(t.Context(), []string{"52:54:00:77:00:06"}, "")
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
	secret = "" // an agent that has none
	if _, err := c.Lookup(t.Context(), nil, "u"); err == nil {
		t.Error("an answer of 404 is no error")
	}
	for _, at := range []string{srv.URL + agentapi.ContinueInspectionPath + "?a=b&boot_word=hunter2",
		"http://127.0.0.1:1/x?boot_word=hunter2"} {
		if _, err := c.Inspection(t.Context(), at, agentapi.Inspection{}); err == nil ||
			strings.Contains(err.Error(), "hunter2") {
			t.Error(err)
		}
	}
	if got := strings.Join(words, ","); got != "hunter2,,hunter2" {
		t.Errorf("the words sent are %s", got)
	}
	if got := strings.Join(modes, ","); got != "uefi,uefi," {
		t.Errorf("the boot modes sent are %s, with look-ups alone they are wanted", got)
	}
	for _, a := range agents {
		if a != agentapi.UserAgent {
			t.Errorf("the agent calls itself %q", a)
		}
	}
}
