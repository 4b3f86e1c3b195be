package demo

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
)

// flag is a flag of one demo alone.
type flag struct {
	name          string // with its dashes
	value, preset string
}

// flagsOf returns the flags that an act has of its own.
func flagsOf(act stage.Act) []flag {
	v := reflect.Indirect(reflect.ValueOf(act))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var out []flag
	for i := range v.NumField() {
		f := v.Type().Field(i)
		one := flag{"--" + strings.ToLower(f.Name), fmt.Sprint(v.Field(i)), f.Tag.Get("default")}
		if name := f.Tag.Get("name"); name != "" {
			one.name = "--" + name
		}
		switch f.Type.Kind() {
		case reflect.Slice:
			one.value = strings.ReplaceAll(strings.Trim(one.value, "[]"), " ", ",")
		case reflect.Bool:
			one.preset = "false" // which no other flag has
		}
		out = append(out, one)
	}
	return out
}

// fresh returns a new act for a parser to set the flags of; nil if it has none.
func fresh(act stage.Act) stage.Act {
	if flagsOf(act) == nil {
		return nil
	}
	return reflect.New(reflect.TypeOf(act)).Interface().(stage.Act)
}

// valueOf returns the value of a flag of an act; empty if it has none.
func valueOf(act stage.Act, name string) string {
	for _, f := range flagsOf(act) {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// settings returns the flags of an act that differ from their defaults, as one types them.
func settings(act stage.Act) string {
	var words []string
	for _, f := range flagsOf(act) {
		switch {
		case f.value == f.preset:
		case f.preset == "false":
			words = append(words, f.name)
		default:
			words = append(words, f.name, cli.Word(f.value))
		}
	}
	return strings.Join(words, " ")
}

// withFlags returns the act of a demo as args set its flags.
func withFlags(d stage.Demo, args []string) (stage.Act, error) {
	line := struct {
		Own stage.Act `embed:""`
	}{fresh(d.Act)}
	parser, err := kong.New(&line, kong.NoDefaultHelp())
	if err == nil {
		_, err = parser.Parse(args)
	}
	return line.Own, err
}
