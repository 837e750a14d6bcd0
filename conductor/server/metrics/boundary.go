package metrics

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// boundary has the metrics of requests from outside, and of calls to the outside.
type boundary struct {
	requests    *prometheus.CounterVec
	latencies   *prometheus.HistogramVec
	heartbeats  *prometheus.CounterVec
	calls       *prometheus.CounterVec
	callTimes   *prometheus.HistogramVec
	boots       *prometheus.CounterVec
	logins      prometheus.Counter
	failures    prometheus.Counter
	bmcFailures prometheus.Counter
}

func newBoundary() boundary {
	return boundary{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_api_requests_total",
			Help: "Requests to the API, by row of the route table and status."}, []string{"method", "route", "status"}),
		latencies: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ferrite_api_request_duration_seconds",
			Help:    "Time until a request to the API was answered. Followed logs, consoles and events are not in it.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 60}}, []string{"method"}),
		heartbeats: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_heartbeats_total",
			Help: "Heartbeats of agents: accepted, refused, or failed by a fault of the conductor."}, []string{"outcome"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_bmc_calls_total",
			Help: "Calls to BMCs, by driver and outcome."}, []string{"driver", "outcome"}),
		callTimes: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ferrite_bmc_call_duration_seconds",
			Help: "Time that a call to a BMC took.", Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}},
			[]string{"driver"}),
		boots: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_boot_requests_total",
			Help: "Requests on the boot network, by service (dhcp, proxydhcp, tftp, http, other-dhcp), message, and reason " +
				"for no answer (empty: it was answered)."}, []string{"service", "message", "reason"}),
		logins: prometheus.NewCounter(prometheus.CounterOpts{Name: "ferrite_api_refused_logins_total",
			Help: "Requests without an identified sender (401)."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "ferrite_api_failed_requests_total",
			Help: "Requests that a fault of the conductor has ended (5xx but 502 to 504)."}),
		bmcFailures: prometheus.NewCounter(prometheus.CounterOpts{Name: "ferrite_api_bmc_failed_requests_total",
			Help: "Requests that a BMC has failed (502), or not answered in time (504)."}),
	}
}

func (b boundary) all() []prometheus.Collector {
	return []prometheus.Collector{b.requests, b.latencies, b.heartbeats, b.calls, b.callTimes, b.boots, b.logins,
		b.failures, b.bmcFailures}
}

// methods are those that are counted by their names: a client may send any word.
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true}

// longest bounds the times in the histogram. A longer request is a lasting one, such as the following of a log.
const longest = 5 * time.Minute

// Answered takes note of a request to the API. The route is a row of a table, so that there are few.
func (b boundary) Answered(method, route string, status int, took time.Duration) {
	if !methods[method] {
		method = "other"
	}
	if route == "" {
		route = "none"
	}
	b.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	if took < longest {
		b.latencies.WithLabelValues(method).Observe(took.Seconds())
	}
	switch {
	case status == http.StatusUnauthorized:
		b.logins.Inc()
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		b.bmcFailures.Inc()
	case status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable:
		b.failures.Inc()
	}
	if strings.HasPrefix(route, strings.TrimSuffix(agentapi.HeartbeatPath, "/")) {
		b.heartbeats.WithLabelValues(heartbeatOutcome(status)).Inc()
	}
}

func heartbeatOutcome(status int) string {
	switch {
	case status < 300:
		return "accepted"
	case status < 500:
		return "refused"
	}
	return "failed"
}

// Called takes note of a call to a BMC.
func (b boundary) Called(driver string, took time.Duration, err error) {
	for _, outcome := range callOutcomes { // an alert needs the zero before the first
		b.calls.WithLabelValues(driver, outcome)
	}
	b.calls.WithLabelValues(driver, callOutcome(err)).Inc()
	b.callTimes.WithLabelValues(driver).Observe(took.Seconds())
}

// callOutcomes are the outcomes of calls that are faults.
var callOutcomes = []string{"timeout", "error", "refused"}

func callOutcome(err error) string {
	var permanent interface{ Permanent() bool }
	var slow interface{ Timeout() bool }
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &slow) && slow.Timeout():
		return "timeout"
	case errors.As(err, &permanent) && permanent.Permanent():
		return "refused"
	}
	return "error"
}

// messages are the messages of DHCP, TFTP and HTTP that are counted by their names.
var messages = map[string]bool{"DISCOVER": true, "REQUEST": true, "INFORM": true, "DECLINE": true, "RELEASE": true,
	"OFFER": true, "ACK": true, "READ": true, "GET": true, "HEAD": true}

// Booted takes note of a request on the boot network; reason is one of a table, "" when it was answered.
func (b boundary) Booted(service, message, reason string) {
	if !messages[message] {
		message = "other"
	}
	b.boots.WithLabelValues(service, message, reason).Inc()
}
