package httpboot

import (
	"io"
	"net/http"
	"time"
)

// stall is how long a client may take nothing of an answer before its connection is cut.
const stall = time.Minute

// chunk must get through within stall. An image of gigabytes over a slow link is fine; a client that stopped reading
// is not.
const chunk = 256 << 10

// unhurried gives every answer a write deadline that moves on as long as the
// client reads. A body, which no request here needs, gets no time to be dripped in.
// (http.Server's ReadTimeout would do, but it also ends the context of long downloads.)
func unhurried(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ContentLength != 0 {
			if err := control.SetReadDeadline(time.Now().Add(headerTimeout)); err != nil {
				http.Error(w, "no deadline on this connection", http.StatusInternalServerError)
				return
			}
		}
		next.ServeHTTP(&writer{ResponseWriter: w, control: control}, r)
	})
}

type writer struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) Write(b []byte) (int, error) {
	if err := w.extend(); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(b)
}

// ReadFrom keeps the kernel's sendfile in play: it passes net/http's reader on, the file itself under a limit, one
// chunk at a time.
func (w *writer) ReadFrom(src io.Reader) (int64, error) {
	whole, limited := src.(*io.LimitedReader)
	if !limited {
		whole = &io.LimitedReader{R: src, N: 1<<63 - 1}
	}
	var total int64
	for whole.N > 0 {
		if err := w.extend(); err != nil {
			return total, err
		}
		want := min(chunk, whole.N)
		n, err := io.Copy(w.ResponseWriter, &io.LimitedReader{R: whole.R, N: want})
		whole.N -= n
		total += n
		if err != nil || n < want {
			return total, err
		}
	}
	return total, nil
}

func (w *writer) extend() error {
	return w.control.SetWriteDeadline(time.Now().Add(stall))
}

// zeroTime is the modification time of generated answers.
func zeroTime() time.Time { return time.Time{} }
