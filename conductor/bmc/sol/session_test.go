package sol_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/sol"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ack is the BMC's answer to a packet: it accepts a number of characters.
func ack(p sol.Packet, accepted, status uint8) []byte {
	return sol.Packet{Acked: p.Sequence, Accepted: accepted, Status: status}.Bytes()
}

func next(t *testing.T, s *sol.Session, now time.Time) (sol.Packet, bool) {
	t.Helper()
	raw, _, err := s.Next(now)
	if err != nil {
		t.Fatal(err)
	}
	if raw == nil {
		return sol.Packet{}, false
	}
	p, ok := sol.Parse(raw)
	if !ok {
		t.Fatalf("%x is no packet", raw)
	}
	return p, true
}

func TestSend(t *testing.T) {
	for name, c := range map[string]struct {
		accepted, status uint8
		wait             time.Duration
		want             string // the next packet
	}{
		"all":              {4, 0, 0, "efgh"},
		"a part":           {3, 0, sol.RetryInterval, "defg"},
		"nothing":          {0, 0, sol.RetryInterval, "abcd"},
		"NACK":             {4, 1 << 6, sol.RetryInterval, "abcd"},
		"more than it had": {200, 0, 0, "efgh"},
	} {
		s := sol.New(4)
		s.Queue([]byte("abcdefgh"))
		first, _ := next(t, s, start)
		if string(first.Data) != "abcd" || first.Sequence != 1 {
			t.Fatalf("first packet %+v", first)
		}
		if _, sent := next(t, s, start); sent {
			t.Errorf("%s: a second packet before the first was acknowledged", name)
		}
		if _, err := s.Receive(start, ack(first, c.accepted, c.status)); err != nil {
			t.Fatal(err)
		}
		if _, sent := next(t, s, start); sent != (c.wait == 0) {
			t.Errorf("%s: sent at once %v", name, sent)
		}
		if c.wait == 0 {
			continue
		}
		second, _ := next(t, s, start.Add(c.wait))
		if string(second.Data) != c.want || second.Sequence != 2 {
			t.Errorf("%s: then %q with number %d, want %q", name, second.Data, second.Sequence, c.want)
		}
	}
}

func TestSendAgain(t *testing.T) {
	s, now := sol.New(10), start
	s.Queue([]byte("x"))
	for range 6 {
		p, sent := next(t, s, now)
		if !sent || p.Sequence != 1 || string(p.Data) != "x" {
			t.Fatalf("%v %+v", sent, p)
		}
		now = now.Add(sol.RetryInterval)
	}
	if _, _, err := s.Next(now); !errors.Is(err, sol.ErrSilent) {
		t.Errorf("after six tries: %v", err)
	}
}

func TestReceive(t *testing.T) {
	s := sol.New(10)
	for i, c := range []struct {
		in   sol.Packet
		want string
		ack  sol.Packet
		err  error
	}{
		{sol.Packet{Sequence: 3, Data: []byte("abc")}, "abc", sol.Packet{Acked: 3, Accepted: 3}, nil},
		{sol.Packet{Sequence: 3, Data: []byte("abc")}, "", sol.Packet{Acked: 3, Accepted: 3}, nil},
		{sol.Packet{Sequence: 3, Data: []byte("abcd")}, "d", sol.Packet{Acked: 3, Accepted: 4}, nil},
		{sol.Packet{Sequence: 4, Data: []byte("e")}, "e", sol.Packet{Acked: 4, Accepted: 1}, nil},
		{sol.Packet{Sequence: 1, Data: []byte("f")}, "f", sol.Packet{Acked: 1, Accepted: 1}, nil},
		{sol.Packet{Sequence: 2, Status: 1 << 4, Data: []byte("g")}, "g", sol.Packet{Acked: 2, Accepted: 1},
			sol.ErrDeactivated},
	} {
		r, err := s.Receive(start, c.in.Bytes())
		if string(r.Output) != c.want || !bytes.Equal(r.Ack, c.ack.Bytes()) || !errors.Is(err, c.err) {
			t.Errorf("%d: %q, answered %x, %v; want %q, %x, %v", i, r.Output, r.Ack, err, c.want, c.ack.Bytes(), c.err)
		}
	}
	if r, err := s.Receive(start, []byte{0, 0, 0, 1 << 3}); err != nil || !r.Lost || r.Ack != nil {
		t.Errorf("overrun: %+v %v", r, err)
	}
}

// TestLossy: the BMC gets all input, once and in order, although packets are lost or accepted in part.
func TestLossy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s, now := sol.New(7), start
	input := bytes.Repeat([]byte("the quick brown fox "), 30)
	var got []byte
	var last, taken uint8
	for rest := input; len(got) < len(input); now = now.Add(sol.RetryInterval) {
		rest = rest[s.Queue(rest):]
		p, sent := next(t, s, now)
		if !sent || random.IntN(10) == 0 { // lost on its way
			continue
		}
		if p.Sequence != last {
			last, taken = p.Sequence, uint8(random.IntN(len(p.Data)+1))
			got = append(got, p.Data[:taken]...)
		}
		if random.IntN(10) == 0 { // the answer was lost
			continue
		}
		if _, err := s.Receive(now, ack(p, taken, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, input) {
		t.Errorf("the BMC got %q", got)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 'a'}, []byte{1, 1, 200, 0x40})
	f.Add([]byte{}, []byte{0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s, now := sol.New(3), start
		s.Queue([]byte("hello"))
		for _, p := range [][]byte{a, b, a} {
			if _, _, err := s.Next(now); err != nil {
				t.Fatal(err)
			}
			r, _ := s.Receive(now, p)
			if len(r.Output) > sol.MaxData {
				t.Fatalf("%d characters of one packet", len(r.Output))
			}
			now = now.Add(sol.RetryInterval)
		}
	})
}
