package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cambrian/endpoint"
	"golang.org/x/net/quic"
)

func TestRecorderTellsAcksLossesAndSendsApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	log, err := endpoint.CreateTransportLog(path)
	if err != nil {
		t.Fatal(err)
	}
	var counts counts
	logger := slog.New(&recorder{log: log, counts: &counts}).With("group_id", "00")
	emit := func(name string, attributes ...slog.Attr) {
		logger.LogAttrs(t.Context(), quic.QLogLevelPacket, name, attributes...)
	}
	ack := func(cwnd, inFlight int, more ...slog.Attr) {
		emit("recovery:metrics_updated", append([]slog.Attr{slog.Duration("smoothed_rtt", 50*time.Millisecond),
			slog.Int("congestion_window", cwnd), slog.Int("bytes_in_flight", inFlight)}, more...)...)
	}
	ack(12000, 0)
	emit("transport:packet_sent")
	emit("recovery:metrics_updated", slog.Int("bytes_in_flight", 1200))
	ack(13200, 600)
	emit("recovery:packet_lost")
	emit("recovery:congestion_state_updated", slog.String("new", "recovery"))
	ack(6600, 600, slog.Int("ssthresh", 6600))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		_, row, _ := strings.Cut(line, ",")
		got = append(got, row)
	}
	want := "start,12000,,0,50000,,slow_start\nack,13200,,600,50000,,slow_start\nloss,6600,6600,600,50000,,recovery\n"
	if strings.Join(got[1:], "") != want {
		t.Errorf("got %q, want %q", got[1:], want)
	}
	if counts.sent.Load() != 1 || counts.lost.Load() != 1 {
		t.Errorf("counted %v", counts.event())
	}
}
