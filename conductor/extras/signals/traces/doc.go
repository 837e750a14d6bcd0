// Package traces sends one trace of each activity to an OpenTelemetry collector: the request, the decisions, the
// steps, the calls to BMC and agent, the stages of the boot.
//
// It observes and decides nothing. The ids of a trace follow from the node and its activity, so that another process
// continues the trace of the one before. A collector that does not take spans costs spans, and nothing else.
package traces
