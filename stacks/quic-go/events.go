package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// event is one line of the contract's standard output.
type event map[string]any

// emitter writes events as JSON lines, each in one unbuffered write.
type emitter struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

func newEmitter(out io.Writer) *emitter {
	return &emitter{encoder: json.NewEncoder(out)}
}

func (e *emitter) emit(name string, fields event) {
	line := event{"event": name}
	for key, value := range fields {
		line[key] = value
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	// A reader that has gone away is no reason to stop a transfer.
	_ = e.encoder.Encode(line)
}

func (e *emitter) connected() {
	e.emit("connected", event{"time_ns": time.Now().UnixNano()})
}

// done ends the output; failure is nil when nothing went wrong.
func (e *emitter) done(bytes int64, complete bool, failure error) {
	var text any
	if failure != nil {
		text = failure.Error()
	}
	e.emit("done", event{"time_ns": time.Now().UnixNano(), "bytes": bytes, "complete": complete, "error": text})
}
