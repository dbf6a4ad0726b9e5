package main

import (
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

func (r *recorder) SupportsSchemas(string) bool { return true }

// RecordEvent knows the events of releases before 0.65: a timer's have other names, and a new controller has none
// but its first state, which it tells before the connection has it.
func (r *recorder) RecordEvent(recorded qlogwriter.Event) {
	if r.renewed && r.findAgain != nil && r.findAgain() {
		r.last = qlog.MetricsUpdated{CongestionWindow: int(*r.controller.cwnd)}
		r.row("start")
	}
	r.renewed = false
	switch e := recorded.(type) {
	case qlog.MetricsUpdated:
		r.metrics(e)
	case qlog.CongestionStateUpdated:
		r.state = e.State.String()
		r.renewed = e.State == qlog.CongestionStateSlowStart
	case qlog.LossTimerUpdated:
		if e.Type != qlog.LossTimerUpdateTypeExpired {
			r.timerSet()
		}
	case qlog.PTOCountUpdated:
		r.pto(e.PTOCount)
	case qlog.PacketLost:
		r.counts.lost++
	case qlog.SpuriousLoss:
		r.counts.spurious++
	}
}

// metrics completes an update, which has only what has changed: a zero means "as before".
func (r *recorder) metrics(now qlog.MetricsUpdated) {
	before := r.last
	if now.CongestionWindow == 0 {
		now.CongestionWindow = before.CongestionWindow
	}
	if now.BytesInFlight == 0 {
		now.BytesInFlight = before.BytesInFlight
	}
	if now.SmoothedRTT == 0 {
		now.SmoothedRTT = before.SmoothedRTT
	}
	r.compare(now)
	if before.CongestionWindow == 0 && now.CongestionWindow > 0 {
		r.row("start")
	}
}
