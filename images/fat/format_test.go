package fat

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestFormatBytes: the same serial number gives the same bytes, release by release.
func TestFormatBytes(t *testing.T) {
	for _, tc := range []struct {
		label  string
		size   int64
		sector int
		want   string
	}{
		{"efi-part", 550 * mib, 512, "a2253ce2df4c98fb7c92205bdcb02877a616a75bcc08dea2fe874268ee7bb78b"},
		{"efi-part", 550 * mib, 4096, "4832cdf8ad6e184d11ee3c58aadd083570177160b50785c356d91ba7249744fd"},
		{"", 36 * mib, 512, "cf732fa81e56cb859dfcd2935629d249ec4440970e23c00fc8a41130c1bdf293"},
		{"ephemeral0", 40 * gib, 512, "15431d366a3581756541b670c6d1029a46124dd8c6dce74f885a22d4e969eaac"},
	} {
		t.Run(fmt.Sprintf("%s %d on %d", tc.label, tc.size, tc.sector), func(t *testing.T) {
			p := newPartition(t, tc.size, tc.sector)
			if err := Format(p, tc.label, strings.NewReader("0123")); err != nil {
				t.Fatal(err)
			}
			h := sha256.New()
			if _, err := io.Copy(h, io.NewSectionReader(p, 0, min(tc.size, 16*mib))); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%x", h.Sum(nil)); got != tc.want {
				t.Errorf("SHA-256 of the first 16 MiB is %s, want %s", got, tc.want)
			}
			r, err := Open(p)
			if err != nil || r.bits != 32 {
				t.Fatalf("read as %+v, %v", r, err)
			}
			if entries, err := r.List(""); err != nil || len(entries) != 0 {
				t.Errorf("lists %v, %v", entries, err)
			}
		})
	}
}
