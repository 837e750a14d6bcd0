package debian

import (
	"errors"
	"strings"
	"testing"
)

// TestFetchError: the error of an apt without a network has the URL once, the cause and a remedy.
func TestFetchError(t *testing.T) {
	const url = "http://deb.example.com/pool/main/l/linux/linux-image-6.1_amd64.deb"
	got := fetchError(errors.New("apt-get: exit status 100: Err:1 " + url + "; Could not resolve 'deb.example.com'; E: " +
		"Failed to fetch " + url + "  Could not resolve 'deb.example.com'; E: Unable to fetch some archives")).Error()
	if strings.Count(got, url) != 1 || !strings.Contains(got, "\n  cause: Could not resolve 'deb.example.com'\n  try: ") {
		t.Errorf("%s", got)
	}
	if other := errors.New("apt-get: exit status 1: E: no space left"); !errors.Is(fetchError(other), other) {
		t.Error("an error of another kind is lost")
	}
}
