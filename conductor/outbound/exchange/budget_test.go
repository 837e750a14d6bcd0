package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func never() error { panic("nobody waits") }

// TestSlowAnswers: an answer that holds room, and comes slowly or not at all, is cut off when another waits for room.
func TestSlowAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewBudget(FreeAnswer, FreeAnswer)
		from, to := io.Pipe()
		slow := make(chan error)
		go func() {
			_, done, err := r.Read(t.Context(), from, 1<<20, func() error { return from.CloseWithError(io.ErrClosedPipe) })
			done()
			slow <- err
		}()
		if _, err := to.Write(make([]byte, FreeAnswer+1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // no other answer waits
		long := strings.NewReader(strings.Repeat("x", FreeAnswer+9))
		b, done, err := r.Read(t.Context(), long, 1<<20, never)
		if err != nil || len(b) != FreeAnswer+9 {
			t.Errorf("who waits has %d bytes, %v", len(b), err)
		}
		done()
		if err := <-slow; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the slow answer ended with %v", err)
		}
	})
}

// TestRoom: long answers of many machines take no more than the room together; short ones never wait.
func TestRoom(t *testing.T) {
	r := NewBudget(3*FreeAnswer, FreeAnswer)
	read := func(size, most int) ([]byte, func(), error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return r.Read(ctx, strings.NewReader(strings.Repeat("x", size)), most, never)
	}
	for range 100 {
		if b, _, err := read(FreeAnswer-1, 1<<20); err != nil || len(b) != FreeAnswer-1 {
			t.Fatalf("a short answer: %d bytes, %v", len(b), err)
		}
	}
	_, done, err := read(4*FreeAnswer-1, 1<<20) // all of the room
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(FreeAnswer-1, 1<<20); err != nil {
		t.Errorf("a short answer waits for long ones: %v", err)
	}
	_, none, err := read(2*FreeAnswer, 1<<20)
	if !errors.Is(err, ErrFull) {
		t.Errorf("a long one without room: %v", err)
	}
	none()
	done()
	done()
	for _, size := range []int{0, 1, FreeAnswer, FreeAnswer + 1, 2*FreeAnswer + 5} {
		if b, done, err := read(size, 2*FreeAnswer+4); err != nil || len(b) != size {
			t.Errorf("%d of %d bytes, %v", len(b), size, err)
		} else {
			done()
		}
	}
	if b, done, err := read(1<<20, FreeAnswer+3); err != nil || len(b) != FreeAnswer+4 {
		t.Errorf("%d bytes of one that is too long, %v", len(b), err)
	} else {
		done()
	}
	cut := io.MultiReader(bytes.NewReader(make([]byte, FreeAnswer+7)), iotest.ErrReader(io.ErrUnexpectedEOF))
	b, done, err := r.Read(t.Context(), cut, 1<<20, never)
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(b) != FreeAnswer+7 {
		t.Errorf("%d bytes of one that is cut short, %v", len(b), err)
	} else {
		done()
	}
	if !r.left.try(t.Context(), 3*FreeAnswer) {
		t.Error("room is held by nobody")
	}
}

// TestRoomOfEachOther: answers that wait for each other's room give up, long before their machines' time is over.
func TestRoomOfEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewBudget(3*FreeAnswer, FreeAnswer)
		ends := make(chan string, 2)
		for range 2 {
			go func() {
				slow := iotest.HalfReader(strings.NewReader(strings.Repeat("x", 4*FreeAnswer)))
				_, done, err := r.Read(t.Context(), slow, 1<<20, never)
				done()
				ends <- fmt.Sprint(err)
			}()
		}
		if first := <-ends; !strings.Contains(first, "leave no room") {
			t.Error(first)
		}
		<-ends
	})
}

// TestTurn: no more long answers are decoded at a time than there are processors for them.
func TestTurn(t *testing.T) {
	var ends []func()
	for range max(2, runtime.GOMAXPROCS(0)) {
		end, err := Turn(t.Context(), FreeAnswer+1)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Turn(ctx, FreeAnswer+1); !errors.Is(err, ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := Turn(t.Context(), FreeAnswer); err != nil {
		t.Errorf("a short one waits: %v", err)
	}
	for _, end := range ends {
		end()
		end()
	}
}

// TestShares: a project with hostile machines that hold all turns and room, and wait for more, is behind all others
// from then on. The others take turns, regardless of how many wait for each.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, take := range map[string]func(ctx context.Context) (func(), error){
			"turn": func(ctx context.Context) (func(), error) { return Turn(ctx, FreeAnswer+1) },
			"room": func(r *Budget) func(ctx context.Context) (func(), error) {
				return func(ctx context.Context) (func(), error) {
					_, done, err := r.Read(ctx, strings.NewReader(strings.Repeat("x", 2*FreeAnswer-1)), 1<<20, never)
					return done, err
				}
			}(NewBudget(int64(max(2, runtime.GOMAXPROCS(0)))*FreeAnswer, FreeAnswer)),
		} {
			var order []string
			ends := make(chan func(), 99)
			ask := func(project string, count int) {
				for range count {
					go func() {
						end, err := take(Of(t.Context(), project))
						if err != nil {
							t.Error(err)
						}
						order = append(order, project)
						ends <- end
					}()
					synctest.Wait()
				}
			}
			most := max(2, runtime.GOMAXPROCS(0))
			ask("blue", most+10)
			ask("red", 3)
			ask("green", 2)
			for range most + 15 {
				(<-ends)()
				synctest.Wait()
			}
			got := strings.Join(order[most:][:5], " ")
			if !strings.HasPrefix(got, "red green ") || strings.Count(got, "blue") > 1 {
				t.Errorf("%s was given to %s first", name, got)
			}
		}
	})
}
