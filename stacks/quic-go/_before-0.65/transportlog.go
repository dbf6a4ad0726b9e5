package main

import (
	"cambrian/endpoint"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// recorder is quic-go's qlog hook for one connection: it counts and, with a log, writes rows.
// All its methods run in the connection's own goroutine. Releases before 0.65 name a timer's events otherwise,
// and give only the metrics that have changed: a zero means "as before".
type recorder struct {
	log *endpoint.TransportLog
	// controller is set as soon as the server has the connection; until then there is no ssthresh.
	controller *controller
	counts     lossCounts

	last       qlog.MetricsUpdated
	state      string
	timerFired bool
}

// lossCounts are what ConnectionStats does not count. Its PacketsLost also counts each answer to an ECN-CE
// mark as a packet (cubicSender.OnCongestionEvent, called with 0 lost bytes).
type lossCounts struct{ lost, spurious, ptos int64 }

var _ qlogwriter.Trace = (*recorder)(nil)

func (r *recorder) AddProducer() qlogwriter.Recorder { return r }

func (r *recorder) SupportsSchemas(string) bool { return true }

func (r *recorder) Close() error { return nil }

func (r *recorder) RecordEvent(recorded qlogwriter.Event) {
	switch e := recorded.(type) {
	case qlog.MetricsUpdated:
		r.metrics(e)
	case qlog.CongestionStateUpdated:
		r.state = e.State.String()
	case qlog.LossTimerUpdated:
		r.timerFired = r.timerFired || e.Type == qlog.LossTimerUpdateTypeExpired
	case qlog.PTOCountUpdated:
		if e.PTOCount > 0 {
			r.counts.ptos++
			r.row("pto")
		}
	case qlog.PacketLost:
		r.counts.lost++
	case qlog.SpuriousLoss:
		r.counts.spurious++
	}
}

// metrics gets one update for each packet sent and one for each ACK. A smaller
// cwnd is a congestion event; fewer bytes in flight, unless a loss timer has just
// declared packets lost, are an ACK; what is left are sends, which get no row.
func (r *recorder) metrics(changed qlog.MetricsUpdated) {
	before := r.last
	now := changed
	if now.CongestionWindow == 0 {
		now.CongestionWindow = before.CongestionWindow
	}
	if now.BytesInFlight == 0 {
		now.BytesInFlight = before.BytesInFlight
	}
	if now.SmoothedRTT == 0 {
		now.SmoothedRTT = before.SmoothedRTT
	}
	r.last = now
	switch {
	case before.CongestionWindow == 0 && now.CongestionWindow > 0:
		r.row("start")
	case now.CongestionWindow < before.CongestionWindow:
		r.row("loss")
	case now.BytesInFlight < before.BytesInFlight && !r.timerFired:
		r.row("ack")
	}
	r.timerFired = false
}

func (r *recorder) row(name string) {
	if r.log == nil {
		return
	}
	row := endpoint.LogRow{
		Event:         name,
		CwndBytes:     int64(r.last.CongestionWindow),
		SsthreshBytes: -1,
		InFlightBytes: int64(r.last.BytesInFlight),
		SrttUs:        -1,
		PacingBps:     -1, // quic-go has a private formula, not a value
		State:         r.state,
	}
	if r.last.SmoothedRTT > 0 {
		row.SrttUs = r.last.SmoothedRTT.Microseconds()
	}
	if r.controller != nil && *r.controller.ssthresh < unlimitedBytes {
		row.SsthreshBytes = *r.controller.ssthresh
	}
	r.log.Write(row)
}
