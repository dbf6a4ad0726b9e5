package endpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRowLeavesUnknownFieldsEmpty(t *testing.T) {
	row := LogRow{Event: "ack", CwndBytes: 40960, SsthreshBytes: -1, InFlightBytes: 0, SrttUs: 50005, PacingBps: -1, State: "slow_start"}
	if got, want := string(row.append(nil, 7)), "7,ack,40960,,0,50005,,slow_start\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLogKeepsEveryRowOverManyBlocks(t *testing.T) {
	const rows = 3 * logBlockBytes / 40
	path := filepath.Join(t.TempDir(), "log.csv")
	log, err := CreateTransportLog(path)
	if err != nil {
		t.Fatal(err)
	}
	for range rows {
		log.Write(LogRow{Event: "ack", CwndBytes: 40960, SsthreshBytes: 20480, InFlightBytes: 14520, SrttUs: 50005, PacingBps: 1})
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header, body, _ := strings.Cut(string(text), "\n")
	if header+"\n" != logHeader || strings.Count(body, ",ack,40960,20480,14520,50005,1,\n") != rows {
		t.Errorf("header %q, %d bytes of rows", header, len(body))
	}
}
