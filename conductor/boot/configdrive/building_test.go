package configdrive

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestOneAtATime: a drive takes ten times its bytes while it is made, so that one is made at a time. URLs do not wait.
func TestOneAtATime(t *testing.T) {
	building.Lock()
	made := make(chan error, 1)
	go func() {
		_, err := Encoder{}.Encode(map[string]any{"user_data": "x"}, node.Node{})
		made <- err
	}()
	if at, err := (Encoder{}).Encode("https://192.0.2.1/drive", node.Node{}); err != nil || at == "" {
		t.Errorf("%q, %v", at, err)
	}
	select {
	case err := <-made:
		t.Errorf("two are made at a time: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	building.Unlock()
	if err := <-made; err != nil {
		t.Error(err)
	}
}
