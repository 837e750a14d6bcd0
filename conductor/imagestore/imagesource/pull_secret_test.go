package imagesource_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
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
			if _, err := s.Check(t.Context(), tt.n, source); (err != nil) != tt.early {
				t.Errorf("checked as %v", err)
			}
			got, err := s.Locate(t.Context(), tt.n, info(source))
			if tt.wrong == "" {
				if want := base64.StdEncoding.EncodeToString([]byte("Bearer " + token)); err != nil ||
					got.RequestAuthorize != want {
					t.Errorf("the agent sends %q: %v", got.RequestAuthorize, err)
				}
				return
			}
			if err == nil || permanently(err) != tt.early || !strings.Contains(err.Error(), tt.wrong) ||
				strings.Contains(err.Error(), "hunter2") {
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
	own.put(t, "1", manifest(layer("disk", stream)))
	var shown []string
	stranger := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		shown = append(shown, user+":"+password)
		fmt.Fprintf(w, `{"token": %q}`, token)
	})
	elsewhere, plain := httptest.NewTLSServer(stranger), httptest.NewServer(stranger)
	t.Cleanup(elsewhere.Close)
	t.Cleanup(plain.Close)
	moved := httptest.NewTLSServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	s := imagesource.New(imagesource.Config{Client: own.Client()})
	host := strings.TrimPrefix(elsewhere.URL, "https://")
	in := func(registries string) object {
		return object{"image_pull_secret": "user:hunter2", "image_pull_registry": registries}
	}
	for name, tt := range map[string]struct {
		n     node.Node
		realm string
		wrong string // "" for sent
	}{
		"the owner's": {node.Node{DriverInfo: in(own.host())}, elsewhere.URL,
			"driver_info/image_pull_secret is not sent to https://" + host},
		"the owner's, named": {node.Node{DriverInfo: in(own.host() + "," + host)}, elsewhere.URL, ""},
		"the instance's": {node.Node{InstanceInfo: in("")}, elsewhere.URL,
			"instance_info/image_pull_secret is not sent to https://" + host + ", where the registry has its tokens " +
				"given out: expected https and one of " + own.host() + ";"},
		"the instance's, another port": {node.Node{InstanceInfo: in("127.0.0.1:1")}, elsewhere.URL, "is not sent to"},
		"the instance's, in clear": {node.Node{InstanceInfo: in(strings.TrimPrefix(plain.URL, "http://"))}, plain.URL,
			"uses http but registry was contacted over https"},
		"named by the owner": {node.Node{InstanceInfo: in(""), DriverInfo: in(host)}, elsewhere.URL,
			"is not sent to"},
		"the instance's, named": {node.Node{InstanceInfo: in(host)}, elsewhere.URL, ""},
		"a user in the realm": {node.Node{InstanceInfo: in("")}, "https://" + own.host() + "@" + host,
			"is not sent to"},
	} {
		for _, kind := range []string{"Bearer", "Basic"} {
			shown, own.auth, own.realm = nil, kind, tt.realm
			_, err := s.Locate(t.Context(), tt.n, info("oci://"+own.host()+"/lab/os:1"))
			switch {
			case kind == "Basic": // the realm of RFC 7617 is no address
				if err != nil || shown != nil {
					t.Errorf("%s, Basic: error %v, shown %q", name, err, shown)
				}
			case tt.wrong == "":
				if err != nil || fmt.Sprint(shown) != "[user:hunter2]" {
					t.Errorf("%s: error %v, shown %q", name, err, shown)
				}
			case err == nil || permanently(err) == (tt.realm == plain.URL) || !strings.Contains(err.Error(), tt.wrong) ||
				strings.Contains(err.Error(), "hunter2") || shown != nil:
				t.Errorf("%s: error %v, want %q; shown %q", name, err, tt.wrong, shown)
			}
		}
	}
	shown, own.auth, own.realm = nil, "Bearer", moved.URL
	_, err := s.Locate(t.Context(), node.Node{InstanceInfo: in(strings.TrimPrefix(moved.URL, "https://"))},
		info("oci://"+own.host()+"/lab/os:1"))
	if fmt.Sprint(shown) != "[:]" { // the request that follows a redirect has no secret
		t.Errorf("redirected: error %v, shown %q", err, shown)
	}
}
