package main

import (
	"errors"
	"strings"
	"testing"
)

func serverArguments(extra ...string) []string {
	return append([]string{"--listen", "127.0.0.1:4433", "--cca", "cubic", "--cert", "c", "--key", "k"}, extra...)
}

func clientArguments(extra ...string) []string {
	return append([]string{"--connect", "127.0.0.1:4433"}, extra...)
}

func TestServerOptions(t *testing.T) {
	got, err := parseServerOptions(serverArguments("--set", "initial_packet_bytes=1300", "--set", "path_mtu_discovery=false"))
	if err != nil {
		t.Fatal(err)
	}
	if got.transport.initialPacketBytes != 1300 || got.transport.pathMTUDiscovery || got.listen.Port() != 4433 {
		t.Errorf("got %+v", got)
	}
}

func TestClientDefaults(t *testing.T) {
	got, err := parseClientOptions(clientArguments())
	if err != nil {
		t.Fatal(err)
	}
	if got.alpn != alpnHQ || got.streams != 1 || got.bytes != 0 || got.serverName != defaultServerName || !got.transport.pathMTUDiscovery {
		t.Errorf("got %+v", got)
	}
}

func TestRefusalsSayWhatIsWrong(t *testing.T) {
	_, cca := parseServerOptions(append(serverArguments(), "--cca", "bbr"))
	_, alpn := parseServerOptions(serverArguments("--alpn", "h3"))
	_, clientALPN := parseClientOptions(clientArguments("--alpn", "h2"))
	for text, err := range map[string]error{`"bbr": this stack has reno, cubic`: cca, `"h3"`: alpn, `"h2"`: clientALPN} {
		if !errors.As(err, new(unsupportedError)) || !strings.Contains(err.Error(), text) {
			t.Errorf("want an unsupportedError with %s, got %v", text, err)
		}
	}
	usage := map[string][]string{
		"unknown key":  clientArguments("--set", "colour=red"),
		"KEY=VALUE":    clientArguments("--set", "colour"),
		"--path":       clientArguments("--path", "/x"),
		"--bytes":      clientArguments("--bytes", "-1"),
		"--streams":    clientArguments("--alpn", "h3", "--streams", "2"),
		"outstanding":  clientArguments("--alpn", "h3", "--set", "outstanding=0"),
		"unexpected":   clientArguments("extra"),
		"begin with /": clientArguments("--alpn", "h3", "--path", "x"),
	}
	for text, arguments := range usage {
		_, err := parseClientOptions(arguments)
		if !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: want a usageError about %s, got %v", arguments, text, err)
		}
	}
	if _, err := parseServerOptions([]string{"--cca", "reno"}); !errors.As(err, new(usageError)) {
		t.Errorf("a missing --listen gave %v", err)
	}
}
