package disk

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

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
		{"UTF-8 with BOM", "\ufeff" + sumA + "  disk.raw\r\n", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"UTF-16 LE of PowerShell", utf16Text(binary.LittleEndian, sumA+"  disk.raw\r\n"+sumB+"  other\r\n"), "disk.raw",
			Checksum{SHA256, sumA}, ""},
		{"UTF-16 BE", utf16Text(binary.BigEndian, sumA+"\n"), "disk.raw", Checksum{SHA256, sumA}, ""},
		{"OpenSSL 3", "SHA2-256(disk.raw)= " + sumA + "\nSHA2-256(b.raw)= " + sumB, "disk.raw", Checksum{SHA256, sumA}, ""},
		{"OpenSSL 1.1", "SHA512(./disk.raw)= " + sumC, "disk.raw", Checksum{SHA512, sumC}, ""},
		{"OpenSSL of a pipe", "(stdin)= " + sumA, "disk.raw", Checksum{SHA256, sumA}, ""},
		{"OpenSSL, SHA-512/256", "SHA2-512/256(disk.raw)= " + sumA, "disk.raw", Checksum{}, "0 sums"},
		{"HMAC", "HMAC-SHA2-256(disk.raw)= " + sumA, "disk.raw", Checksum{}, "0 sums"},
		{"name with parentheses", "SHA256 (disk (1).raw) = " + sumA, "disk (1).raw", Checksum{SHA256, sumA}, ""},
		{"Get-FileHash", "\nAlgorithm  Hash   Path\n---------  ----   ----\nSHA256     " + strings.ToUpper(sumA) +
			`   C:\images\disk.raw` + "\n\n", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"Get-FileHash, SHA1", "SHA1  " + strings.Repeat("a", 40) + "  disk.raw", "disk.raw", Checksum{}, "0 sums"},
		{"certutil", "SHA256 hash of disk.raw:\n" + sumA + "\nCertUtil: -hashfile command completed.\n", "disk.raw",
			Checksum{SHA256, sumA}, ""},
		{"Windows path", sumA + ` *C:\images\disk.raw`, "disk.raw", Checksum{SHA256, sumA}, ""},
		{"binary mode below text mode", sumB + "  other.raw\n" + sumA + " *disk.raw\n", "disk.raw",
			Checksum{SHA256, sumA}, ""},
		{"semicolons", sumB + ";other.raw\n" + sumA + ";disk.raw\n", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"commas", "file,sha256\nother.raw," + sumB + "\ndisk.raw, " + sumA, "disk.raw", Checksum{SHA256, sumA}, ""},
		{"commented out", ";disk.raw," + sumB + "\n#" + sumB + ";disk.raw\n" + sumA, "disk.raw", Checksum{SHA256, sumA}, ""},
		{"tabs", sumB + "\tother.raw\n" + sumA + "\t*disk.raw\n", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"tab", sumA + "\tdisk.raw", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"name in quotes", sumA + `  "disk.raw"`, "disk.raw", Checksum{SHA256, sumA}, ""},
		{"size before the name", " " + sumA + "  1234 main/disk.raw\n " + sumB + " 1234 main/other", "disk.raw",
			Checksum{SHA256, sumA}, ""},
		{"name before the sum", "disk.raw: " + sumA + "\nother.raw: " + sumB, "disk.raw", Checksum{SHA256, sumA}, ""},
		{"algorithm before the sum", "sha256:" + sumA + "  disk.raw\n", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"comment", "# " + sumB + "  disk.raw\n# disk.raw " + sumB + "\n\n" + sumA + "  disk.raw", "disk.raw",
			Checksum{SHA256, sumA}, ""},
		{"end of another name", sumB + "  old disk.raw\n" + sumA + "  disk.raw", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"the same twice", sumA + "  disk.raw\n" + sumA + " *./disk.raw", "disk.raw", Checksum{SHA256, sumA}, ""},
		{"two sums", sumA + "  disk.raw\n" + sumB + "  ./disk.raw", "disk.raw", Checksum{}, "two different sha256 sums"},
		{"two folders", sumA + "  arm64/disk.raw\n" + sumB + "  amd64/disk.raw", "/img/amd64/disk.raw",
			Checksum{SHA256, sumB}, ""},
		{"two folders, neither of them ours", sumA + "  a/disk.raw\n" + sumB + "  b/disk.raw", "/img/disk.raw", Checksum{},
			"two different sha256 sums"},
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

// utf16Text is a text as Windows writes it, with its byte order mark.
func utf16Text(order binary.AppendByteOrder, text string) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}
