package endpoint

import (
	"reflect"
	"strings"
	"testing"
)

type inner struct{ reno bool }

type outer struct {
	controller any
	empty      *inner
}

func TestWalkerReadsAndWritesPrivateFields(t *testing.T) {
	hidden := &inner{reno: true}
	w := Walker{}
	reno := Field[bool](&w, w.Behind(reflect.ValueOf(&outer{controller: hidden}).Elem(), "controller"), "reno", reflect.Bool)
	if w.Err != nil || !*reno {
		t.Fatalf("got %v, %v", reno, w.Err)
	}
	*reno = false
	if hidden.reno {
		t.Error("the field was not written")
	}
}

func TestWalkerSaysWhichFieldIsWrong(t *testing.T) {
	for text, walk := range map[string]func(*Walker, reflect.Value){
		"no field missing":      func(w *Walker, s reflect.Value) { w.Named(s, "missing") },
		"empty of":              func(w *Walker, s reflect.Value) { w.Behind(s, "empty") },
		"interface, not a bool": func(w *Walker, s reflect.Value) { Field[bool](w, s, "controller", reflect.Bool) },
	} {
		w := Walker{}
		walk(&w, reflect.ValueOf(&outer{}).Elem())
		if w.Err == nil || !strings.Contains(w.Err.Error(), text) {
			t.Errorf("want an error with %q, got %v", text, w.Err)
		}
	}
}
