package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// FuzzCalledBy: a call is read when its header names the leader of the group in its epoch, letter by letter.
func FuzzCalledBy(f *testing.F) {
	for _, seed := range []string{"7 rack-a.", "7 rack-a", "07 rack-a.", "+7 rack-a.", "7  rack-a.", "8 rack-a.", "7 .",
		"rack-a.", "", "7 rack-a.\n"} {
		f.Add(seed, []byte("body"))
	}
	m, _ := newMember(f, "called", testKey(f, "k1"))
	rows := m.Rows.(rowsOf).rows //nolint:forcetypeassert // those of newMember
	rows.members["caller"] = store.Member{Name: "caller", Group: "rack-a", Seen: time.Now()}
	rows.leaders["rack-a"] = store.Leader{Group: "rack-a", Holder: "caller", Epoch: 7}
	rows.until["rack-a"] = time.Now().Add(time.Hour)
	f.Fuzz(func(t *testing.T, header string, sent []byte) {
		r := httptest.NewRequest(http.MethodPost, "/cluster/hosts", strings.NewReader(string(sent)))
		r.Header.Set(leaderHeader, header)
		body, err := m.CalledBy(&deadlines{ResponseWriter: httptest.NewRecorder()}, r, "rack-a")
		if (err == nil) != (header == "7 rack-a.") || err == nil && string(body) != string(sent) {
			t.Errorf("header %q: read %q, %v", header, body, err)
		}
	})
}
