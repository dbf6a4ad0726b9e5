package endpoint

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Event holds the fields of one line of the contract's standard output.
type Event map[string]any

// Emitter writes events as JSON lines, each in one unbuffered write.
type Emitter struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

// NewEmitter writes to out.
func NewEmitter(out io.Writer) *Emitter {
	return &Emitter{encoder: json.NewEncoder(out)}
}

// Emit writes one line: the event's name and its fields.
func (e *Emitter) Emit(name string, fields Event) {
	line := Event{"event": name}
	for key, value := range fields {
		line[key] = value
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	// A reader that has gone away is no reason to stop a transfer.
	_ = e.encoder.Encode(line)
}

// Ready says that a server's socket is bound.
func (e *Emitter) Ready(port uint16) {
	e.Emit("ready", Event{"role": "server", "port": port})
}

// Connected says that a handshake is done.
func (e *Emitter) Connected() {
	e.Emit("connected", Event{"time_ns": time.Now().UnixNano()})
}

// CCA reports the controller asked for and the one that the stack says it runs.
func (e *Emitter) CCA(requested, confirmed, how string) {
	e.Emit("cca", Event{"requested": requested, "confirmed": confirmed, "how": how})
}

// Done ends the output; failure is nil when nothing went wrong.
func (e *Emitter) Done(bytes int64, complete bool, failure error) {
	var text any
	if failure != nil {
		text = failure.Error()
	}
	e.Emit("done", Event{"time_ns": time.Now().UnixNano(), "bytes": bytes, "complete": complete, "error": text})
}
