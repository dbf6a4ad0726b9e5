package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cambrian/endpoint"
	"github.com/quic-go/quic-go/qlog"
)

// rows feeds events to a recorder and gives the log's rows without their times.
func rows(t *testing.T, feed func(*recorder)) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.csv")
	log, err := endpoint.CreateTransportLog(path)
	if err != nil {
		t.Fatal(err)
	}
	feed(&recorder{log: log})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for index, line := range lines[1:] {
		_, lines[index], _ = strings.Cut(line, ",")
	}
	return lines[:len(lines)-1]
}

func TestRecorderTellsAcksLossesAndSendsApart(t *testing.T) {
	metrics := func(cwnd, inFlight int) qlog.MetricsUpdated {
		return qlog.MetricsUpdated{CongestionWindow: cwnd, BytesInFlight: inFlight, SmoothedRTT: 50 * time.Millisecond}
	}
	cwnd, inFlight, ssthresh := int64(840), int64(500), int64(unlimitedBytes)
	got := rows(t, func(r *recorder) {
		r.RecordEvent(qlog.CongestionStateUpdated{State: qlog.CongestionStateSlowStart})
		r.RecordEvent(qlog.RecoveryParametersSet{InitialCongestionWindow: 1000})
		r.RecordEvent(metrics(1000, 500)) // a send
		r.RecordEvent(metrics(1000, 900)) // a send
		r.RecordEvent(metrics(1200, 700)) // an ACK
		r.RecordEvent(qlog.CongestionStateUpdated{State: qlog.CongestionStateRecovery})
		r.RecordEvent(metrics(840, 600)) // an ACK that reveals a loss
		r.controller = &controller{cwnd: &cwnd, inFlight: &inFlight, ssthresh: &ssthresh}
		r.RecordEvent(qlog.TimerUpdated{Type: qlog.TimerEventTypeExpired})
		r.RecordEvent(qlog.TimerUpdated{Type: qlog.TimerEventTypeSet}) // a loss timer, and no new congestion event
		r.RecordEvent(metrics(840, 550))                               // a send
		cwnd, inFlight = 588, 450
		r.RecordEvent(qlog.TimerUpdated{Type: qlog.TimerEventTypeExpired})
		r.RecordEvent(qlog.TimerUpdated{Type: qlog.TimerEventTypeCancelled}) // a loss timer that reveals one
		r.RecordEvent(metrics(588, 400))                                     // an ACK
		r.RecordEvent(qlog.PTOCountUpdated{PTOCount: 1})
		r.RecordEvent(qlog.PTOCountUpdated{PTOCount: 0})
	})
	want := []string{
		"start,1000,,0,,,slow_start",
		"ack,1200,,700,50000,,slow_start",
		"loss,840,,600,50000,,recovery",
		"loss,588,,450,50000,,recovery",
		"ack,588,,400,50000,,recovery",
		"pto,588,,400,50000,,recovery",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRecorderCountsLostPacketsButNoMark(t *testing.T) {
	var counts lossCounts
	rows(t, func(r *recorder) {
		r.RecordEvent(qlog.RecoveryParametersSet{InitialCongestionWindow: 1000})
		r.RecordEvent(qlog.PacketLost{})
		r.RecordEvent(qlog.PacketLost{})
		r.RecordEvent(qlog.SpuriousLoss{})
		r.RecordEvent(qlog.MetricsUpdated{CongestionWindow: 700, BytesInFlight: 500}) // a cut after an ECN-CE mark
		counts = r.counts
	})
	if counts != (lossCounts{lost: 2, spurious: 1}) {
		t.Errorf("got %+v", counts)
	}
}

func TestRecorderReadsSsthreshOnceThereIsOne(t *testing.T) {
	ssthresh := int64(unlimitedBytes)
	got := rows(t, func(r *recorder) {
		r.controller = &controller{ssthresh: &ssthresh}
		r.row("start")
		ssthresh = 840
		r.row("ack")
	})
	if got[0] != "start,0,,0,,," || got[1] != "ack,0,840,0,,," {
		t.Errorf("got %q", got)
	}
}
