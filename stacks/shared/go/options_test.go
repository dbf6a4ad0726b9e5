package endpoint

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

var support = Support{
	Name:        "some-stack",
	CCAs:        []string{"reno", "cubic"},
	ServerALPNs: []string{ALPNHQ},
	ClientALPNs: []string{ALPNHQ, ALPNH3},
}

func serverArguments(extra ...string) []string {
	return append([]string{"--listen", "127.0.0.1:4433", "--cca", "cubic", "--cert", "c", "--key", "k"}, extra...)
}

func clientArguments(extra ...string) []string {
	return append([]string{"--connect", "127.0.0.1:4433"}, extra...)
}

func TestServerOptions(t *testing.T) {
	size := 0
	knobs := Knobs{"size": func(value string) (err error) { size, err = strconv.Atoi(value); return err }}
	got, err := ParseServerOptions(serverArguments("--set", "size=1300", "--transport-log", "l"), support, knobs)
	if err != nil {
		t.Fatal(err)
	}
	if size != 1300 || got.CCA != "cubic" || got.ALPN != ALPNHQ || got.Listen.Port() != 4433 || got.TransportLog != "l" {
		t.Errorf("got %+v, size %d", got, size)
	}
}

func TestClientDefaults(t *testing.T) {
	got, err := ParseClientOptions(clientArguments(), support, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.ALPN != ALPNHQ || got.Streams != 1 || got.Bytes != 0 || got.ServerName != DefaultServerName || got.Path != "" {
		t.Errorf("got %+v", got)
	}
}

func TestRefusalsSayWhatIsWrong(t *testing.T) {
	_, cca := ParseServerOptions(append(serverArguments(), "--cca", "bbr"), support, nil)
	_, alpn := ParseServerOptions(serverArguments("--alpn", "h3"), support, nil)
	_, clientALPN := ParseClientOptions(clientArguments("--alpn", "h2"), support, nil)
	for text, err := range map[string]error{`"bbr": this stack has reno, cubic`: cca, `"h3"`: alpn, `"h2"`: clientALPN} {
		if !errors.As(err, new(UnsupportedError)) || !strings.Contains(err.Error(), text) {
			t.Errorf("want an UnsupportedError with %s, got %v", text, err)
		}
	}
	knobs := Knobs{"size": func(string) error { return nil }}
	usage := map[string][]string{
		"unknown key":  clientArguments("--set", "colour=red"),
		"KEY=VALUE":    clientArguments("--set", "colour"),
		"--path":       clientArguments("--path", "/x"),
		"--bytes":      clientArguments("--bytes", "-1"),
		"--streams":    clientArguments("--alpn", "h3", "--streams", "2"),
		"unexpected":   clientArguments("extra"),
		"begin with /": clientArguments("--alpn", "h3", "--path", "x"),
	}
	for text, arguments := range usage {
		_, err := ParseClientOptions(arguments, support, knobs)
		if !errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: want a UsageError about %s, got %v", arguments, text, err)
		}
	}
	if _, err := ParseServerOptions([]string{"--cca", "reno"}, support, nil); !errors.As(err, new(UsageError)) {
		t.Errorf("a missing --listen gave %v", err)
	}
}

func TestProgramWithoutASide(t *testing.T) {
	program := Program{Support: support}
	if err := program.run([]string{"server"}); !errors.As(err, new(UnsupportedError)) {
		t.Errorf("a missing server gave %v", err)
	}
	if err := program.run(nil); !errors.As(err, new(UsageError)) {
		t.Errorf("no command gave %v", err)
	}
}
