package redfish

import "testing"

// A BMC with collections that name ever more members is asked for a bounded number of them, and the next call begins
// anew.
func TestBudgetOfRequests(t *testing.T) {
	var b budget
	b.begin()
	for range maxRequests {
		if size, err := b.ask(); err != nil || size != maxBody {
			t.Fatalf("a request within the bound: answers of %d bytes, %v", size, err)
		}
	}
	if _, err := b.ask(); err == nil {
		t.Errorf("a call made more than %d requests", maxRequests)
	}
	b.begin()
	if _, err := b.ask(); err != nil {
		t.Errorf("the next call may ask for nothing: %v", err)
	}
}
