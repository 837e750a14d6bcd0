package redfish_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

// oddAnswers are bodies of 200 that hold no document.
var oddAnswers = map[string]string{"nothing": "", "half": `{"Id": "1", "Na`, "a page": "<html>starting</html>",
	"null": "null", "a list": "[]", "text": `"ready"`, "too deep": strings.Repeat("[", 100) + strings.Repeat("]", 100)}

// TestPartsWithoutDocuments: a document of a part that is none is left out and named, at once, and the others are read.
func TestPartsWithoutDocuments(t *testing.T) {
	o := plant(t, recordedtest.Folder(t, recordedtest.Small(), false))
	clean, err := o.try(t.Context(), 1, "", change{})
	if err != nil {
		t.Fatal(err)
	}
	for at := range clean {
		if at == "/redfish/v1" || at == "/redfish/v1/Systems" || at == partsSystem {
			continue
		}
		for name, body := range oddAnswers {
			raw := func(w http.ResponseWriter) { fmt.Fprint(w, body) }
			began := time.Now()
			if _, err := o.try(t.Context(), 1, at, change{raw: raw}); err != nil || time.Since(began) > 20*time.Second {
				t.Errorf("%s for %s, after %s: %v", name, at, time.Since(began), err)
			}
		}
	}
}

// TestOwnHost: links may be URLs of the BMC's own host (DSP0266 has paths alone); others are refused in right words.
func TestOwnHost(t *testing.T) {
	o := plant(t, recordedtest.Folder(t, recordedtest.Small(), false))
	var web *httptest.Server
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		as := httptest.NewRecorder()
		o.cut.ServeHTTP(as, r)
		maps.Copy(w.Header(), as.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(as.Code)
		_, _ = w.Write(bytes.ReplaceAll(as.Body.Bytes(), []byte(`"/redfish`), []byte(`"HTTP`+web.URL[4:]+`/redfish`)))
	}))
	defer web.Close()
	o.node.DriverInfo["redfish_address"] = web.URL
	for i, act := range acts {
		read, err := o.try(t.Context(), i, "", change{})
		if err != nil || i == 1 && len(read) < 20 {
			t.Errorf("%s: %v, %d documents were read", act.name, err, len(read))
		}
	}
	b := newBoard(t)
	b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == "/redfish/v1/Systems" {
			reply(w, 200, members("https://bmc.example/redfish/v1/Systems/1"))
		}
		return r.URL.Path == "/redfish/v1/Systems"
	}
	_, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), b.node())
	checkQuoted(t, err, "list the systems: the BMC names a resource on another host, by \"https://bmc.example/redfish")
}
