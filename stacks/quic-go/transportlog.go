package main

import (
	"cambrian/endpoint"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// recorder is quic-go's qlog hook for one connection: it counts and, with a log, writes rows.
// All its methods run in the connection's own goroutine. What the releases name otherwise is in events.go.
type recorder struct {
	log *endpoint.TransportLog
	// controller is set as soon as the server has the connection; until then there is no ssthresh.
	controller *controller
	// findAgain sets controller to the one that quic-go has made for a new path, and says whether there is one.
	findAgain func() bool
	counts    lossCounts

	last  qlog.MetricsUpdated
	state string
	// renewed: the event before was one of a new controller (releases before 0.65)
	renewed bool
}

// lossCounts are what ConnectionStats does not count. Its PacketsLost also counts each answer to an ECN-CE
// mark as a packet (cubicSender.OnCongestionEvent, called with 0 lost bytes).
type lossCounts struct{ lost, spurious, ptos int64 }

var _ qlogwriter.Trace = (*recorder)(nil)

func (r *recorder) AddProducer() qlogwriter.Recorder { return r }

func (r *recorder) Close() error { return nil }

// timerSet follows all that may change the controller, of which a loss timer's expiry gives no metrics.
func (r *recorder) timerSet() {
	if r.controller == nil {
		return
	}
	before := r.last.CongestionWindow
	r.last.CongestionWindow, r.last.BytesInFlight = int(*r.controller.cwnd), int(*r.controller.inFlight)
	if r.last.CongestionWindow < before {
		r.row("loss")
	}
}

func (r *recorder) pto(count uint32) {
	if count > 0 {
		r.counts.ptos++
		r.row("pto")
	}
}

// compare writes the row of a change of metrics, one for each packet sent and one for each ACK. A smaller cwnd is
// a congestion event; fewer bytes in flight are an ACK; what is left are sends, which get no row.
func (r *recorder) compare(now qlog.MetricsUpdated) {
	before := r.last
	r.last = now
	switch {
	case now.CongestionWindow < before.CongestionWindow:
		r.row("loss")
	case now.BytesInFlight < before.BytesInFlight:
		r.row("ack")
	}
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
