package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"
)

// server sends bodies until it is told to stop.
type server struct {
	options serverOptions
	emit    *emitter
	log     *transportLog // nil without --transport-log
	// sent counts bytes as whole blocks are handed to quic-go, up to 1 MiB late.
	sent     atomic.Int64
	asked    atomic.Int64 // requests
	answered atomic.Int64 // of them, in full
	failed   chan error
}

// recorderKey finds a connection's recorder in its context.
type recorderKey struct{}

func runServer(options serverOptions, emit *emitter, stop <-chan os.Signal) error {
	if err := checkStackVersion(); err != nil {
		return err
	}
	tlsConfig, err := serverTLS(options.certificateFile, options.keyFile)
	if err != nil {
		return err
	}
	s := &server{options: options, emit: emit, failed: make(chan error, 1)}
	config := options.transport.quicConfig()
	if options.transportLog != "" {
		if s.log, err = createTransportLog(options.transportLog); err != nil {
			return err
		}
		config.Tracer = func(ctx context.Context, _ bool, _ quic.ConnectionID) qlogwriter.Trace {
			return ctx.Value(recorderKey{}).(*recorder)
		}
	}
	socket, err := listenUDP(options.listen)
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: socket, ConnContext: s.connContext}
	// ListenEarly: a connection is handed over before its first ACK, which is when the CCA can be chosen.
	listener, err := transport.ListenEarly(tlsConfig, config)
	if err != nil {
		return err
	}
	emit.emit("ready", event{"role": "server", "port": options.listen.Port()})

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	conns := make(chan *quic.Conn)
	go s.accept(ctx, listener, conns)
	var last *quic.Conn
	for {
		select {
		case last = <-conns:
		case err = <-s.failed:
			return s.finish(last, err)
		case <-stop:
			return s.finish(last, nil)
		}
	}
}

func (s *server) connContext(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
	return context.WithValue(ctx, recorderKey{}, &recorder{log: s.log}), nil
}

func (s *server) accept(ctx context.Context, listener *quic.EarlyListener, conns chan<- *quic.Conn) {
	for {
		conn, err := listener.Accept(ctx)
		if err != nil {
			return // cancelled: the server is finishing
		}
		controller, err := findController(conn)
		if err == nil && s.options.cca == ccaCubic {
			err = controller.selectCubic()
		}
		if err != nil {
			s.failed <- err
			return
		}
		conn.Context().Value(recorderKey{}).(*recorder).controller = controller
		conns <- conn
		go s.serve(conn, controller)
	}
}

func (s *server) serve(conn *quic.Conn, controller *controller) {
	ctx := conn.Context()
	select {
	case <-conn.HandshakeComplete():
	case <-ctx.Done():
		return
	}
	s.emit.connected()
	s.emit.emit("cca", event{
		"requested": s.options.cca,
		"confirmed": controller.name(),
		"how":       "quic-go's own field cubicSender.reno, read after the handshake",
	})
	for {
		stream, err := conn.AcceptStream(ctx)
		if err != nil {
			return // the connection has ended
		}
		go s.answer(stream)
	}
}

func (s *server) answer(stream *quic.Stream) {
	s.asked.Add(1)
	bytes, err := readHQRequest(stream)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cambrian-quic-go: request refused:", err)
		stream.CancelRead(0)
		stream.CancelWrite(0)
		return
	}
	// An error here means that the client has gone, which is how endless transfers end.
	if writeBody(stream, bytes, &s.sent) == nil && stream.Close() == nil {
		s.answered.Add(1)
	}
}

// finish writes the last lines; the process ends with it, and with that its sockets and connections.
func (s *server) finish(conn *quic.Conn, failure error) error {
	if s.log != nil {
		failure = errors.Join(failure, s.log.close())
	}
	if conn != nil {
		s.stats(conn)
		_ = conn.CloseWithError(0, "")
	}
	complete := failure == nil && s.asked.Load() > 0 && s.answered.Load() == s.asked.Load()
	s.emit.done(s.sent.Load(), complete, failure)
	return failure
}

func (s *server) stats(conn *quic.Conn) {
	stats := conn.ConnectionStats()
	fields := event{
		"packets_sent":     stats.PacketsSent,
		"packets_received": stats.PacketsReceived,
		"packets_lost":     stats.PacketsLost,
		"bytes_sent":       stats.BytesSent,
		"bytes_lost":       stats.BytesLost,
		"min_rtt_us":       stats.MinRTT.Microseconds(),
		"srtt_us":          stats.SmoothedRTT.Microseconds(),
		"cwnd_bytes":       stats.CongestionWindow,
	}
	if s.log != nil { // the qlog hooks are in place only with a log
		counts := conn.Context().Value(recorderKey{}).(*recorder).counts
		fields["packets_lost_spurious"] = counts.spurious
		fields["ptos"] = counts.ptos
	}
	s.emit.emit("stats", fields)
}
