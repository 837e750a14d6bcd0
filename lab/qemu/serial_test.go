package qemu

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A line outlives the machine's processes: watchers see each of them, and input goes to the newest.
func TestSerial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Serial
		var one, two string
		stop := s.Watch(func(data []byte) { one += string(data) })
		defer s.Watch(func(data []byte) { two += string(data) })()
		if n, err := s.Write([]byte("nobody")); n != 6 || err != nil {
			t.Errorf("a machine that is off: %d, %v", n, err)
		}
		for _, text := range []string{"first ", "second"} {
			near, far := net.Pipe()
			done := make(chan error, 1)
			s.join(near)
			go func() { done <- readConsole(near, func(string) {}, s.wrote) }()
			if _, err := io.WriteString(far, text); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = s.Write([]byte("key")) }()
			var key [3]byte
			if _, err := io.ReadFull(far, key[:]); err != nil || string(key[:]) != "key" {
				t.Errorf("%s got %q: %v", text, key, err)
			}
			began := time.Now()
			if _, err := s.Write([]byte("nobody reads this")); err != nil || time.Since(began) != writeTime {
				t.Errorf("a machine that reads nothing: %v after %v", err, time.Since(began))
			}
			far.Close()
			<-done
			near.Close()
			stop()
		}
		if one != "first " || two != "first second" {
			t.Errorf("seen: %q and %q", one, two)
		}
	})
}
