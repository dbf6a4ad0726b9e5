package endpoint

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

const (
	logHeader     = "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state\n"
	logBlockBytes = 64 << 10
	logRowBytes   = 128 // more than the longest row
)

// TransportLog is the contract's CSV file, written in blocks.
type TransportLog struct {
	mutex sync.Mutex
	file  *os.File
	block []byte
	err   error
	// start is read once, so that a row costs one clock read: CLOCK_REALTIME is start plus what has passed since.
	start   time.Time
	startNs int64
}

// CreateTransportLog truncates the file and writes the header.
func CreateTransportLog(path string) (*TransportLog, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("transport log: %w", err)
	}
	now := time.Now()
	log := &TransportLog{file: file, block: make([]byte, 0, logBlockBytes), start: now, startNs: now.UnixNano()}
	log.block = append(log.block, logHeader...)
	return log, nil
}

// LogRow is one row; a negative number means that the stack does not say.
type LogRow struct {
	Event         string // start, ack, loss, pto, rto or sample
	CwndBytes     int64
	SsthreshBytes int64
	InFlightBytes int64
	SrttUs        int64
	PacingBps     int64
	State         string
}

// Write adds a row at the present time.
func (l *TransportLog) Write(row LogRow) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.block)+logRowBytes > cap(l.block) {
		l.flush()
	}
	l.block = row.append(l.block, l.startNs+int64(time.Since(l.start)))
}

func (r LogRow) append(out []byte, timeNs int64) []byte {
	out = strconv.AppendInt(out, timeNs, 10)
	out = append(append(out, ','), r.Event...)
	for _, number := range [...]int64{r.CwndBytes, r.SsthreshBytes, r.InFlightBytes, r.SrttUs, r.PacingBps} {
		out = append(out, ',')
		if number >= 0 {
			out = strconv.AppendInt(out, number, 10)
		}
	}
	out = append(out, ',')
	return append(append(out, r.State...), '\n')
}

func (l *TransportLog) flush() {
	if _, err := l.file.Write(l.block); err != nil && l.err == nil {
		l.err = err
	}
	l.block = l.block[:0]
}

// Close writes what is left and reports the first error of any write.
func (l *TransportLog) Close() error {
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
