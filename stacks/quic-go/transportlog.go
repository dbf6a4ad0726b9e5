package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

const (
	logHeader     = "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state\n"
	logBlockBytes = 64 << 10
	logRowBytes   = 128 // more than the longest row
)

// transportLog is the contract's CSV file, written in blocks.
type transportLog struct {
	mutex sync.Mutex
	file  *os.File
	block []byte
	err   error
	// start is read once, so that a row costs one clock read: CLOCK_REALTIME is start plus what has passed since.
	start   time.Time
	startNs int64
}

func createTransportLog(path string) (*transportLog, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("transport log: %w", err)
	}
	now := time.Now()
	log := &transportLog{file: file, block: make([]byte, 0, logBlockBytes), start: now, startNs: now.UnixNano()}
	log.block = append(log.block, logHeader...)
	return log, nil
}

// logRow is one row; a negative number means that the stack does not say.
type logRow struct {
	event         string
	cwndBytes     int64
	ssthreshBytes int64
	inFlightBytes int64
	srttUs        int64
	state         string
}

func (l *transportLog) write(row logRow) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.block)+logRowBytes > cap(l.block) {
		l.flush()
	}
	l.block = row.append(l.block, l.startNs+int64(time.Since(l.start)))
}

func (r logRow) append(out []byte, timeNs int64) []byte {
	out = strconv.AppendInt(out, timeNs, 10)
	out = append(append(out, ','), r.event...)
	for _, number := range [...]int64{r.cwndBytes, r.ssthreshBytes, r.inFlightBytes, r.srttUs} {
		out = append(out, ',')
		if number >= 0 {
			out = strconv.AppendInt(out, number, 10)
		}
	}
	out = append(out, ",,"...) // pacing_bps: quic-go has a private formula, not a value
	return append(append(out, r.state...), '\n')
}

func (l *transportLog) flush() {
	if _, err := l.file.Write(l.block); err != nil && l.err == nil {
		l.err = err
	}
	l.block = l.block[:0]
}

// close writes what is left and reports the first error of any write.
func (l *transportLog) close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.flush()
	if err := l.file.Close(); err != nil && l.err == nil {
		l.err = err
	}
	if l.err != nil {
		return fmt.Errorf("transport log: %w", l.err)
	}
	return nil
}

// recorder is quic-go's qlog hook for one connection: it counts and, with a log, writes rows.
// All its methods run in the connection's own goroutine.
type recorder struct {
	log *transportLog
	// controller is set as soon as the server has the connection; until then there is no ssthresh.
	controller *controller
	counts     lossCounts

	last       qlog.MetricsUpdated
	state      string
	timerFired bool
}

// lossCounts are what ConnectionStats does not count.
type lossCounts struct{ spurious, ptos int64 }

var _ qlogwriter.Trace = (*recorder)(nil)

func (r *recorder) AddProducer() qlogwriter.Recorder { return r }

func (r *recorder) Close() error { return nil }

func (r *recorder) RecordEvent(recorded qlogwriter.Event) {
	switch e := recorded.(type) {
	case qlog.MetricsUpdated:
		r.metrics(e)
	case qlog.CongestionStateUpdated:
		r.state = e.State.String()
	case qlog.RecoveryParametersSet:
		if e.InitialCongestionWindow > 0 {
			r.last.CongestionWindow = int(e.InitialCongestionWindow)
			r.row("start")
		}
	case qlog.TimerUpdated:
		r.timerFired = r.timerFired || e.Type == qlog.TimerEventTypeExpired
	case qlog.PTOCountUpdated:
		if e.PTOCount > 0 {
			r.counts.ptos++
			r.row("pto")
		}
	case qlog.SpuriousLoss:
		r.counts.spurious++
	}
}

// metrics gets one update for each packet sent and one for each ACK. A smaller
// cwnd is a congestion event; fewer bytes in flight, unless a loss timer has just
// declared packets lost, are an ACK; what is left are sends, which get no row.
func (r *recorder) metrics(now qlog.MetricsUpdated) {
	before := r.last
	r.last = now
	switch {
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
	row := logRow{
		event:         name,
		cwndBytes:     int64(r.last.CongestionWindow),
		ssthreshBytes: -1,
		inFlightBytes: int64(r.last.BytesInFlight),
		srttUs:        -1,
		state:         r.state,
	}
	if r.last.SmoothedRTT > 0 {
		row.srttUs = r.last.SmoothedRTT.Microseconds()
	}
	if r.controller != nil && *r.controller.ssthresh < unlimitedBytes {
		row.ssthreshBytes = *r.controller.ssthresh
	}
	r.log.write(row)
}
