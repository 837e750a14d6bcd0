package imagestore

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// TestRecordFails: the bytes go if their record was refused, and stay if it may have been made.
func TestRecordFails(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		stays bool
	}{
		"refused":   {errors.New("the name is taken"), false},
		"uncertain": {errors.Join(ErrUncertain, errors.New("the connection was lost")), true},
	} {
		s, err := Open(Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		body, key := make([]byte, 1<<10), ""
		err = s.Add(t.Context(), bytes.NewReader(body), int64(len(body)), disk.Checksum{}, func(a Added) error {
			key = KeyOf(a.Digest)
			return tc.err
		})
		if !errors.Is(err, tc.err) || s.Has(key) != tc.stays {
			t.Errorf("%s: %v, bytes there: %v, expected %v", name, err, s.Has(key), tc.stays)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRedacted: a URL is shown without any part that gives access.
func TestRedacted(t *testing.T) {
	for given, want := range map[string]string{
		"https://host/os.raw":                       "https://host/os.raw",
		"https://token@host/os.raw":                 "https://host/os.raw",
		"https://user:secret@host/os.raw?sig=1#key": "https://host/os.raw",
		"http://host/\x00":                          "a URL that cannot be read",
	} {
		if got := Redacted(given); got != want {
			t.Errorf("%q is shown as %q, expected %q", given, got, want)
		}
	}
}
