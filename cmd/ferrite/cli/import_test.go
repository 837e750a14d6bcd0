package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// recordedIronic serves the recorded lists of an Ironic 21.4, of Debian 12. The first word of a path makes it a bad
// one:
//
//   - /ancient knows microversions up to 1.31
//   - /broken ends its second page of nodes in the middle, twice; /cut does it always
//   - /loop repeats a page for ever
//   - /huge sends a larger answer than the limit
//   - /moved sends its callers elsewhere, /other is another service
//   - /guarded wants a name and a password
type recordedIronic struct {
	lists  map[string][]map[string]any
	broken atomic.Int32
}

func newRecordedIronic(tb testing.TB) *httptest.Server {
	raw, err := os.ReadFile("importing/testdata/ironic-1.82.json")
	if err != nil {
		tb.Fatal(err)
	}
	r := &recordedIronic{}
	if err := json.Unmarshal(raw, &r.lists); err != nil {
		tb.Fatal(err)
	}
	s := httptest.NewServer(r)
	tb.Cleanup(s.Close)
	return s
}

// ending is the same conductor until it is sent a second import, which ends in another way.
func ending(h http.Handler, end func(http.ResponseWriter)) http.Handler {
	var seen atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == nodeapi.ImportPath && seen.Add(1) > 1 {
			end(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// endings are the ways, by the variable with the URL of such a conductor.
var endings = map[string]func(http.ResponseWriter){
	"ENDING_URL": func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) },
	"DYING_URL":  func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
}

// recordedPage is how many records a page has.
const recordedPage = 2

func (i *recordedIronic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	how, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if how == "v1" {
		how, rest = "", "v1/"+rest
	}
	list := strings.Trim(strings.TrimPrefix(rest, "v1"), "/")
	newest := "1.82"
	user, password, _ := r.BasicAuth()
	switch {
	case how == "ancient":
		newest = "1.31"
	case how == "moved":
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
		return
	case how == "other":
		fmt.Fprint(w, "<html>hello</html>")
		return
	case how == "guarded" && (user != "importer" || password != "words"):
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set(nodeapi.HeaderMaxVersion, newest)
	if list == "" {
		fmt.Fprint(w, `{"id": "v1"}`)
		return
	}
	records, known := i.lists[list]
	if asked := r.Header.Get(nodeapi.HeaderVersion); !known || asked != newest {
		w.WriteHeader(http.StatusNotFound) // no inventories either
		fmt.Fprint(w, `{"error_message": "{\"faultstring\": \"not found\"}"}`)
		return
	}
	i.page(w, r, how, list, records)
}

func (i *recordedIronic) page(w http.ResponseWriter, r *http.Request, how, list string, records []map[string]any) {
	from := 0
	if marker := r.URL.Query().Get("marker"); marker != "" && how != "loop" {
		for at, record := range records {
			if record["uuid"] == marker {
				from = at + 1
			}
		}
	}
	to := min(from+recordedPage, len(records))
	answer := map[string]any{path.Base(list): records[from:to]}
	if to < len(records) || how == "loop" {
		answer["next"] = "http://192.0.2.1/elsewhere"
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	if from == recordedPage && (how == "cut" || how == "broken" && i.broken.Add(1) <= 2) {
		w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
		_, _ = w.Write(raw[:len(raw)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(raw)
	if how == "huge" {
		blank := make([]byte, 1<<20)
		for n := range blank {
			blank[n] = ' '
		}
		for range 65 {
			if _, err := w.Write(blank); err != nil {
				return
			}
		}
	}
}
