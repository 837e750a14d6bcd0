package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ferrite": func() { os.Exit(cli.Run(context.Background(), cli.New("1.2.3-test"))) },
	})
}

// TestScripts runs testdata/*.txt, each against a conductor of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			tb, ok := env.T().(testing.TB)
			if !ok {
				return fmt.Errorf("%T is no testing.TB", env.T())
			}
			c := apitest.Start(tb, mem.New(), nil)
			env.Setenv("FERRITE_URL", c.URL)
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command sleeps a second under the race detector
			env.Values["conductor"] = c
			old := httptest.NewServer(older(c.Config.Handler))
			env.Defer(old.Close)
			env.Setenv("OLDER_URL", old.URL)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"break": breakBMC},
	})
}

// older is the same conductor as one that only knows Ironic's API, up to 1.82.
func older(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(nodeapi.HeaderMaxVersion, "1.82")
		asked, err := nodeapi.ParseVersion(r.Header.Get(nodeapi.HeaderVersion))
		switch {
		case err == nil && asked > 82:
			w.WriteHeader(http.StatusNotAcceptable)
		case len(r.URL.Path) > 8 && r.URL.Path[:8] == "/ferrite":
			w.WriteHeader(http.StatusNotFound)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// breakBMC makes every question to a BMC fail from now on: "break REASON".
func breakBMC(ts *testscript.TestScript, _ bool, args []string) {
	c, ok := ts.Value("conductor").(*apitest.Conductor)
	if !ok || len(args) != 1 {
		ts.Fatalf("usage: break REASON")
	}
	c.BMC.Break(node.Refuse(node.Invalid, "%s", args[0]))
}
