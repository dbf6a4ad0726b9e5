package endpoint

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"unsafe"
)

// Walker follows private fields of a stack's structures and keeps the first error. What it
// finds holds for one release of the stack only: see CheckRelease.
type Walker struct{ Err error }

// Behind is the struct that the pointer in the named field points to, through an interface if there is one.
func (w *Walker) Behind(structure reflect.Value, name string) reflect.Value {
	value := w.Named(structure, name)
	if w.Err == nil && value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if w.Err == nil && (value.Kind() != reflect.Pointer || value.IsNil() || value.Type().Elem().Kind() != reflect.Struct) {
		w.Err = fmt.Errorf("field %s of %s does not lead to a struct", name, structure.Type())
	}
	if w.Err != nil {
		return reflect.Value{}
	}
	return value.Elem()
}

// Named is the named field itself.
func (w *Walker) Named(structure reflect.Value, name string) reflect.Value {
	if w.Err != nil {
		return reflect.Value{}
	}
	value := structure.FieldByName(name)
	if !value.IsValid() {
		w.Err = fmt.Errorf("%s has no field %s", structure.Type(), name)
	}
	return value
}

// Field is a pointer to a private field of the expected kind, of which T is the Go type of the same size.
func Field[T any](w *Walker, structure reflect.Value, name string, kind reflect.Kind) *T {
	value := w.Named(structure, name)
	if w.Err == nil && value.Kind() != kind {
		w.Err = fmt.Errorf("field %s of %s is a %s, not a %s", name, structure.Type(), value.Kind(), kind)
	}
	if w.Err != nil {
		return nil
	}
	return (*T)(unsafe.Pointer(value.UnsafeAddr()))
}

// CheckRelease refuses a program whose module is not the release that its walker was written for.
func CheckRelease(module, version string) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("the binary carries no build information: build it with go build, in module mode")
	}
	for _, dependency := range info.Deps {
		if dependency.Path != module {
			continue
		}
		built := module + " " + dependency.Version
		if dependency.Replace != nil {
			built += ", replaced by " + dependency.Replace.Path + " " + dependency.Replace.Version
		}
		if dependency.Version != version || dependency.Replace != nil {
			return fmt.Errorf("built with %s, but its private fields are known for %s: check them first",
				built, version)
		}
		return nil
	}
	return fmt.Errorf("the binary does not contain %s", module)
}
