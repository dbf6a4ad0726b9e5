package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

func TestFindControllerNamesTheMissingField(t *testing.T) {
	if _, err := findController(new(quic.Conn)); err == nil || !bytes.Contains([]byte(err.Error()), []byte("sentPacketHandler")) {
		t.Errorf("a connection without a handler gave %v", err)
	}
	w := walker{}
	w.named(reflect.ValueOf(struct{ other bool }{}), "reno")
	if w.err == nil {
		t.Error("a struct without the field was accepted")
	}
	w = walker{}
	field[bool](&w, reflect.ValueOf(&struct{ reno int }{}).Elem(), "reno", reflect.Bool)
	if w.err == nil {
		t.Error("a field of another kind was accepted")
	}
}

// A whole transfer over loopback, for each CCA: what is read back, what is counted, what is logged.
func TestTransfer(t *testing.T) {
	for _, cca := range ccas {
		t.Run(cca, func(t *testing.T) { transfer(t, cca) })
	}
}

func transfer(t *testing.T, cca string) {
	const wanted = 3_000_001
	certificate, key := writeCertificate(t)
	log := filepath.Join(t.TempDir(), "transport.csv")
	port := freePort(t)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	options, err := parseServerOptions([]string{"--listen", address, "--cca", cca, "--cert", certificate, "--key", key, "--transport-log", log})
	if err != nil {
		t.Fatal(err)
	}
	var serverOut, clientOut output
	stop := make(chan os.Signal, 1)
	served := make(chan error, 1)
	go func() { served <- runServer(options, newEmitter(&serverOut), stop) }()

	fetch, err := parseClientOptions([]string{"--connect", address, "--bytes", strconv.Itoa(wanted), "--streams", "2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := runClient(fetch, newEmitter(&clientOut), make(chan os.Signal)); err != nil {
		t.Fatal(err)
	}
	stop <- syscall.SIGTERM
	if err := <-served; err != nil {
		t.Fatal(err)
	}

	confirmed := serverOut.event(t, "cca")
	if confirmed["requested"] != cca || confirmed["confirmed"] != cca {
		t.Errorf("cca event: %v", confirmed)
	}
	done := clientOut.event(t, "done")
	if done["bytes"] != float64(wanted) || done["complete"] != true || done["error"] != nil {
		t.Errorf("client's done event: %v", done)
	}
	if done := serverOut.event(t, "done"); done["bytes"] != float64(wanted) || done["complete"] != true {
		t.Errorf("server's done event: %v", done)
	}
	text, err := os.ReadFile(log)
	if err != nil || bytes.Count(text, []byte(",ack,")) == 0 {
		t.Errorf("the transport log has no ack row: %v, %q", err, text)
	}
}

// output is what an endpoint writes; its own goroutine may still be writing.
type output struct {
	mutex sync.Mutex
	lines bytes.Buffer
}

func (o *output) Write(line []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.lines.Write(line)
}

func (o *output) event(t *testing.T, name string) map[string]any {
	t.Helper()
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for line := range bytes.Lines(o.lines.Bytes()) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		if fields["event"] == name {
			return fields
		}
	}
	t.Fatalf("no %s event in %q", name, o.lines.String())
	return nil
}

func freePort(t *testing.T) int {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return socket.LocalAddr().(*net.UDPAddr).Port
}

func writeCertificate(t *testing.T) (certificateFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{defaultServerName}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", certificate), write("key.pem", "PRIVATE KEY", private)
}
