package main

import (
	"context"
	"log/slog"
	"sync/atomic"

	"cambrian/endpoint"
	"golang.org/x/net/quic"
)

// counts is what the recorders of a server have seen.
type counts struct{ sent, lost atomic.Int64 }

func (c *counts) event() endpoint.Event {
	return endpoint.Event{"packets_sent": c.sent.Load(), "packets_lost": c.lost.Load()}
}

// recorder is the package's qlog hook: it writes a row for each ACK and counts packets.
// The package calls With once a connection, which makes that connection's own recorder;
// all of a connection's events come from its one goroutine.
type recorder struct {
	log    *endpoint.TransportLog
	counts *counts

	cwndBytes int64 // at the ACK before; 0 before the first
	state     string
}

var _ slog.Handler = (*recorder)(nil)

// Enabled leaves out the events of single frames.
func (r *recorder) Enabled(_ context.Context, level slog.Level) bool {
	return level >= quic.QLogLevelPacket
}

// WithAttrs makes a connection's recorder; the attributes only name the connection.
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler {
	return &recorder{log: r.log, counts: r.counts, state: "slow_start"}
}

// WithGroup is not used by the package.
func (r *recorder) WithGroup(string) slog.Handler { return r }

// Handle takes one event.
func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	switch record.Message {
	case "transport:packet_sent":
		r.counts.sent.Add(1)
	case "recovery:packet_lost":
		r.counts.lost.Add(1)
	case "recovery:congestion_state_updated":
		record.Attrs(func(attribute slog.Attr) bool {
			if attribute.Key == "new" {
				r.state = attribute.Value.String()
			}
			return true
		})
	case "recovery:metrics_updated":
		r.metrics(record)
	}
	return nil
}

// metrics gets one event for each ACK, with all figures, and one for each packet sent, with
// the bytes in flight alone, which gets no row. A smaller cwnd is a congestion event.
func (r *recorder) metrics(record slog.Record) {
	row := endpoint.LogRow{Event: "ack", CwndBytes: -1, SsthreshBytes: -1, InFlightBytes: -1, SrttUs: -1, PacingBps: -1, State: r.state}
	record.Attrs(func(attribute slog.Attr) bool {
		switch attribute.Key {
		case "congestion_window":
			row.CwndBytes = attribute.Value.Int64()
		case "ssthresh":
			row.SsthreshBytes = attribute.Value.Int64()
		case "bytes_in_flight":
			row.InFlightBytes = attribute.Value.Int64()
		case "smoothed_rtt":
			row.SrttUs = attribute.Value.Duration().Microseconds()
		}
		return true
	})
	if row.CwndBytes < 0 {
		return
	}
	switch {
	case r.cwndBytes == 0:
		row.Event = "start"
	case row.CwndBytes < r.cwndBytes:
		row.Event = "loss"
	}
	r.cwndBytes = row.CwndBytes
	r.log.Write(row)
}
