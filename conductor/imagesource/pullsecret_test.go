package imagesource_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestOwnersSecret: the secret of driver_info is shown to the registry that is
// named beside it, and to no other that a lessee names.
func TestOwnersSecret(t *testing.T) {
	own := newContainer(t)
	own.auth = "Bearer"
	own.put(t, "1", manifest(layer("disk", stream)))
	var shown []string
	foreign := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		shown = append(shown, user+password)
		w.Header().Set("WWW-Authenticate", `Basic realm="theirs"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(foreign.Close)
	other := strings.TrimPrefix(foreign.URL, "https://")
	s := imagesource.New(imagesource.Config{Client: own.Client()}) // one authority has signed for all
	owned := func(registry string) node.Node {
		return node.Node{DriverInfo: object{"image_pull_secret": "user:hunter2", "image_pull_registry": registry}}
	}
	for name, tt := range map[string]struct {
		n     node.Node
		host  string
		wrong string // "" for let in
		early bool   // and refused before anything is asked
	}{
		"its own":           {owned(own.host()), own.host(), "", false},
		"one of several":    {owned(other + ", " + own.host()), own.host(), "", false},
		"a lessee's":        {owned(own.host()), other, "credential not found", false},
		"no registry named": {owned(""), other, "image_pull_registry to the host", true},
	} {
		t.Run(name, func(t *testing.T) {
			source := "oci://" + tt.host + "/lab/os:1"
			if err := s.Check(tt.n, source); (err != nil) != tt.early {
				t.Errorf("checked as %v", err)
			}
			got, err := s.Locate(t.Context(), tt.n, info(source))
			if tt.wrong == "" {
				if want := base64.StdEncoding.EncodeToString([]byte("Bearer " + token)); err != nil || got.RequestAuthorize != want {
					t.Errorf("the agent sends %q: %v", got.RequestAuthorize, err)
				}
				return
			}
			if err == nil || permanently(err) != tt.early || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v, want %q", err, tt.wrong)
			}
		})
	}
	if text := fmt.Sprint(shown); strings.Contains(text, "hunter2") {
		t.Errorf("the foreign registry was shown %s", text)
	}
}

// TestSecretElsewhere: a registry that sends for its tokens to another host gets no
// secret there, unless that host is named too.
func TestSecretElsewhere(t *testing.T) {
	own := newContainer(t)
	own.auth = "Bearer"
	own.put(t, "1", manifest(layer("disk", stream)))
	var shown []string
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		shown = append(shown, user+":"+password)
		fmt.Fprintf(w, `{"token": %q}`, token)
	}))
	t.Cleanup(elsewhere.Close)
	own.realm = elsewhere.URL
	s := imagesource.New(imagesource.Config{Client: own.Client()})
	host := strings.TrimPrefix(elsewhere.URL, "https://")
	for registries, let := range map[string]bool{own.host(): false, own.host() + "," + host: true} {
		shown = nil
		n := node.Node{DriverInfo: object{"image_pull_secret": "user:hunter2", "image_pull_registry": registries}}
		_, err := s.Locate(t.Context(), n, info("oci://"+own.host()+"/lab/os:1"))
		if let && (err != nil || fmt.Sprint(shown) != "[user:hunter2]") || !let && (err == nil || !permanently(err) || !strings.Contains(err.Error(), "is not sent to "+host) || shown != nil) {
			t.Errorf("%s: error %v, shown %q", registries, err, shown)
		}
	}
}
