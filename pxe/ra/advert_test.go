package ra

import (
	"encoding/hex"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// solicit is one as iPXE sends it: with its link-layer address.
func solicit() []byte {
	return []byte{133, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0x52, 0x54, 0, 0x77, 0, 1}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   []byte
		want string // MAC
		fail bool
	}{
		{"iPXE's", solicit(), "52:54:00:77:00:01", false},
		{"without options", solicit()[:8], "", false},
		{"another option first", append(append(solicit()[:8:8], 14, 1, 0, 0, 0, 0, 0, 0), solicit()[8:]...),
			"52:54:00:77:00:01", false},
		{"an option cut short", solicit()[:15], "", true},
		{"an option of no length", append(solicit()[:8:8], 1, 0, 0, 0, 0, 0, 0, 0), "", true},
		{"an option too long", append(solicit()[:8:8], 1, 200, 0, 0, 0, 0, 0, 0), "", true},
		{"an advertisement", append([]byte{134}, solicit()[1:]...), "", true},
		{"a code", []byte{133, 1, 0, 0, 0, 0, 0, 0}, "", true},
		{"nothing", nil, "", true},
	} {
		mac, err := parse(tc.in)
		if mac.String() != tc.want || (err != nil) != tc.fail {
			t.Errorf("%s: got %v, %v", tc.name, mac, err)
		}
	}
}

func TestAdvert(t *testing.T) {
	got := hex.EncodeToString(advert(net.HardwareAddr{2, 0, 0, 0, 0, 1}))
	if diff := cmp.Diff("86000000"+"00000000"+"00000000"+"00000000"+"0101020000000001", got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(solicit())
	f.Add(solicit()[:9])
	f.Fuzz(func(t *testing.T, b []byte) {
		if mac, err := parse(b); err != nil && mac != nil {
			t.Errorf("both %v and %v", mac, err)
		}
	})
}
