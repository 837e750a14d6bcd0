package rescue

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/shacrypt"
)

// hello is the password of the hashes below; "Hello world!" and the sums come
// from Drepper's text and from OpenSSL.
const (
	hello   = "Hello world!"
	sha256s = "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"
	sha512s = "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1"
	long    = "a password of some more than thirty-two bytes, and still longer than sixty-four of them."
)

func TestKnownHashes(t *testing.T) {
	for _, tc := range []struct{ hash, password string }{
		{sha256s, hello},
		{"$5$saltstring$8lNOPUYH/6hNVwI72WGU4WW1KQqblnIzRCd9nWOKs5A", "x"},
		{"$5$saltstring$6bJQrSJzIY7hv7sPb8kWdpu0/Tdc.UmPfHngvFzzHp2", long},
		{"$5$saltstring$bWOoCRTKNT.aiY/gJjvk1HjBYuRpcYQmcc5hqf6H4T4", "pässwörd"},
		{"$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA", hello},
		{sha512s, hello},
		{"$6$saltstring$nk7Qohr7tOmwY2mX639VRP.Lyvj3uhcgpatqHuLC867qfSHKq1LDuKa/h7Es9Nv0aL08pbF.cnQlRqhaoKT/D.", "x"},
		{"$6$saltstring$9no2i6d/UxKNK0zYC5xXhN5RLpNXJUWKPO3Kk1uISNHugE4xlc5sp5pawkH2.QrXcAr5cbHObVjdvcmn7OcWU1", long},
		{"$6$$KvRrc0bxRLyTUhO8OJOmRczh7oCol5BACiR8rmdfVzvuGgm8JmLDumsL/ah.jFtT.DswxoP9Nv3ByfU4j5hm/0", "x"},
		{"$6$rounds=10$roundstoolow$kUMsbe306n21p9R.FRkW3IGn.S9NPN0x50YhH1xhLsPuWGsUSklZt58jaTfF4ZEQpyUNGc0dqbpBYYBaHHrsX.",
			"the minimum number is still observed"},
	} {
		p, err := NewPassword(tc.hash, true)
		if err != nil {
			t.Errorf("%s: %v", tc.hash, err)
			continue
		}
		if !p.Matches([]byte(tc.password)) || p.Matches([]byte(tc.password+"!")) || p.Matches(nil) {
			t.Errorf("%s: the password is not the only one that matches", tc.hash)
		}
		if s := fmt.Sprintf("%v %+v %s", p, p, p); strings.Contains(s, p.sum) || strings.Contains(s, string(p.salt)) &&
			len(p.salt) > 0 {
			t.Errorf("a log line would show %s", s)
		}
	}
}

func TestPlainPassword(t *testing.T) {
	a, err := NewPassword(hello, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewPassword(hello, false)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Matches([]byte(hello)) || !b.Matches([]byte(hello)) || a.Matches([]byte("hello world!")) {
		t.Error("the password is not the one that matches")
	}
	if a.sum == b.sum {
		t.Error("two hashes have the same salt")
	}
	if a.Matches(bytes.Repeat([]byte("x"), 1<<20)) || (Password{}).Matches(nil) {
		t.Error("what is too long, or nothing, matches")
	}
}

func TestRefusedPasswords(t *testing.T) {
	const secret = "q8Zsecret"
	for _, tc := range []struct {
		text   string
		hashed bool
		want   string
	}{
		{"", false, "empty"},
		{"", true, "empty"},
		{strings.Repeat(secret, 100), false, "at most 512"},
		{secret, true, "no crypt(3) hash"},
		{"$1$" + secret + "$abc", true, "not built"},
		{"$y$j9T$" + secret + "$abc", true, "not built"},
		{"$5$" + secret, true, "no crypt(3) hash"},
		{"$5$" + secret + "$tooshort", true, "43 characters"},
		{"$5$" + secret + strings.Repeat("s", 20) + "$" + strings.Repeat("a", 43), true, "at most 16"},
		{"$5$" + secret + "$" + strings.Repeat("!", 43), true, "43 characters"},
		{"$5$rounds=999999999$" + secret + "$" + strings.Repeat("a", 43), true, "up to 1000000"},
		{"$5$rounds=-1$" + secret + "$" + strings.Repeat("a", 43), true, "up to 1000000"},
		{"$5$rounds=5000$" + secret, true, "43 characters"},
	} {
		_, err := NewPassword(tc.text, tc.hashed)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40s: error %v, want part %q", tc.text, err, tc.want)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

func FuzzPassword(f *testing.F) {
	for _, seed := range []string{sha256s, sha512s, "$5$rounds=1000$$" + strings.Repeat("a", 43), "$6$rounds=x$$",
		"$$$$", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := NewPassword(text, true)
		if err != nil {
			return
		}
		if len(p.salt) > shacrypt.MaxSalt || p.rounds < shacrypt.MinRounds || p.rounds > maxRounds {
			t.Fatalf("taken with %d rounds and a salt of %d", p.rounds, len(p.salt))
		}
		p.rounds = shacrypt.MinRounds // the test is of the parser
		if sum := p.hash([]byte("x")); len(sum) != p.scheme.SumLength {
			t.Errorf("a sum of %d characters", len(sum))
		}
	})
}
