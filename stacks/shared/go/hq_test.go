package endpoint

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
)

func TestHQRequestRoundTrip(t *testing.T) {
	for _, want := range []int64{0, 1, 999, EndlessBytes} {
		got, err := ReadHQRequest(bytes.NewReader(HQRequest(want)))
		if err != nil || got != want {
			t.Errorf("request for %d read as %d, %v", want, got, err)
		}
	}
}

func TestHQRequestRefusals(t *testing.T) {
	for _, line := range []string{"", "GET /\r\n", "GET /-1\r\n", "GET /12x\r\n", "POST /1\r\n", "GET /" + strings.Repeat("1", maxRequestBytes)} {
		if got, err := ReadHQRequest(strings.NewReader(line)); err == nil {
			t.Errorf("%q was read as %d bytes", line, got)
		}
	}
}

func TestHQRequestMayEndWithTheStream(t *testing.T) {
	if got, err := ReadHQRequest(strings.NewReader("GET /7")); err != nil || got != 7 {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestWriteBodyIsExact(t *testing.T) {
	for _, want := range []int64{0, 1, int64(len(body)), int64(len(body)) + 1} {
		var out bytes.Buffer
		var sent atomic.Int64
		if err := WriteBody(&out, want, &sent); err != nil || int64(out.Len()) != want || sent.Load() != want {
			t.Errorf("body of %d: wrote %d, counted %d, %v", want, out.Len(), sent.Load(), err)
		}
	}
}

func TestSharesAddUp(t *testing.T) {
	for _, total := range []int64{0, 1, 10, 1_000_003} {
		for _, streams := range []int{1, 3, 7} {
			var sum, least, most int64 = 0, total, 0
			for index := range streams {
				part := Share(total, streams, index)
				sum, least, most = sum+part, min(least, part), max(most, part)
			}
			if sum != total || most-least > 1 {
				t.Errorf("%d over %d streams: sum %d, shares from %d to %d", total, streams, sum, least, most)
			}
		}
	}
}
