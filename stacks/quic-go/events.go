package main

import (
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

func (r *recorder) RecordEvent(recorded qlogwriter.Event) {
	switch e := recorded.(type) {
	case qlog.MetricsUpdated:
		r.compare(e)
	case qlog.CongestionStateUpdated:
		r.state = e.State.String()
	case qlog.RecoveryParametersSet:
		if e.InitialCongestionWindow > 0 {
			if r.findAgain != nil {
				r.findAgain()
			}
			r.last = qlog.MetricsUpdated{CongestionWindow: int(e.InitialCongestionWindow)}
			r.row("start")
		}
	case qlog.TimerUpdated:
		if e.Type != qlog.TimerEventTypeExpired {
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
