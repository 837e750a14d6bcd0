package cacert

import "testing"

// FuzzCheck: a setting of a tenant is refused, or is a path, or has a certificate.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"ca.pem", "", "a\nb", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----", "-----BEGIN X-----\nProc-Type: 4\n\nAA==\n-----END X-----",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, setting string) {
		if Check(setting) != nil || !Inline(setting) {
			return
		}
		if _, err := pool([][]byte{[]byte(setting)}); err != nil {
			t.Errorf("%q was taken: %v", setting, err)
		}
	})
}
