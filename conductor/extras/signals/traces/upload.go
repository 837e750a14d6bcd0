package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// maxAnswer bounds the bytes that are read of a receiver's answer.
const maxAnswer = 64 << 10

// refusal is an answer that took none of the spans. Later: the receiver takes them perhaps another time.
type refusal struct {
	err   error
	later bool
	after time.Duration // pause that the receiver asks for; 0 for none
}

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

// rejectedError is an answer that took some of the spans.
type rejectedError struct {
	count int64
	why   string
}

func (e *rejectedError) Error() string {
	return fmt.Sprintf("the receiver has rejected %d spans: %s", e.count, clean(e.why, maxName))
}

// Start does nothing: connections are made as they are needed.
func (*Target) Start(context.Context) error { return nil }

// Stop closes the connections.
func (t *Target) Stop(context.Context) error {
	t.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. ExportTraceServiceRequest has the wire form of TracesData; its own package would bring gRPC
// into the program.
func (t *Target) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, values := range t.headers {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "ferrite")
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return &refusal{err: err, later: true}
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch status := answer.StatusCode; {
	case status >= 300 && status < 400:
		return &refusal{err: fmt.Errorf("%s: redirects are not followed: name the last URL", answer.Status)}
	case status >= 400:
		return &refusal{err: fmt.Errorf("the receiver answered %s", answer.Status), later: passing[status],
			after: retryAfter(answer.Header.Get("Retry-After"))}
	case status != http.StatusOK && status != http.StatusAccepted && status != http.StatusNoContent:
		return &refusal{err: fmt.Errorf("the receiver answered %s, expected 200", answer.Status)}
	case err != nil:
		return nil // it has taken them
	}
	return partial(said)
}

// passing are the answers after which a client may try again (OpenTelemetry Protocol, OTLP/HTTP).
var passing = map[int]bool{http.StatusTooManyRequests: true, http.StatusBadGateway: true,
	http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true}

func retryAfter(text string) time.Duration {
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, 3600))*time.Second, longestPause)
}

// partial reads ExportTraceServiceResponse: field 1 is partial_success, of which field 1 is the count of rejected spans
// and field 2 why. A receiver that answers anything else has taken them.
func partial(answer []byte) error {
	success, ok := field(answer, 1, protowire.BytesType)
	if !ok {
		return nil
	}
	count, ok := field(success, 1, protowire.VarintType)
	if !ok {
		return nil
	}
	rejected, n := protowire.ConsumeVarint(count)
	if n < 0 || rejected == 0 {
		return nil
	}
	why, _ := field(success, 2, protowire.BytesType)
	return &rejectedError{count: int64(min(rejected, 1<<31)), why: string(why)}
}

// field finds the last field with a number and type: the bytes of it, or the varint itself.
func field(message []byte, want protowire.Number, kind protowire.Type) (value []byte, found bool) {
	for len(message) > 0 {
		number, is, n := protowire.ConsumeTag(message)
		if n < 0 {
			return value, found
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(number, is, message)
		if size < 0 {
			return value, found
		}
		if number == want && is == kind {
			value, found = message[:size], true
			if kind == protowire.BytesType {
				value, _ = protowire.ConsumeBytes(value)
			}
		}
		message = message[size:]
	}
	return value, found
}

// taken is how many of the spans of a request a receiver has taken, and whether the others are worth another try.
func taken(count int, err error) (sent int, again bool, after time.Duration) {
	var refused *refusal
	var rejected *rejectedError
	switch {
	case err == nil:
		return count, false, 0
	case errors.As(err, &rejected):
		return count - int(min(rejected.count, int64(count))), false, 0
	case errors.As(err, &refused):
		return 0, refused.later, refused.after
	}
	return 0, false, 0
}
