package main

import (
	"errors"
	"fmt"
	"reflect"

	"cambrian/endpoint"
	"github.com/quic-go/quic-go"
)

const (
	ccaReno  = "reno"
	ccaCubic = "cubic"
)

// controller is a view of one connection's congestion controller, inside quic-go.
//
// quic-go has one controller, internal/congestion.cubicSender, which holds both
// algorithms: its constructor always makes a Cubic object, and its field `reno`
// says on each loss and on each ACK in congestion avoidance which of the two
// answers. NewSentPacketHandler passes reno = true and no public setting changes
// that. So CUBIC is selected by clearing that field, which leaves the module's
// source as released.
//
// What that gives (read in v0.65.0, internal/congestion/cubic_sender.go, cubic.go):
//
//   - NewCubicSender(…, reno = false) differs from reno = true in that field only,
//     so that a flip before the first ACK or loss is the same as construction.
//     selectCubic checks that the controller is still as constructed.
//   - The Cubic object is as NewCubic leaves it (Reset, one connection): β 0.7,
//     fast convergence 0.85. Its unit of growth is quic-go's initial packet size,
//     1280 bytes, also after path-MTU discovery has found 1452: C is in effect 0.4 × 1280/1452.
//   - The undo of spurious losses is for Reno only. Both share HyStart (by delay),
//     slow start, pacing at 1.25 × cwnd/sRTT, and β 0.7.
//   - A new path of the peer's gets a new controller, again with reno = true: it is found and selected again.
type controller struct {
	reno               *bool
	cwnd               *int64
	inFlight           *int64 // the connection's
	ssthresh           *int64
	largestSentAtCut   *int64
	initialCwnd        *int64
	cubicEpoch         *int64
	cubicConnections   *int
	cubicLastMaxWindow *int64
}

// choose finds the controller that conn has now, and selects CUBIC if cca says so. known: the one found before, or
// nil; choose returns it if it is still conn's.
func choose(conn *quic.Conn, cca string, known *controller) (*controller, error) {
	found, err := findController(conn)
	if err == nil && known != nil && found.cwnd == known.cwnd {
		return known, nil
	}
	if err == nil && cca == ccaCubic {
		err = found.selectCubic()
	}
	return found, err
}

// findController walks Conn.sentPacketHandler.congestion, or says which field is not as expected.
func findController(conn *quic.Conn) (*controller, error) {
	w := endpoint.Walker{}
	handler := w.Behind(reflect.ValueOf(conn).Elem(), "sentPacketHandler")
	sender := w.Behind(handler, "congestion")
	cubic := w.Behind(sender, "cubic")
	found := &controller{
		reno:               endpoint.Field[bool](&w, sender, "reno", reflect.Bool),
		cwnd:               endpoint.Field[int64](&w, sender, "congestionWindow", reflect.Int64),
		inFlight:           endpoint.Field[int64](&w, handler, "bytesInFlight", reflect.Int64),
		ssthresh:           endpoint.Field[int64](&w, sender, "slowStartThreshold", reflect.Int64),
		largestSentAtCut:   endpoint.Field[int64](&w, sender, "largestSentAtLastCutback", reflect.Int64),
		initialCwnd:        endpoint.Field[int64](&w, sender, "initialCongestionWindow", reflect.Int64),
		cubicEpoch:         endpoint.Field[int64](&w, cubic, "epoch", reflect.Int64),
		cubicConnections:   endpoint.Field[int](&w, cubic, "numConnections", reflect.Int),
		cubicLastMaxWindow: endpoint.Field[int64](&w, cubic, "lastMaxCongestionWindow", reflect.Int64),
	}
	if w.Err != nil {
		return nil, fmt.Errorf("quic-go's fields are not those of %s: %w", stackVersion, w.Err)
	}
	return found, nil
}

// selectCubic makes a controller that has done nothing yet run CUBIC. The caller
// runs with one P (GOMAXPROCS 1), so the connection's own goroutine is not running.
func (c *controller) selectCubic() error {
	const noPacket = -1
	switch {
	case *c.cwnd != *c.initialCwnd, *c.ssthresh < unlimitedBytes, *c.largestSentAtCut != noPacket:
		return errors.New("cannot select cubic: the controller has already seen an ACK or a loss")
	case *c.cubicEpoch != 0, *c.cubicLastMaxWindow != 0, *c.cubicConnections != 1:
		return errors.New("cannot select cubic: its state is not that of a new connection")
	}
	*c.reno = false
	return nil
}

// name is the algorithm that the controller runs now.
func (c *controller) name() string {
	if *c.reno {
		return ccaReno
	}
	return ccaCubic
}

// unlimitedBytes: a larger ssthresh means "none yet" (quic-go's MaxByteCount is 2^62 − 1).
const unlimitedBytes = 1 << 60
