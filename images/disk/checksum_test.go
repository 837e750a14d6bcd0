package disk

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	sumA = strings.Repeat("a1", 32)
	sumB = strings.Repeat("b2", 32)
	sumC = strings.Repeat("c3", 64)
	sumM = strings.Repeat("d4", 16)
)

func TestParseChecksum(t *testing.T) {
	tests := []struct {
		in   string
		want Checksum
		fail string
	}{
		{in: sumA, want: Checksum{SHA256, sumA}},
		{in: " " + strings.ToUpper(sumC) + "\n", want: Checksum{SHA512, sumC}},
		{in: sumM, want: Checksum{MD5, sumM}},
		{in: "sha256:" + sumA, want: Checksum{SHA256, sumA}},
		{in: "sha512:" + sumA, fail: "not a sha512 sum of 128"},
		{in: "sha1:" + sumA, fail: `algorithm "sha1"`},
		{in: strings.Repeat("a", 40), fail: "64 hex digits"},
		{in: strings.Repeat("g", 64), fail: "not a sha256 sum"},
		{in: "", fail: "not a sum"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := parseChecksum(tt.in)
			if (err != nil) != (tt.fail != "") || err != nil &&
				(!strings.Contains(err.Error(), tt.fail) || !errors.Is(err, ErrChecksum)) {
				t.Fatalf("error is %v, expected %q", err, tt.fail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseChecksumFile(t *testing.T) {
	bsd := "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n# disk.qcow2: 123 bytes\nSHA256 (disk.qcow2) = " + sumA +
		"\nSHA256 (other.raw) = " + sumB + "\n-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCAAdFiEE\n-----END PGP " +
		"SIGNATURE-----\n"
	tests := []struct {
		name, text, image string
		want              Checksum
		fail              string
	}{
		{"bare", sumA + "\n", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"gnu", sumA + "  other.raw\n" + sumB + "  disk.raw\n", "/img/disk.raw", Checksum{SHA256, sumB}, ""},
		{"gnu binary", sumB + " *./disk.raw\r\n", "disk.raw", Checksum{SHA256, sumB}, ""},
		{"bsd signed", bsd, "disk.qcow2", Checksum{SHA256, sumA}, ""},
		{"strongest", "MD5 (disk) = " + sumM + "\nSHA512 (disk) = " + sumC + "\nSHA256 (disk) = " + sumA, "disk",
			Checksum{SHA512, sumC}, ""},
		{"other algorithm", "SHA1 (disk) = " + strings.Repeat("a", 40), "disk", Checksum{}, "0 sums"},
		{"not named", bsd, "disk.raw", Checksum{}, `2 sums but none for "disk.raw"`},
		{"one of another name", sumA + "  other.raw\n", "disk.raw", Checksum{}, "none for"},
		{"two bare", sumA + "\n" + sumB + "\n", "disk.raw", Checksum{}, "none for"},
		{"html", "<html>not found</html>", "disk.raw", Checksum{}, "0 sums"},
		{"binary", strings.Repeat("\x00", 70000), "disk.raw", Checksum{}, "not text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseChecksumFile([]byte(tt.text), tt.image)
			if (err != nil) != (tt.fail != "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
				t.Fatalf("error is %v, expected %q", err, tt.fail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
