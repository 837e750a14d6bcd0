package nodeapi

import (
	"encoding/json"
	"testing"
)

// TestCleanJSON: control characters go, however they are written; all else stays to
// the byte.
func TestCleanJSON(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":"b", "n":1.50}`:                     `{"a":"b", "n":1.50}`,
		`{"a":"S/N 1\u0000\u0000"}`:               `{"a":"S/N 1"}`,
		`{"\u001bk":"\b\fx\u007F` + "\x7f" + `"}`: `{"k":"x"}`,
		`["\\u0000","\\\u0001","\\b"]`:            `["\\u0000","\\","\\b"]`,
		`["\t\n\r\u0009\u000a\u000D","\""]`:       `["\t\n\r\u0009\u000a\u000D","\""]`,
		`["\u0085é\ud83d\ude00\/"]`:               `["\u0085é\ud83d\ude00\/"]`,
		`"\u0000"`:                                `""`,
		``:                                        ``,
	} {
		if got := string(CleanJSON([]byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// FuzzCleanJSON: valid JSON stays valid, holds no control character afterwards, and
// is cleaned once and for all.
func FuzzCleanJSON(f *testing.F) {
	f.Add(`{"a":"\u0000\\u0000\b"}`)
	f.Add(`"\`)
	f.Fuzz(func(t *testing.T, raw string) {
		clean := CleanJSON([]byte(raw))
		var v any
		if json.Unmarshal([]byte(raw), &v) != nil {
			return
		}
		v = nil
		if err := json.Unmarshal(clean, &v); err != nil {
			t.Fatalf("%q became %q: %v", raw, clean, err)
		}
		if err := checkValues(v); err != nil {
			t.Errorf("%q: %v", clean, err)
		}
		if again := CleanJSON(clean); string(again) != string(clean) {
			t.Errorf("%q became %q", clean, again)
		}
	})
}

// checkValues is CheckText with tabs and line breaks allowed in keys too.
func checkValues(v any) error {
	switch v := v.(type) {
	case string:
		return CheckText(v)
	case []any:
		for _, item := range v {
			if err := checkValues(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, item := range v {
			if err := CheckText(key); err != nil {
				return err
			}
			if err := checkValues(item); err != nil {
				return err
			}
		}
	}
	return nil
}
