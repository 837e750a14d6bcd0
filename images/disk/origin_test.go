package disk

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestOtherOrigin: a registry redirects to an object store with signed URLs on another port of its host. The store
// refuses a second credential.
func TestOtherOrigin(t *testing.T) {
	t.Parallel()
	image := pattern(2<<20, 4)
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			http.Error(w, "only one auth mechanism is allowed", http.StatusBadRequest)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(image))
	}))
	defer store.Close()
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer secret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/blob": // on the way it may stay with the same server
			http.Redirect(w, r, "/here", http.StatusTemporaryRedirect)
		case r.URL.Path == "/here":
			http.Redirect(w, r, store.URL+"/blob?signature=1", http.StatusTemporaryRedirect)
		default:
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		}
	}))
	defer registry.Close()
	opts := HTTPOptions{Header: http.Header{"Authorization": {"Bearer secret"}}, Retries: 1, Backoff: time.Millisecond}
	src, err := OpenHTTPSource(t.Context(), registry.Client(), registry.URL+"/blob", opts)
	if err != nil {
		t.Fatal(err)
	}
	disk := newMemTarget(int64(len(image)), 512)
	if _, err := Write(t.Context(), src, disk, Options{}); err != nil || !bytes.Equal(disk.b, image) {
		t.Errorf("error %v, or another image", err)
	}
	_, err = OpenHTTPSource(t.Context(), registry.Client(), registry.URL+"/loop", opts)
	if err == nil || !strings.Contains(err.Error(), "10 redirects") {
		t.Errorf("error %v, expected one about redirects", err)
	}
}

func TestKeepsAuthorization(t *testing.T) {
	check := ownOrigin(&http.Client{}).CheckRedirect
	for _, tt := range []struct {
		from, to string
		keeps    bool
	}{
		{"https://r/a", "https://r/b", true},
		{"https://r/a", "https://r:443/b", true},
		{"http://r/a", "https://r/a", true},
		{"https://r/a", "http://r/a", false},
		{"http://r/a", "https://s/a", false},
		{"http://r:5000/a", "https://r/a", false},
		{"https://r/a", "https://r:9000/a", false},
		{"https://r/a", "https://s3.r/a", false},
	} {
		from, err := url.Parse(tt.from)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, tt.to, nil)
		r.Header.Set("Authorization", "Bearer secret")
		err = check(r, []*http.Request{{URL: from}})
		if got := r.Header.Get("Authorization") != ""; err != nil || got != tt.keeps {
			t.Errorf("%s to %s: kept %v, %v; want %v", tt.from, tt.to, got, err, tt.keeps)
		}
	}
}
