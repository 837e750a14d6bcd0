package recordedtest

import (
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/recorded"
)

// New makes a BMC of documents. Its tree need not be in conf.
func New(t testing.TB, docs map[string]map[string]any, conf recorded.Config) *recorded.Server {
	t.Helper()
	tree, err := recorded.Load(Folder(t, docs, false))
	if err != nil {
		t.Fatal(err)
	}
	conf.Tree = tree
	return recorded.New(conf)
}

// Serve serves such a BMC until the test ends.
func Serve(t testing.TB, docs map[string]map[string]any, conf recorded.Config) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(New(t, docs, conf))
	t.Cleanup(web.Close)
	return web
}
