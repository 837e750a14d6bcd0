package shacrypt

import (
	"os/exec"
	"strings"
	"testing"
)

const stretches = "a very much longer text to encrypt.  This one even stretches over morethan one line."

// TestSpecification has the specification's own vectors.
func TestSpecification(t *testing.T) {
	for _, tc := range []struct {
		scheme         Scheme
		rounds         int
		salt, password string
		want           string
	}{
		{SHA256, 5000, "saltstring", "Hello world!", "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"},
		{SHA256, 10000, "saltstringsaltst", "Hello world!", "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"},
		{SHA256, 5000, "toolongsaltstrin", "This is just a test", "Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5"},
		{SHA256, 1400, "anotherlongsalts", stretches, "Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1"},
		{SHA256, 1000, "roundstoolow", "the minimum number is still observed", "yfvwcWrQ8l/K0DAWyuPMDNHpIVlTQebY9l/gL972bIC"},
		{SHA512, 5000, "saltstring", "Hello world!",
			"svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1"},
		{SHA512, 10000, "saltstringsaltst", "Hello world!",
			"OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v."},
		{SHA512, 5000, "toolongsaltstrin", "This is just a test",
			"lQ8jolhgVRVhY4b5pZKaysCLi0QBxGoNeKQzQ3glMhwllF7oGDZxUhx1yxdYcz/e1JSbq3y6JMxxl8audkUEm0"},
		{SHA512, 1400, "anotherlongsalts", stretches,
			"POfYwTEok97VWcjxIiSOjiykti.o/pQs.wPvMxQ6Fm7I6IoYN3CmLs66x9t0oSwbtEW7o7UmJEiDwGqd8p4ur1"},
		{SHA512, 1000, "roundstoolow", "the minimum number is still observed",
			"kUMsbe306n21p9R.FRkW3IGn.S9NPN0x50YhH1xhLsPuWGsUSklZt58jaTfF4ZEQpyUNGc0dqbpBYYBaHHrsX."},
	} {
		if got := tc.scheme.Sum([]byte(tc.password), []byte(tc.salt), tc.rounds); got != tc.want {
			t.Errorf("$%s$rounds=%d$%s: %s, want %s", tc.scheme.ID, tc.rounds, tc.salt, got, tc.want)
		}
	}
}

// TestAsOpenSSL compares with openssl-passwd(1), at the lengths around which the algorithm decides.
func TestAsOpenSSL(t *testing.T) {
	for _, s := range []Scheme{SHA256, SHA512} {
		for _, length := range []int{1, 31, 32, 33, 63, 64, 65, 128, 255} {
			for _, salt := range []string{"s", "saltstring", "0123456789abcdef"} {
				password := strings.Repeat("pass-wört.", 30)[:length]
				cmd := exec.Command("openssl", "passwd", "-"+s.ID, "-salt", salt, "-stdin")
				cmd.Stdin = strings.NewReader(password + "\n")
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				want := strings.TrimSpace(string(out))
				got := "$" + s.ID + "$" + salt + "$" + s.Sum([]byte(password), []byte(salt), DefaultRounds)
				if got != want || len(got)-len("$5$$")-len(salt) != s.SumLength {
					t.Errorf("%d bytes: %s, want %s", length, got, want)
				}
			}
		}
	}
}

func TestHash(t *testing.T) {
	a, b := SHA512.Hash([]byte("x")), SHA512.Hash([]byte("x"))
	parts := strings.Split(a, "$")
	if a == b || len(parts) != 4 || parts[1] != "6" || len(parts[2]) != MaxSalt {
		t.Fatalf("%s, %s", a, b)
	}
	if want := SHA512.Sum([]byte("x"), []byte(parts[2]), DefaultRounds); parts[3] != want {
		t.Errorf("sum %s, want %s", parts[3], want)
	}
}
