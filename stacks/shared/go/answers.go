package endpoint

import (
	"fmt"
	"os"
	"sync/atomic"
)

// HQStream is a bidirectional stream that a client opened, as a server of hq-interop uses it.
type HQStream interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	// CloseWrite ends the body.
	CloseWrite() error
	// Refuse resets both directions.
	Refuse()
}

// Answers counts what a server of hq-interop was asked for and has sent.
type Answers struct {
	// sent counts bytes as whole blocks are handed to the stack, up to 1 MiB late.
	sent     atomic.Int64
	asked    atomic.Int64 // requests
	answered atomic.Int64 // of them, in full
}

// Answer reads a stream's request and sends its body.
func (a *Answers) Answer(stream HQStream) {
	a.asked.Add(1)
	bytes, err := ReadHQRequest(stream)
	if err != nil {
		fmt.Fprintln(os.Stderr, "request refused:", err)
		stream.Refuse()
		return
	}
	// An error here means that the client has gone, which is how endless transfers end.
	if WriteBody(stream, bytes, &a.sent) == nil && stream.CloseWrite() == nil {
		a.answered.Add(1)
	}
}

// Done writes the server's last line: complete when every request was answered in full.
func (a *Answers) Done(emit *Emitter, failure error) {
	complete := failure == nil && a.asked.Load() > 0 && a.answered.Load() == a.asked.Load()
	emit.Done(a.sent.Load(), complete, failure)
}
