package kube_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestFullDisk: a write that finds no room is answered with 507 and a Status.
func TestFullDisk(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"), store.Options{NoSync: true, MaxPages: 150})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s := start(t, func(_ *kube.Options, c *objects.Config) { c.Store = db })
	for i := range 150 {
		w := s.send("POST "+secrets,
			fmt.Sprintf(`{"metadata":{"name":"s%d"},"stringData":{"a":"%s"}}`, i, strings.Repeat("a", 20_000)))
		if w.Code == http.StatusCreated {
			continue
		}
		if i == 0 || w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), `"kind":"Status"`) ||
			!strings.Contains(w.Body.String(), "data folder is full") {
			t.Errorf("document %d: %d %s", i, w.Code, w.Body)
		}
		return
	}
	t.Error("the database never became full")
}
