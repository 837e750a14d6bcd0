package configdrive

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestFATBytes: a machine that is deployed again gets the same config drive, so the bytes equal those from every
// earlier release.
func TestFATBytes(t *testing.T) {
	for name, want := range map[string][2]string{
		"small": {
			"05f8ede8160a22cee0218acef161286c0e00afb0b0aa1d11a10b4b40bfe539a9",
			"6f9c39474466bfc2338c072479a58c98b4de65a93a8fb9ceae0edd2c0c4aab74",
		},
		"many": {
			"2391845a674f07e858da68dc3e4465f21aceb94986e4e49f82ece31e63e82b3a",
			"286eb23a77809b2a1322f3fa10b18f0b79808129d93416a1a4dc745ff8762806",
		},
		"large": {
			"b5b76ec9818322dfca312374d635736cc2b14a267012f45ecdc5849b6dec9b5e",
			"4d1cdcd854830f10597cfc7c6ed2f24222943263dc4d075c7324aeadf7c97f60",
		},
		"fat16": {
			"356ebaa9b5ff7b56f2c6891798afb4bb6c4fa767f2445073425d9c87d38c82d6",
			"8d7b7a77a842e42f149cedd1de845c82a5d5bd94ee89bae95bee4b81d9296a2a",
		},
	} {
		for i, sector := range []int{512, 4096} {
			b, err := buildFAT(Label, trees()[name], sector)
			if got := fmt.Sprintf("%x", sha256.Sum256(b)); err != nil || got != want[i] {
				t.Errorf("%s on sectors of %d bytes: SHA-256 is %s, want %s (%v)", name, sector, got, want[i], err)
			}
		}
	}
}
