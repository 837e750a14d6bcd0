package kube

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 125 * time.Second: "2m5s",
		10*time.Minute + time.Second: "10m",
		179 * time.Minute:            "179m", 3 * time.Hour: "3h", 3*time.Hour + 5*time.Minute: "3h5m",
		9*time.Hour + time.Minute: "9h",
		47 * time.Hour:            "47h",
		50 * time.Hour:            "2d2h", 48 * time.Hour: "2d", 9 * 24 * time.Hour: "9d", 800 * 24 * time.Hour: "2y70d",
		9 * 365 * 24 * time.Hour: "9y",
	} {
		if got := age(now.Add(-d), now); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
	if got := age(time.Time{}, now); got != "<unknown>" {
		t.Errorf("no time is %s", got)
	}
}

// TestSelectors: each against two sets of labels.
func TestSelectors(t *testing.T) {
	a, b := map[string]string{"x": "1", "y": ""}, map[string]string{"z": "2"}
	for text, want := range map[string]string{
		"": "ab", "x=1": "a", "x==1": "a", "x = 1": "a", "x=2": "", "y=": "a", "x!=1": "b", "x": "a", "!x": "b", "! x": "b",
		"x in (1,2)": "a", "x in(1)": "a", "x notin (1)": "b", "x in (1),z": "", "z in (2), !x": "b", "y in ()": "a",
	} {
		s, err := parseSelector(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := ""
		if s.matches(a) {
			got = "a"
		}
		if s.matches(b) {
			got += "b"
		}
		if got != want {
			t.Errorf("%q selects %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"=", "a=b=c", "a b", "a in", "a in (b", "a in b)", "a of (b)", ",", "a,,b", "!", "a=(b)",
		"a in (b c)"} {
		if s, err := parseSelector(text); err == nil {
			t.Errorf("%q was read as %v", text, s)
		}
	}
}

// FuzzSelector: no text brings the parser down, and a parsed selector can be applied.
func FuzzSelector(f *testing.F) {
	for _, s := range []string{"a=b", "a in (b,c),!d", "a notin ()", "((", ")", "a in((", "!", "é=ü"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if s, err := parseSelector(text); err == nil {
			s.matches(map[string]string{text: text})
		}
	})
}

// FuzzContinueToken: a token that was not given out is refused, or says where to read on.
func FuzzContinueToken(f *testing.F) {
	token, err := continueToken{Version: 1, Revision: 7, After: [2]string{"a", "b"}}.text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("e30")
	f.Add("!!")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseContinueToken(text)
		if err != nil {
			return
		}
		again, err := p.text()
		if err != nil {
			t.Fatal(err)
		}
		if q, err := parseContinueToken(again); err != nil || q != p {
			t.Errorf("%+v became %+v: %v", p, q, err)
		}
	})
}

func TestQuoted(t *testing.T) {
	if d := cmp.Diff(`a\"b\\c?d`, quoted("a\"b\\c\nd")); d != "" {
		t.Error(d)
	}
}

func TestJSONType(t *testing.T) {
	for in, want := range map[reflect.Type]string{
		reflect.TypeFor[bool](): "true or false", reflect.TypeFor[*bool](): "true or false",
		reflect.TypeFor[map[string]string](): "an object",
		reflect.TypeFor[int]():               "a number", reflect.TypeFor[int64](): "a number",
		reflect.TypeFor[float64]():       "a number",
		reflect.TypeFor[string]():        "a string",
		reflect.TypeFor[[]hostapi.NIC](): "a list", reflect.TypeFor[[]byte](): "base64",
		reflect.TypeFor[hostapi.Image](): "an object", reflect.TypeFor[hostapi.BootMode](): "a string",
		reflect.TypeFor[hostapi.Time]():        "a string",
		reflect.TypeFor[hostapi.IntOrString](): "a whole number, or a string in quotes",
	} {
		if got := jsonType(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// TestPolicy: each kind has one row, so that none is for admins alone by oversight.
func TestPolicy(t *testing.T) {
	rows := map[string]int{}
	for _, row := range policy() {
		rows[row.kind]++
	}
	for _, k := range append(hostapi.Kinds(), eventKind) {
		if rows[k.Kind] != 1 {
			t.Errorf("%s has %d rows, want 1", k.Kind, rows[k.Kind])
		}
		delete(rows, k.Kind)
	}
	if len(rows) > 0 {
		t.Errorf("rows of kinds that there are not: %v", rows)
	}
}

// TestHostWritersReadSecrets: a host's address can be changed without its password,
// which is safe for as long as whoever changes it can read the password.
func TestHostWritersReadSecrets(t *testing.T) {
	var hosts, secrets auth.Role
	for _, row := range policy() {
		switch row.kind {
		case hostapi.KindHost:
			hosts = row.write
		case hostapi.KindSecret:
			secrets = row.read
		}
	}
	writer := &auth.Caller{User: "u", Role: hosts}
	if rule := (auth.Rule{System: secrets}); !rule.Allows(writer, "", "") {
		t.Errorf("hosts are written by role %v, which reads no secrets (%v)", hosts, secrets)
	}
}

// TestMediaType reads the header that kubectl sends.
func TestMediaType(t *testing.T) {
	kind, params := mediaType(" Application/JSON;as=Table; v=v1;g=meta.k8s.io")
	if kind != "application/json" ||
		strings.Join([]string{params["as"], params["v"], params["g"]}, " ") != "Table v1 meta.k8s.io" {
		t.Error(kind, params)
	}
}
