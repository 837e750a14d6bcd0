package node

import "testing"

// TestInstanceImages: the notes are for the images that they name alone, and may be absent, or of another release.
func TestInstanceImages(t *testing.T) {
	n := Node{DriverInternalInfo: map[string]any{
		ImageBootFiles: map[string]any{"image": "a", "kernel": "k", "ramdisk": "r", "owner": "red"},
		InstanceImages: map[string]any{"project": "blue", "images": []any{"k", "r"}, "since": "now"},
	}}
	older := Node{DriverInternalInfo: map[string]any{ImageBootFiles: map[string]any{"kernel": "k", "ramdisk": "r"}}}
	for name, tc := range map[string]struct {
		n               Node
		image           string
		namer, deployer string
		named           bool
	}{
		"kernel": {n, "k", "red", "blue", true}, "ramdisk": {n, "r", "red", "blue", true}, "another": {n, "a", "", "", false},
		"older": {older, "k", "", "", false}, "nothing": {Node{}, "", "", "", false},
	} {
		namer, named := tc.n.ImageNamer(tc.image)
		if deployer := tc.n.ImageDeployer(tc.image); namer != tc.namer || named != tc.named || deployer != tc.deployer {
			t.Errorf("%s: named by %q (%t), deployed by %q", name, namer, named, deployer)
		}
	}
	if n.ImagesSince() != "now" || older.ImagesSince() != "" {
		t.Errorf("since %q and %q", n.ImagesSince(), older.ImagesSince())
	}
}
